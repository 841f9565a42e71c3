"""What the tasks on a labelled corpus share: the held-out parts that a run keeps, each with its batches, and how they are judged.

A task says how a part is read, from the run (`_read_parts`) or from a person (`_given`), how it is batched, and what is written of it.
"""

from abc import abstractmethod
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from headway.tasks.held_out import judged, once_per_folder
from headway.tasks.labels import E, LabelledCorpus
from headway.tasks.task import B, Batches, D, Judgement, M_contra, Task

S = TypeVar("S", bound=Batches[Any])  # batches of type B, with what else the task asks of them


class LabelledTask(Task[D, LabelledCorpus[E], B, M_contra], Generic[D, E, B, M_contra, S]):
    at_once: ClassVar[int]  # the size of a batch that is judged

    @abstractmethod
    def _batches(self, part: E, batch: int, seed: int = 0) -> S: ...

    @abstractmethod
    def _read_parts(self, folder: Path) -> dict[str, E]:
        """The held-out parts as the run keeps them, by name."""

    @abstractmethod
    def _given(self, data: D) -> tuple[E, tuple[str, ...]]:
        """The examples that a person brings to a finished run, and what was left out of them."""

    @abstractmethod
    def _judgement(self, model: M_contra, name: str, part: E, batches: S, sizes: dict[str, int]) -> Judgement: ...

    @once_per_folder
    def _held_out(self, folder: Path) -> dict[str, tuple[E, S]]:
        return {name: (part, self._batches(part, self.at_once)) for name, part in self._read_parts(folder).items()}

    def validation_batches(self, folder: Path) -> S:
        return self._held_out(folder)["validation"][1]

    def given_batches(self, data: D, folder: Path, batch: int) -> S:
        return self._batches(self._given(data)[0], self.at_once)

    def judge(self, model: M_contra, folder: Path) -> Judgement:
        """Scores of the test part, or of the validation part if the data was too small to set a test part apart."""
        parts = self._held_out(folder)
        name = judged(parts)
        return self._judgement(model, name, *parts[name], {n: len(part) for n, (part, _) in parts.items()})

    def evaluate(self, model: M_contra, data: D) -> Judgement:
        """Scores of examples that a person brings, and what was left out of them."""
        part, left_out = self._given(data)
        found = self._judgement(model, "given", part, self._batches(part, self.at_once), {"given": len(part)})
        return replace(found, notes=(*found.notes, *left_out))
