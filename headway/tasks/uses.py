"""What a run can be used for: a task that serves a verb fulfils its protocol, and the values here are what comes back."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np
from torch import nn

from headway.core.errors import ConfigError, raise_all
from headway.tasks.task import Judgement


@dataclass(frozen=True, eq=False)
class Map:
    """The weights of one attention layer, "h t s": how much each query (a row) looked at each key (a column)."""

    name: str
    kind: str  # "encoder", "decoder" or "cross"
    layer: int  # counted from 1
    weights: np.ndarray
    rows: tuple[str, ...]
    columns: tuple[str, ...]

    KINDS: ClassVar[tuple[str, ...]] = ("encoder", "decoder", "cross")

    def __post_init__(self) -> None:
        problems = (
            [] if self.kind in self.KINDS else [f"the kind is `{self.kind}`, expected one of {', '.join(self.KINDS)}"]
        )
        shape = tuple(np.shape(self.weights))
        if len(shape) != 3 or shape[1:] != (len(self.rows), len(self.columns)) or 0 in shape:
            labels = f"{len(self.rows)} row labels and {len(self.columns)} column labels"
            problems.append(f"weights of shape {shape} do not fit {labels}")
        hint = "weights are `(heads, rows, columns)`, none of them 0."
        raise_all(problems, ConfigError, f"the map `{self.name}` cannot be drawn", hint)


@runtime_checkable
class Tests(Protocol):
    def difference(self, mine: Judgement, other: Judgement) -> str:
        """Whether two runs differ on the same examples by more than chance, in words."""


@dataclass(frozen=True)
class Translated:
    """One translation, with what a person should know of it."""

    text: str
    score: float  # log-probability with length penalty, the higher the better
    warnings: tuple[str, ...] = ()


@runtime_checkable
class Translates(Protocol):
    def translate(
        self, model: nn.Module, texts: Sequence[str], beam: int, penalty: float, batch: int, best: int
    ) -> list[list[Translated]]:
        """For each text its `best` translations, best first."""


@runtime_checkable
class Aligns(Protocol):
    def align(
        self, model: nn.Module, sources: Sequence[str], targets: Sequence[str], folder: Path
    ) -> tuple[list[set[tuple[int, int]]], str]:
        """For each pair its links between words, and where they were read from."""


@runtime_checkable
class Generates(Protocol):
    def generate(
        self,
        model: nn.Module,
        prompt: str,
        temperature: float = 0.8,
        top_k: int | None = None,
        top_p: float = 0.95,
        seed: int = 1,
    ) -> Iterator[str]:
        """The continuation of a prompt, piece by piece."""


@dataclass(frozen=True)
class Classified:
    """The probable classes of one input, the most probable first."""

    label: str
    probabilities: dict[str, float]
    warnings: tuple[str, ...] = ()


@runtime_checkable
class Classifies(Protocol):
    def classify(self, model: nn.Module, inputs: Sequence[str]) -> list[Classified]:
        """The class of each input: a text, or the path of a picture."""


@runtime_checkable
class Attends(Protocol):
    def attention(self, model: nn.Module, text: str, target: str | None = None) -> tuple[list[Map], str]:
        """The weights of every attention layer for one input, and what the model wrote."""
