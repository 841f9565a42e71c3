"""A recipe: a plain value that binds data, tokens, model and training. Written beside the weights; enough to repeat the run.

`None` means "choose for me": `headway.train.plan` fills it in from the size of the data and the budget, and says so.
"""

from dataclasses import dataclass, field
from math import inf
from typing import Literal

from headway.core.config import Choice, demand


@dataclass(frozen=True)
class Data:
    source: str | None = None  # a text file, one sentence per line
    target: str | None = None  # its translation, line by line
    pairs: str | None = None  # or both in one file: .tsv .csv .jsonl .tmx, `-` for standard input
    languages: str | None = None  # which two, where a file holds more: `en,de`
    validation_source: str | None = None  # without these, a part of the data is set apart
    validation_target: str | None = None
    validation_pairs: str | None = None
    text: str | None = None  # for language models: a file, a folder or .jsonl, of any size
    validation_text: str | None = None  # without it the last tenth of the text is held out
    grammar: int | None = None  # or this many pairs from the embedded grammar of English and German
    longest: int = 128  # words; longer pairs are left out and told

    def __post_init__(self) -> None:
        demand(
            (self.grammar is None or self.grammar >= 1, "`data.grammar` must be at least 1"),
            (self.longest >= 1, "`data.longest` must be at least 1"),
        )


@dataclass(frozen=True)
class Tokens:
    kind: Literal["bpe", "wordpiece", "unigram", "words", "characters", "bytes"] = "bpe"
    size: int | None = None  # of the vocabulary
    joint: bool = True  # one vocabulary for both languages

    def __post_init__(self) -> None:
        demand((self.size is None or self.size >= 1, "`tokens.size` must be at least 1"))


@dataclass(frozen=True)
class Training:
    minutes: float | None = None  # the budget: one of minutes, steps, epochs
    steps: int | None = None
    epochs: float | None = None
    batch: int | None = None  # target tokens in one batch, padding included
    context: int | None = None  # tokens that a language model reads at once
    accumulate: int = 1  # batches whose gradients make one step
    optimizer: Literal["muon", "adamw"] = "muon"
    rate: float | None = None  # the highest learning rate
    schedule: Literal["cosine", "inverse_root", "constant"] = "cosine"
    warmup: int | None = None  # steps until the highest rate is reached
    decay: float = 0.01  # weight decay
    clip: float = 1.0  # the largest norm of the gradient
    smoothing: float | None = None  # label smoothing
    average: float | None = None  # of the running average of the weights: how much of it stays each step
    validate: int | None = None  # steps between validations
    patience: int | None = 10  # validations without a better score before it stops early; none: never

    def __post_init__(self) -> None:
        counts = {name: getattr(self, name) for name in ("steps", "batch", "context", "accumulate", "warmup", "validate", "patience")}
        spans = {name: getattr(self, name) for name in ("minutes", "epochs", "clip", "rate")}
        demand(
            *((v is None or v >= 1, f"`training.{n}` must be at least 1, not {v}") for n, v in counts.items()),
            *((v is None or 0 < v < inf, f"`training.{n}` must be greater than zero, not {v}") for n, v in spans.items()),
            (
                self.smoothing is None or 0 <= self.smoothing < 1,
                f"`training.smoothing` must be at least 0 and less than 1, not {self.smoothing}",
            ),
            (self.average is None or 0 <= self.average < 1, f"`training.average` must be at least 0 and less than 1, not {self.average}"),
            (self.decay >= 0, f"`training.decay` must not be negative, not {self.decay}"),
        )


@dataclass(frozen=True)
class Recipe:
    task: Literal["translation", "language"] = "translation"
    data: Data = field(default_factory=Data)
    tokens: Tokens = field(default_factory=Tokens)
    model: Choice = field(default_factory=lambda: Choice("transformer"))
    training: Training = field(default_factory=Training)
    seed: int = 1
