"""Small inputs for every kind of model, and the small sizes that models are made in for the contracts.

Every axis has a prime (or twice one) of its own, so that two axes that are mixed up do not fit by accident.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor

from headway.data.batches import PairBatches

Kind = tuple[str, str]  # what a model reads, and what it gives
BATCH, VOCABULARY, CLASSES, CHANNELS, HEIGHT, ACROSS = 3, 13, 3, 2, 7, 11
LAGS, CATEGORIES = 5, 3
PAD, BOS, EOS = 0, 1, 2
QUERIES = 5
IGNORED = -100  # the label that `cross_entropy` does not count

# Whatever of these a `Config` has is set; the rest keeps its default.
SMALL = {"width": 22, "depth": 2, "heads": 2, "inner": 17, "dropout": 0.0}
SMALL |= {"context": 5, "predict": 1, "memory": 3, "filters": 5, "kernel": 3, "inducing": 3, "queries": QUERIES}
# Whatever of these a constructor names is given, as a task would do.
SIZES = {"vocabulary": VOCABULARY, "source_vocabulary": VOCABULARY, "target_vocabulary": VOCABULARY}
SIZES |= {"outputs": CLASSES, "tags": CLASSES, "channels": CHANNELS, "height": HEIGHT, "width": ACROSS}
SIZES |= {"features": CHANNELS * HEIGHT * ACROSS, "coordinates": 2, "categories": CATEGORIES, "words": VOCABULARY}
EACH = ("one per position", "one per node")  # what is given by `states` and `tag_logits`
HEADS = {
    "outputs": ("one vector", "boxes"),
    "tags": EACH,
    "words": ("masked words",),
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

    def part(self, given: Tensor, row: int) -> Tensor:
        """What belongs to one example of what the model gives for the batch."""
        return given[row : row + 1]

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


def series(count: int = BATCH) -> Examples:
    """The last values of some series, and the category of the time that is predicted."""
    drawn = torch.randn(count, LAGS, CHANNELS, generator=torch.Generator().manual_seed(11))
    return Examples((drawn, torch.eye(CATEGORIES)[torch.arange(count) % CATEGORIES]), torch.arange(count) % CLASSES)


def tagged(count: int = BATCH, length: int = 5) -> Examples:
    """Texts of different lengths with a tag for each token; padding has none."""
    batch = documents(count, length)
    ids, keep = batch.inputs
    return Examples(batch.inputs, torch.where(keep, ids % CLASSES, IGNORED), batch.lengths)


def sets(count: int = BATCH, size: int = 5) -> Examples:
    """Sets of different sizes, each of a class."""
    drawn = torch.rand(count, size, SIZES["features"], generator=torch.Generator().manual_seed(11))
    real = [size - row % 4 for row in range(count)]
    keep = torch.arange(size) < torch.tensor(real)[:, None]
    return Examples((drawn, keep), torch.arange(count) % CLASSES, tuple((n, n) for n in real))


@dataclass(frozen=True)
class GraphExamples(Examples):
    """Graphs in one: `inputs` are the features of all nodes, the edges, and the graph of each node."""

    def row(self, row: int) -> tuple[Tensor, ...]:
        x, edges, graph = self.inputs
        nodes, first = graph == row, int((graph < row).sum())
        return x[nodes], edges[:, nodes[edges[0]]] - first, graph[nodes] - row

    def part(self, given: Tensor, row: int) -> Tensor:
        """The rows of its nodes, or the one row of the graph."""
        graph = self.inputs[2]
        return given[graph == row] if len(given) == len(graph) else given[row : row + 1]


def graphs(count: int = BATCH, of_nodes: bool = False) -> GraphExamples:
    """Rings of 5, 7, 9 ... nodes, each with a node on its own, and classes of the graphs or of the nodes."""
    x, edges = [], []
    graph: list[int] = []
    for number, size in enumerate(range(5, 5 + 2 * count, 2)):
        generator = torch.Generator().manual_seed(11 + number)
        ring, first = torch.arange(size), len(graph)
        x.append(0.2 * torch.randn(size + 1, SIZES["features"], generator=generator))
        edges.append(first + torch.stack((torch.cat((ring, ring.roll(1))), torch.cat((ring.roll(1), ring)))))
        graph += [number] * (size + 1)
    wanted = torch.arange(len(graph) if of_nodes else count) % CLASSES
    return GraphExamples((torch.cat(x), torch.cat(edges, 1), torch.tensor(graph)), wanted)


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


def pointed(sizes: tuple[int, ...] = (7, 4, 2)) -> Examples:
    """Sets of points, and the first half of them in a random order as what should be chosen; then the end, which is 0."""
    generator = torch.Generator().manual_seed(11)
    count, most, length = len(sizes), max(sizes), max(sizes) // 2 + 1
    points = torch.rand(count, most, SIZES["coordinates"], generator=generator)
    wanted, given = torch.full((count, length), IGNORED), torch.zeros(count, length, dtype=torch.long)
    for row, size in enumerate(sizes):
        order = torch.randperm(size, generator=generator)[: size // 2] + 1
        wanted[row, : len(order)] = given[row, 1 : len(order) + 1] = order
        wanted[row, len(order)] = 0
    keep = torch.arange(most) < torch.tensor(sizes)[:, None]
    return Examples((points, keep, given), wanted, tuple((n, n, n // 2 + 1) for n in sizes))


def annotated(count: int = BATCH) -> Examples:
    """Pictures, and a class for each query."""
    classes = (torch.arange(count)[:, None] + torch.arange(QUERIES)) % (CLASSES + 1)
    return Examples(pictures(count).inputs, classes)


@dataclass(frozen=True)
class Source:
    """Where the examples of a kind of model come from: a batch of three, a batch to be learned by heart, and the rate for that."""

    examples: Callable[[], Examples]
    to_learn: Callable[[], Examples]
    rate: float
    sizes: Mapping[str, int] = field(default_factory=dict)  # that differ from `SIZES`


KINDS: dict[Kind, Source] = {
    ("tokens", "next token"): Source(texts, told_apart, 0.005),
    ("tokens", "target tokens"): Source(
        lambda: pairs([4, 2, 1], [6, 3, 1]), lambda: pairs([4, 3, 2, 2], [5, 4, 3, 1], seed=17), 0.02
    ),
    ("tokens", "one vector"): Source(documents, lambda: documents(7), 0.01),
    ("tokens", "one per position"): Source(tagged, lambda: tagged(7), 0.01),
    ("tokens", "masked words"): Source(masked, lambda: masked(7), 0.01),
    ("pictures", "one vector"): Source(pictures, lambda: pictures(7), 0.01),
    ("vectors", "one vector"): Source(vectors, lambda: vectors(7), 0.01),
    ("sets", "one vector"): Source(sets, lambda: sets(7), 0.01),
    ("graphs", "one vector"): Source(graphs, lambda: graphs(7), 0.01),
    ("graphs", "one per node"): Source(lambda: graphs(of_nodes=True), lambda: graphs(2, of_nodes=True), 0.01),
    ("points", "pointers"): Source(pointed, lambda: pointed((7, 5, 4, 3)), 0.01),
    ("pictures", "boxes"): Source(annotated, lambda: annotated(4), 0.01),
    ("series", "one vector"): Source(series, lambda: series(5), 0.01, {"features": LAGS * CHANNELS + CATEGORIES}),
}


def sizes_for(kind: Kind) -> dict[str, int]:
    """What a task of this kind knows: the sizes of the heads that it does not use are left out."""
    known = {name: size for name, size in SIZES.items() if kind[1] in HEADS.get(name, kind[1:])}
    return known | dict(KINDS[kind].sizes)
