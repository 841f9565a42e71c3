"""The task protocol: what training, runs, reports and commands ask of a task. Nothing else knows what a task is about.

A task is one file. It has a frozen dataclass `Data` (what a person brings; its fields are the options of `headway train <task>`) and a
class that fulfils `Task`. In the order in which they are called:

    collect      read and examine what the person brings           -> a corpus
    propose      choose what was left open, from the corpus        -> a proposal
    fit          learn a vocabulary, label names ...               -> the task itself; `save` and `load` keep it in the run
    sizes        what a model's constructor needs to know: vocabularies, classes, channels
    prepare      write the held-out parts into the run             -> the batches of training
    loss         the loss of one batch, and what it is a mean over
    validate     figures and samples of the validation part, again and again while training
    judge        scores of the parts that nothing was chosen by, once at the end

What a run can be used for is said by `uses`, the verbs it serves; each is a protocol in `uses.py`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Literal, Protocol, Self, TypeVar, runtime_checkable

import numpy as np
from torch import Tensor, nn

from headway.core.config import Choice
from headway.data.findings import Finding, Report
from headway.models.ensemble import Average
from headway.tasks.panels import Panel
from headway.tasks.recipe import Proposal, Recipe

D = TypeVar("D")  # Data: what a person brings
C = TypeVar("C", bound="Corpus")  # what was read
B = TypeVar("B")  # a batch
M_contra = TypeVar("M_contra", contravariant=True)  # the models it trains
B_co = TypeVar("B_co", covariant=True)


@dataclass(frozen=True)
class Figure:
    """A number by which a model is judged: its name, its unit, and which direction is better."""

    name: str
    unit: str = ""
    better: Literal["higher", "lower"] = "higher"
    digits: int = 1
    scale: str = ""  # figures of one scale share a chart

    def format(self, value: float) -> str:
        return f"{self.name} {value:.{self.digits}f}" + (f" {self.unit}" if self.unit else "")


@dataclass(frozen=True)
class Loss:
    """The loss of a batch: what is minimised and what is reported, both summed, and what they are a mean over."""

    total: Tensor  # with regularisation such as label smoothing; has a gradient
    plain: Tensor  # without
    count: int  # tokens, examples ...


@dataclass(frozen=True)
class Validation:
    """What one validation found."""

    figures: dict[str, float]  # by the name of the figure
    score: float  # which weights are kept: the higher the better
    samples: tuple[tuple[str, ...], ...] = ()  # rows of the task's `columns`


@dataclass(frozen=True)
class Score:
    """A figure of a held-out part, between the ends of its 95 % interval (or without one)."""

    part: str  # "test", "validation"
    name: str
    value: float
    low: float | None = None
    high: float | None = None
    digits: int = 1
    signature: str = ""  # what makes it comparable

    def describe(self) -> str:
        interval = (
            f"  (95 % interval {self.low:.{self.digits}f} to {self.high:.{self.digits}f})"
            if self.low is not None
            else ""
        )
        return f"{self.name} {self.value:.{self.digits}f}{interval}"


@dataclass(frozen=True)
class Judgement:
    """How good a model is on parts that nothing was chosen by, and what it writes there."""

    scores: tuple[Score, ...]
    samples: tuple[tuple[str, ...], ...]  # rows of the task's `columns`
    verdict: str  # one sentence in plain words
    sizes: dict[str, int] = field(default_factory=dict)  # how large each part is
    unit: str = "examples"  # what these sizes count
    notes: tuple[str, ...] = ()  # what else a person should know, such as outputs that were cut
    worst: tuple[tuple[str, ...], ...] = ()  # the samples that came out worst
    outputs: tuple[
        tuple[str, str], ...
    ] = ()  # what was written and what was expected, example by example, where that makes sense
    panels: tuple[Panel, ...] = ()  # pictures for the report


class Corpus(Protocol):
    """What was read: examined, described in plain words, and recognised again by its fingerprint."""

    @property
    def reports(self) -> tuple[Report, ...]:
        """What the doctor found, for each part that came as files of its own."""

    @property
    def fingerprint(self) -> dict[str, str]:
        """A mark of each part: what `--resume` compares."""

    def describe(self) -> str:
        """How much there is, and what is set apart."""


def errors_of(corpus: Corpus) -> list[Finding]:
    """The findings that should stop training."""
    return [finding for report in corpus.reports for finding in report.findings if finding.severity == "error"]


class Batches(Protocol[B_co]):
    """Batches counted through all epochs; batch n is a function of (seed, n)."""

    def __len__(self) -> int:
        """Batches of one epoch."""

    def __getitem__(self, number: int) -> B_co: ...

    def largest(self) -> B_co:
        """A batch that needs the most memory, to fail before training begins rather than during it."""


@runtime_checkable
class Planned(Protocol):
    """Batches whose beginning differs from their end."""

    def plan(self, total: int) -> None:
        """Training will take so many batches."""


@runtime_checkable
class Located(Batches[B_co], Protocol[B_co]):
    """Batches of a long text: where their rows begin is known before any is read."""

    def starts(self, number: int) -> np.ndarray:
        """Where the rows of batch `number` begin."""

    def at(self, starts: np.ndarray) -> B_co:
        """The batch of the rows that begin there."""


@dataclass(frozen=True)
class Base:
    """The run, or the published model, that another run begins with: `--from`."""

    folder: Path
    task: "AnyTask"  # as it was loaded; may be another kind of task, with a tokenizer all the same
    data: object
    model: Choice
    weights: Callable[[], Mapping[str, Tensor]]  # reads them


class Task(Protocol[D, C, B, M_contra]):
    """What a task owes: with its data, its corpus, its batches, and the models it trains."""

    aliases: ClassVar[tuple[str, ...]]
    reads: ClassVar[str]  # what its models read
    gives: ClassVar[str]  # and what they give
    model: ClassVar[str]  # the default architecture
    unit: ClassVar[str]  # what the loss is a mean over, in the plural: tokens, examples
    loss_unit: ClassVar[str]  # nats per token
    figures: ClassVar[tuple[Figure, ...]]  # of a validation
    columns: ClassVar[tuple[str, ...]]  # of its samples
    uses: ClassVar[tuple[str, ...]]  # the verbs it serves
    files: ClassVar[tuple[str, ...]]  # the fields of `Data` that are paths
    tested: ClassVar[tuple[str, ...]]  # the fields of `Data` that matter to evaluate examples that a person brings
    averages: Average = "probabilities"  # what the members of an ensemble are averaged by; "numbers" for a regression

    @classmethod
    def collect(cls, data: D, seed: int) -> C: ...

    @classmethod
    def recognise(cls, paths: Sequence[str]) -> D | None:
        """The data that these files are beyond doubt, or None: `headway data check` asks every task."""

    @classmethod
    def options_for(cls, paths: Sequence[str]) -> tuple[str, ...]:
        """The options with which it could read these files, though nothing shows that they are meant for it; none if it could not."""
        return ()

    @classmethod
    def propose(cls, recipe: Recipe[D], corpus: C, base: "Base | None") -> Proposal[D]: ...

    @classmethod
    def fit(cls, data: D, corpus: C, base: "Base | None") -> Self:
        """`base` is the run that this one begins with (`--from`): its vocabulary is taken over."""

    @classmethod
    def load(cls, data: D, folder: Path) -> Self: ...

    def save(self, folder: Path) -> None: ...

    @property
    def sizes(self) -> dict[str, int]: ...

    def describe(self) -> str:
        """Its state in a few words: the vocabulary, the classes."""

    def prepare(self, corpus: C, folder: Path, batch: int, seed: int) -> Batches[B]: ...

    def loss(self, model: M_contra, batch: B) -> Loss: ...

    def validate(self, model: M_contra, folder: Path) -> Validation: ...

    def validation_batches(self, folder: Path) -> Batches[B]:
        """Batches of the validation part that the run keeps, to measure a finished model on."""

    def given_batches(self, data: D, folder: Path, batch: int) -> Batches[B]:
        """Batches of examples that a person brings to a finished run; files that they need go to `folder`."""
        return self.prepare(self.collect(data, 0), folder, batch, 0)

    def judge(self, model: M_contra, folder: Path) -> Judgement: ...

    def evaluate(self, model: M_contra, data: D) -> Judgement:
        """Scores of examples that a person brings to a finished run."""

    def example(self, model: M_contra) -> tuple[Callable[[], Tensor], int]:
        """A forward pass of a typical size, and how many units (tokens, examples) it predicts: what a cost is counted by."""

    def commands(self, folder: str, judgement: Judgement) -> list[str]:
        """What to type next, after the word `headway`."""


AnyTask = Task[object, Corpus, object, nn.Module]  # a task whose types only it knows
