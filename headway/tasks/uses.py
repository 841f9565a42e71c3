"""What a run can be used for: a task that serves a verb fulfils its protocol, and the values here are what comes back."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np
from torch import nn

from headway.core.errors import ConfigError, raise_all
from headway.tasks.panels import Box, Panel, Picture
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
        """The continuation of a prompt, piece by piece; or the response to it, if the task says `continues = False`."""


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


@dataclass(frozen=True)
class Tagged:
    """The words of one text, each with its tag and how sure the model is of it."""

    words: tuple[str, ...]  # as they stand in the text
    tags: tuple[str, ...]  # one for each word
    confidence: tuple[float, ...]  # the probability of each tag
    warnings: tuple[str, ...] = ()


@runtime_checkable
class Tags(Protocol):
    def tag(self, model: nn.Module, texts: Sequence[str]) -> list[Tagged]:
        """The tag of each word of each text."""


@dataclass(frozen=True)
class Answered:
    """The part of a passage that answers a question; empty if the model finds no answer in it."""

    text: str
    start: int  # its first character in the passage
    end: int  # one after its last
    score: float  # the probability of this part
    warnings: tuple[str, ...] = ()


@runtime_checkable
class Answers(Protocol):
    def answer(self, model: nn.Module, contexts: Sequence[str], questions: Sequence[str]) -> list[Answered]:
        """For each passage and its question the part that answers it."""


@dataclass(frozen=True)
class Predicted:
    """Predictions as a table: one row for each example, and pictures of them where there are some."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    panels: tuple[Panel, ...] = ()  # pictures of them
    warnings: tuple[str, ...] = ()


@runtime_checkable
class Predicts(Protocol):
    def predict(self, model: nn.Module, data: object) -> Predicted:
        """What follows from examples that a person brings, as `Data` of the task; what they should give need not be in them."""


@dataclass(frozen=True)
class Detected:
    """What was found on one picture: boxes with names, the surest first."""

    boxes: tuple[Box, ...]  # the surest first
    confidence: tuple[float, ...]  # the probability of each
    picture: Picture  # with the boxes drawn
    warnings: tuple[str, ...] = ()


@runtime_checkable
class Detects(Protocol):
    def detect(self, model: nn.Module, paths: Sequence[str]) -> list[Detected]:
        """The objects on each picture, by its path."""


@runtime_checkable
class Explains(Protocol):
    def explain(self, model: nn.Module, given: str) -> list[Panel]:
        """Panels that show what the model does with one input: a text, or the path of a picture."""


@runtime_checkable
class Attends(Protocol):
    def attention(self, model: nn.Module, text: str, target: str | None = None) -> tuple[list[Map], str]:
        """The weights of every attention layer for one input, and what the model wrote."""
