"""How answers are judged: exact match and the overlap of words (SQuAD), of questions with and without an answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from headway.data.messages import excerpt
from headway.data.questions import Question
from headway.evaluate.answers import answer_f1, exact_answer
from headway.evaluate.classification import Accuracy, accuracy
from headway.tasks.answers import FEW
from headway.tasks.task import Judgement, Score, Validation

SHOWN = 10  # samples of a judgement
SEPARATOR = " | "  # between a question and its passage, where they are one text


@dataclass(frozen=True)
class SpanScores:
    """Questions with their true answers, what a model answers, and the mean loss of their windows."""

    rows: tuple[Question, ...]
    answers: tuple[str, ...]
    loss: float

    @cached_property
    def exact(self) -> np.ndarray:
        pairs = zip(self.answers, self.rows, strict=True)
        return np.array([exact_answer(answer, row.answers) for answer, row in pairs], dtype=np.int64)

    @cached_property
    def f1(self) -> np.ndarray:
        return np.array([answer_f1(answer, row.answers) for answer, row in zip(self.answers, self.rows, strict=True)])

    @property
    def share(self) -> Accuracy:
        return accuracy(self.exact, np.ones_like(self.exact))

    def validation(self) -> Validation:
        exact, f1 = float(self.exact.mean()), float(self.f1.mean())
        score = -self.loss if len(self.rows) < FEW else f1 + 1e-2 * exact - 1e-3 * self.loss
        return Validation({"F1": f1, "exact": exact, "loss": self.loss}, score, self.samples(self.worst()[:3]))

    def judgement(self, part: str, sizes: dict[str, int], notes: Sequence[str]) -> Judgement:
        found, half = self.share, 1.96 * float(self.f1.std()) / len(self.f1) ** 0.5
        f1, size = float(self.f1.mean()), f"{len(self.rows):,} questions"
        low, high = max(0.0, f1 - half), min(1.0, f1 + half)
        scores = (
            Score(part, "F1", f1, low, high, 4, f"SQuAD's normalisation, {size}"),
            Score(part, "exact match", found.value, found.low, found.high, 4, f"{size}, Wilson's interval"),
            *self._answerable(part),
        )
        worst = [i for i in self.worst()[:5] if not self.exact[i]]
        outputs = tuple((answer, row.answers[0]) for answer, row in zip(self.answers, self.rows, strict=True))
        every = self.samples(range(min(SHOWN, len(self.rows))))
        return Judgement(
            scores, every, verdict(found), sizes, "questions", tuple(notes), self.samples(worst), outputs
        )  # fmt: skip

    def _answerable(self, part: str) -> tuple[Score, ...]:
        """How often it is right that a passage does not answer a question, where some do not."""
        empty = np.array([row.start < 0 for row in self.rows])
        if not empty.any():
            return ()
        right = float(np.mean([(answer == "") == none for answer, none in zip(self.answers, empty, strict=True)]))
        return (Score(part, "answerable or not", right, digits=4, signature=f"{int(empty.sum()):,} without an answer"),)

    def worst(self) -> list[int]:
        """The questions by their F1, lowest first."""
        return np.argsort(self.f1, kind="stable").tolist()

    def samples(self, rows: Sequence[int]) -> tuple[tuple[str, ...], ...]:
        def show(row: Question) -> str:
            return f"{excerpt(row.question, 120)}{SEPARATOR}{excerpt(row.context, 400)}"

        return tuple(
            (show(self.rows[i]), self.answers[i] or "none", self.rows[i].answers[0] or "none") for i in rows
        )  # fmt: skip


def verdict(found: Accuracy) -> str:
    """What the share of exact answers means."""
    right = f"answers {found.value:.1%} of the questions exactly"
    if found.value < 0.1:
        return f"{right}: it has learned nothing usable yet: train longer, or bring more data."
    if found.value < 0.7:
        return f"{right}: each answer needs checking."
    return f"{right}, on passages like those of training."
