"""How well masked words were filled in, and whether the second segment was recognised: what the task `masked` is judged by.

The masked loss is -1/n sum ln p(w | the text without w) over n masked words; the loss adds -1/m sum ln p(B follows A, or
not | A and B) over m pairs of segments.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from headway.core.errors import RunError
from headway.data.masked_batches import UNASKED, MaskedBatch
from headway.data.specials import SEPARATOR, SPECIALS
from headway.data.tokens import BLANK, Tokenizer
from headway.evaluate.classification import accuracy
from headway.models.reader import MaskedReader
from headway.tasks.task import Score


def masked_losses(model: MaskedReader, batch: MaskedBatch, pairs: bool) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The logits of the words "n v" and their nats "n"; the logits of the next sentence "m 2" and their nats "m"."""
    states = model.states(batch.ids, batch.keep, batch.segments)
    asked = batch.wanted != UNASKED
    words = model.word_logits(states[asked]).float()
    nats = F.cross_entropy(words, batch.wanted[asked], reduction="none")
    if not pairs:
        return words, nats, words.new_empty(0, 2), nats.new_empty(0)
    follows = model.next_logits(model.pool(states)).float()
    return words, nats, follows, F.cross_entropy(follows, batch.elsewhere, reduction="none")


@dataclass
class Filled:
    """The words that were asked for, those that were filled in, and the next sentences."""

    true: list[int] = field(default_factory=list)
    filled: list[int] = field(default_factory=list)
    nats: list[float] = field(default_factory=list)
    elsewhere: list[int] = field(default_factory=list)
    found_elsewhere: list[int] = field(default_factory=list)
    next_nats: list[float] = field(default_factory=list)
    samples: list[tuple[str, ...]] = field(default_factory=list)

    @classmethod
    def of(
        cls, model: MaskedReader, batches: Iterable[MaskedBatch], pairs: bool, tokenizer: Tokenizer, shown: int
    ) -> "Filled":
        """shown   how many samples are kept"""
        found, device = cls(), next(iter(model.parameters())).device
        with torch.inference_mode():
            for batch in batches:
                words, nats, follows, next_nats = masked_losses(model, batch.to(device), pairs)
                guesses = words.argmax(-1).cpu()
                found.true += batch.wanted[batch.wanted != UNASKED].tolist()
                found.filled += guesses.tolist()
                found.nats += nats.tolist()
                found.elsewhere += batch.elsewhere.tolist() if pairs else []
                found.found_elsewhere += follows.argmax(-1).tolist()
                found.next_nats += next_nats.tolist()
                if len(found.samples) < shown:
                    found.samples += samples(batch, guesses, tokenizer)[: shown - len(found.samples)]
        if not found.true:
            raise RunError("no word of the held-out text was masked: it is too short", "bring more text.")
        return found

    @property
    def figures(self) -> dict[str, float]:
        masked = float(np.mean(self.nats))
        values = {"masked accuracy": float(np.mean(np.equal(self.filled, self.true))), "masked loss": masked}
        if self.elsewhere:
            values["next-sentence accuracy"] = float(np.mean(np.equal(self.found_elsewhere, self.elsewhere)))
        return values | {"loss": masked + (float(np.mean(self.next_nats)) if self.next_nats else 0.0)}

    def scores(self, part: str) -> tuple[Score, ...]:
        right, n = accuracy(self.filled, self.true), len(self.true)
        nats, half = float(np.mean(self.nats)), 1.96 * float(np.std(self.nats)) / n**0.5
        words = f"{n:,} masked words"
        found = [
            Score(part, "masked accuracy", right.value, right.low, right.high, 4, f"{words}, Wilson's interval"),
            Score(part, "masked loss", nats, nats - half, nats + half, 4, f"nats per masked word, {words}"),
        ]
        if self.elsewhere:
            known = accuracy(self.found_elsewhere, self.elsewhere)
            pairs = f"{known.count:,} pairs, Wilson's interval"
            found.append(Score(part, "next-sentence accuracy", known.value, known.low, known.high, 4, pairs))
        return tuple(found)

    def verdict(self, tokenizer: Tokenizer) -> str:
        """What the accuracy means, against always filling in the word that is most frequent here."""
        right, counts = accuracy(self.filled, self.true), np.bincount(self.true)
        always, word = float(counts.max() / len(self.true)), readable(tokenizer, [int(counts.argmax())])[0]
        compared = f"always `{word}` would be right for {always:.1%}"
        if right.low <= always:
            return (
                f"it fills in masked words no better than a single word ({compared}): train longer, or bring more text."
            )
        text = f"{right.value:.1%} of the masked words are filled in right; {compared}"
        if self.elsewhere and accuracy(self.found_elsewhere, self.elsewhere).low <= 0.5:
            text += "; whether one passage follows another it cannot tell from chance"
        return text + "."


def samples(batch: MaskedBatch, guesses: Tensor, tokenizer: Tokenizer) -> list[tuple[str, ...]]:
    """For each text with `[MASK]` where a word was asked for: what was filled in, and the true words."""
    found, at = [], 0
    for ids, wanted, keep in zip(batch.ids, batch.wanted, batch.keep, strict=True):
        true = [int(w) for w in wanted if w != UNASKED]
        filled, at = guesses[at : at + len(true)].tolist(), at + len(true)
        if true:
            shown = show_blanks(tokenizer, ids[keep].tolist(), wanted[keep].tolist())
            found.append((shown, *(", ".join(readable(tokenizer, row)) for row in (filled, true))))
    return found


def readable(tokenizer: Tokenizer, ids: list[int]) -> list[str]:
    """Each word without the space before it, unless it is nothing else."""
    return [piece.strip("▁") or piece for piece in tokenizer.pieces(ids)]


def show_blanks(tokenizer: Tokenizer, ids: list[int], wanted: list[int]) -> str:
    """The text as a person reads it, with `[MASK]` where a word is asked for and `[SEP]` between two segments."""
    text = ""
    for i, word in zip(ids[1:-1], wanted[1:-1], strict=True):  # without the marks around it
        if word != UNASKED:
            text += (" " if tokenizer.pieces([word])[0].startswith("▁") else "") + BLANK
        elif i >= len(SPECIALS):
            text += tokenizer.pieces([i])[0].replace("▁", " ")
        else:
            text += " [SEP]" if i == SEPARATOR else "�"
    return text.strip()
