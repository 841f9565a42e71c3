"""Small inputs for every kind of model, and the small sizes that models are made in for the contracts.

Every axis has a prime (or twice one) of its own, so that two axes that are mixed up do not fit by accident.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from headway.data.batches import PairBatches

Kind = tuple[str, str]  # what a model reads, and what it gives
BATCH, VOCABULARY, CLASSES, CHANNELS, HEIGHT, ACROSS = 3, 13, 3, 2, 7, 11
PAD, BOS, EOS = 0, 1, 2
IGNORED = -100  # the label that `cross_entropy` does not count

# Whatever of these a `Config` has is set; the rest keeps its default.
SMALL = {"width": 22, "depth": 2, "heads": 2, "inner": 17, "dropout": 0.0}
SMALL |= {"context": 5, "predict": 1, "memory": 3, "filters": 5, "kernel": 3}
# Whatever of these a constructor names is given, as a task would do.
SIZES = {"vocabulary": VOCABULARY, "source_vocabulary": VOCABULARY, "target_vocabulary": VOCABULARY}
SIZES |= {"outputs": CLASSES, "tags": CLASSES, "channels": CHANNELS, "height": HEIGHT, "width": ACROSS}
SIZES |= {"features": CHANNELS * HEIGHT * ACROSS}
SIZES |= {"words": VOCABULARY}
HEADS = {
    "outputs": "one vector",
    "tags": "one per position",
    "words": "masked words",
}  # which sizes make a head, and for what the model then gives


@dataclass(frozen=True)
class Examples:
    """A batch: what `forward` is given, what should come out, and how much of each input is real in each row.

    lengths   one row for each example, one number for each input; None if nothing is padded
    """

    inputs: tuple[Tensor, ...]
    wanted: Tensor
    lengths: tuple[tuple[int, ...], ...] | None = None

    def row(self, row: int) -> tuple[Tensor, ...]:
        """One example with its padding."""
        return tuple(tensor[row : row + 1] for tensor in self.inputs)

    def alone(self, row: int) -> tuple[Tensor, ...]:
        """One example without its padding."""
        lengths = self.lengths[row] if self.lengths else [None] * len(self.inputs)
        return tuple(tensor[:, :length] for tensor, length in zip(self.row(row), lengths, strict=True))

    def padded_with(self, token: int) -> tuple[Tensor, ...]:
        """The inputs with another token in the padding; `keep` says that it is padding as before."""
        filled = [tensor.clone() for tensor in self.inputs]
        for row, lengths in enumerate(self.lengths or ()):
            for tensor, length in zip(filled, lengths, strict=True):
                if tensor.dtype != torch.bool:
                    tensor[row, length:] = token
        return tuple(filled)


def sentences(lengths: list[int], seed: int, vocabulary: int = VOCABULARY) -> list[list[int]]:
    """Rows of random tokens that are neither padding nor marks."""
    generator = torch.Generator().manual_seed(seed)
    return [torch.randint(3, vocabulary, (n,), generator=generator).tolist() for n in lengths]


def texts(length: int = 9, seed: int = 11) -> Examples:
    """Texts for a language model. They are longer than its context, so that some tokens fall out of the window."""
    ids = torch.tensor(sentences([length + 1] * BATCH, seed))
    return Examples((ids[:, :-1],), ids[:, 1:])


def pairs(sources: list[int], targets: list[int], seed: int = 11) -> Examples:
    """Sentence pairs of these lengths, the end mark not counted."""
    rows = (sentences(sources, seed), sentences(targets, seed + 1))
    b = PairBatches(*rows, budget=10**6, seed=0, special=(PAD, BOS, EOS)).collect(range(len(sources)))
    lengths = tuple((s + 1, s + 1, t + 1) for s, t in zip(sources, targets, strict=True))
    return Examples((b.source, b.keep, b.target), torch.where(b.wanted == PAD, IGNORED, b.wanted), lengths)


def documents(count: int = BATCH, length: int = 5) -> Examples:
    """Texts of different lengths, each of a class."""
    ids = torch.randint(3, VOCABULARY, (count, length), generator=torch.Generator().manual_seed(11))
    real = [length - row % 4 for row in range(count)]
    keep = torch.arange(length) < torch.tensor(real)[:, None]
    return Examples((ids, keep), torch.arange(count) % CLASSES, tuple((n, n) for n in real))


def pictures(count: int = BATCH) -> Examples:
    drawn = torch.rand(count, CHANNELS, HEIGHT, ACROSS, generator=torch.Generator().manual_seed(11))
    return Examples((drawn,), torch.arange(count) % CLASSES)


def vectors(count: int = BATCH) -> Examples:
    drawn = torch.rand(count, SIZES["features"], generator=torch.Generator().manual_seed(11))
    return Examples((drawn,), torch.arange(count) % CLASSES)


def tagged(count: int = BATCH, length: int = 5) -> Examples:
    """Texts of different lengths with a tag for each token; padding has none."""
    batch = documents(count, length)
    ids, keep = batch.inputs
    return Examples(batch.inputs, torch.where(keep, ids % CLASSES, IGNORED), batch.lengths)


def masked(count: int = BATCH, length: int = 5) -> Examples:
    """Texts of different lengths whose second token is to be filled in: it is one more than the first."""
    batch = documents(count, length)
    ids, _ = batch.inputs
    wanted = torch.full_like(ids, IGNORED)
    wanted[:, 1] = (ids[:, 0] + 1) % VOCABULARY
    ids[:, 1] = PAD
    return Examples(batch.inputs, wanted, batch.lengths)


def told_apart(length: int = 5) -> Examples:
    """Texts whose first token tells them apart."""
    batch = texts(length)
    batch.inputs[0][:, 0] = torch.arange(BATCH)
    return batch


@dataclass(frozen=True)
class Source:
    """Where the examples of a kind of model come from: a batch of three, a batch to be learned by heart, and the rate for that."""

    examples: Callable[[], Examples]
    to_learn: Callable[[], Examples]
    rate: float


KINDS: dict[Kind, Source] = {
    ("tokens", "next token"): Source(texts, told_apart, 0.005),
    ("tokens", "target tokens"): Source(
        lambda: pairs([4, 2, 1], [6, 3, 1]), lambda: pairs([4, 3, 2, 2], [5, 4, 3, 1]), 0.02
    ),
    ("tokens", "one vector"): Source(documents, lambda: documents(7), 0.01),
    ("tokens", "one per position"): Source(tagged, lambda: tagged(7), 0.01),
    ("tokens", "masked words"): Source(masked, lambda: masked(7), 0.01),
    ("pictures", "one vector"): Source(pictures, lambda: pictures(7), 0.01),
    ("vectors", "one vector"): Source(vectors, lambda: vectors(7), 0.01),
}


def sizes_for(kind: Kind) -> dict[str, int]:
    """What a task of this kind knows: the sizes of the heads that it does not use are left out."""
    return {name: size for name, size in SIZES.items() if HEADS.get(name, kind[1]) == kind[1]}
