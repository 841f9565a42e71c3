"""A recipe: a plain value that binds data, tokens, model and training. Written beside the weights; enough to repeat the run.

`None` means "choose for me": `headway.train.plan` fills it in from the size of the data and the budget, and says so.
"""

from dataclasses import dataclass, field
from typing import Literal

from headway.core.config import Choice


@dataclass(frozen=True)
class Data:
    source: str | None = None  # a text file, one sentence per line
    target: str | None = None  # its translation, line by line
    pairs: str | None = None  # or both in one file: .tsv .csv .jsonl .tmx, `-` for standard input
    languages: str | None = None  # which two, where a file holds more: `en,de`
    validation_source: str | None = None  # without these, a part of the data is set apart
    validation_target: str | None = None
    validation_pairs: str | None = None
    grammar: int | None = None  # or this many pairs from the embedded grammar of English and German
    longest: int = 128  # tokens; longer pairs are left out and told


@dataclass(frozen=True)
class Tokens:
    kind: Literal["bpe", "wordpiece", "unigram", "words", "characters", "bytes"] = "bpe"
    size: int | None = None  # of the vocabulary
    joint: bool = True  # one vocabulary for both languages


@dataclass(frozen=True)
class Training:
    minutes: float | None = None  # the budget: one of minutes, steps, epochs
    steps: int | None = None
    epochs: float | None = None
    batch: int | None = None  # target tokens in one batch, padding included
    accumulate: int = 1  # batches whose gradients make one step
    optimizer: Literal["muon", "adamw"] = "muon"
    rate: float | None = None  # the highest learning rate
    schedule: Literal["cosine", "inverse_root", "constant"] = "cosine"
    warmup: int | None = None  # steps until the highest rate is reached
    decay: float = 0.01  # weight decay
    clip: float = 1.0  # the largest norm of the gradient
    smoothing: float = 0.1  # label smoothing
    average: float | None = None  # of the running average of the weights: how much of it stays each step
    validate: int | None = None  # steps between validations
    patience: int | None = None  # validations without a better score before it stops early


@dataclass(frozen=True)
class Recipe:
    task: Literal["translation"] = "translation"
    data: Data = field(default_factory=Data)
    tokens: Tokens = field(default_factory=Tokens)
    model: Choice = field(default_factory=lambda: Choice("transformer"))
    training: Training = field(default_factory=Training)
    seed: int = 1
