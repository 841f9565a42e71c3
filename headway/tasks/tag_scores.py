"""How the tags of words are judged: accuracy, F1 of entities (or, of plain tags, their mean F1), and what a table would do.

The table answers with the tag that each word had most often in training, and with the most frequent tag of all for a
word that training never showed. A tagger that reads the sentence must do better.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from headway.data.conll import TaggedSentences
from headway.data.messages import excerpt
from headway.evaluate.classification import Accuracy, accuracy, calibration, macro_f1
from headway.evaluate.entities import are_entities, entities, entity_f1
from headway.tasks.answers import FEW, Predictions
from headway.tasks.task import Judgement, Score, Validation

SHOWN = 10  # samples of a judgement


@dataclass(frozen=True)
class TagScores:
    """Sentences with their true tags, and the probabilities that a model gives to the tags of all their words, in order."""

    part: TaggedSentences
    found: Predictions

    @cached_property
    def predicted(self) -> list[list[str]]:
        """The predicted tags, sentence by sentence."""
        flat = iter(self.found.predicted.tolist())
        return [[self.found.names[next(flat)] for _ in words] for words in self.part.words]

    @property
    def marks_entities(self) -> bool:
        return are_entities(self.found.names)

    def f1(self, name: str = "F1") -> Score:
        if self.marks_entities:
            score = entity_f1(self.predicted, self.part.tags)
            return Score(
                name, "F1", score.f1, score.low, score.high, 4, "entities, as conlleval; bootstrap of sentences"
            )
        value = macro_f1(self.found.predicted, self.found.true)
        return Score(name, "F1", value, digits=4, signature="mean over the tags")

    def validation(self) -> Validation:
        right, f1, loss = accuracy(self.found.predicted, self.found.true).value, self.f1().value, self.found.loss
        score = -loss if len(self.found.true) < FEW else f1 + 1e-2 * right - 1e-3 * loss
        return Validation({"F1": f1, "accuracy": right, "loss": loss}, score, self.samples(self.worst()[:3]))

    def judgement(self, part: str, usual: Mapping[str, str], majority: str, sizes: dict[str, int]) -> Judgement:
        right = accuracy(self.found.predicted, self.found.true)
        size = f"{len(self.found.true):,} words, Wilson's interval"
        error = calibration(self.found.probabilities, self.found.true).error
        scores = (
            self.f1(part),
            Score(part, "accuracy", right.value, right.low, right.high, 4, size),
            Score(part, "calibration error", error, digits=4, signature="15 bins"),
        )
        pairs = zip(self.part.words, self.part.tags, strict=True)
        table = [usual.get(w, majority) == t for words, tags in pairs for w, t in zip(words, tags, strict=True)]
        worst, every = self.worst(), range(min(SHOWN, len(self.part)))
        return Judgement(
            scores,
            self.samples(every),
            verdict(right, float(np.mean(table))),
            sizes,
            "sentences",
            self._notes(),
            self.samples([i for i in worst[:5] if self.predicted[i] != list(self.part.tags[i])]),
            tuple((" ".join(a), " ".join(b)) for a, b in zip(self.predicted, self.part.tags, strict=True)),
            self.found.panels(),
        )

    def _notes(self) -> tuple[str, ...]:
        """F1 of each type of entity, the lowest first."""
        if not self.marks_entities:
            return ()
        kinds = sorted(entity_f1(self.predicted, self.part.tags).by_type.items(), key=lambda item: item[1])
        return (f"F1 by type: {', '.join(f'`{kind}` {value:.3f}' for kind, value in kinds[:12])}",)

    def worst(self) -> list[int]:
        """The sentences by their wrong tags, most first."""
        wrong = [
            sum(a != b for a, b in zip(p, t, strict=True)) for p, t in zip(self.predicted, self.part.tags, strict=True)
        ]
        return sorted(range(len(wrong)), key=lambda i: -wrong[i])

    def samples(self, rows: Sequence[int]) -> tuple[tuple[str, ...], ...]:
        return tuple(
            (
                excerpt(" ".join(self.part.words[i]), 300),
                self._show(i, self.predicted[i]),
                self._show(i, self.part.tags[i]),
            )
            for i in rows
        )

    def _show(self, i: int, tags: Sequence[str]) -> str:
        """`Anna Berg: PER, Rome: LOC` for entities, `Anna/NOUN sleeps/VERB` for plain tags."""
        words = self.part.words[i]
        if self.marks_entities:
            return ", ".join(f"{' '.join(words[a:b])}: {kind}" for kind, a, b in entities(tags)) or "none"
        return " ".join(f"{word}/{tag}" for word, tag in zip(words, tags, strict=True))


def verdict(found: Accuracy, table: float) -> str:
    """What the accuracy means, against a table of the most frequent tag of each word."""
    always = f"the most frequent tag of each word is right for {table:.1%}"
    if found.low <= table:
        return f"no better than a table: {always} of the words. Train longer, or bring more data."
    return f"right for {found.value:.1%} of the words; {always}."
