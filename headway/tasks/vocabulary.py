"""What the tasks on text share: a tokenizer of the right size, kept in the run, or taken over from another one."""

import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Generic, Self, TypeVar

from headway.core.errors import RunError, UsageError
from headway.core.files import read_json, write_text
from headway.data.bert_tokens import BertTokenizer
from headway.data.tokens import Tokenizer, train_tokenizer
from headway.tasks.task import Base

D = TypeVar("D")


def choose_size(kind: str, characters: int, words: int) -> int:
    """A vocabulary that the data can fill: every entry should be met some hundred times. Words and characters are what the data holds."""
    if kind in ("words", "characters"):
        return max(1000, words)
    least = 1000 if kind == "wordpiece" else 500  # wordpiece needs two entries for each byte
    return max(least, min(16000, round(characters / 350 / 500) * 500))


def size_for(kind: str, texts: Sequence[str]) -> int:
    """`choose_size` of texts that are at hand."""
    words = len({word for text in texts for word in text.split()}) if kind == "words" else 0
    return choose_size(kind, sum(map(len, texts)), words)


def learn_tokenizer(kind: str, texts: Iterable[str], size: int | None, base: Base | None) -> Tokenizer:
    """The tokenizer of the run that training begins with, or one learned from the texts."""
    return tokenizer_of(base.task, "source") if base else train_tokenizer(kind, texts, size or 8000)


def unseen_characters(text: str, known: str) -> list[str]:
    """A warning if a text holds characters that training has not seen."""
    unseen = {c for c in text if not c.isspace()} - set(known)
    return [f"characters never seen in training: {' '.join(sorted(unseen)[:10])}"] if unseen else []


def describe_vocabulary(tokenizer: Tokenizer) -> str:
    """Its kind and size, and what the loss is before anything is learned: -ln p of a token, in nats."""
    guess = f"a uniform guess costs ln {tokenizer.size:,} = {math.log(tokenizer.size):.1f} nats per token"
    return f"{tokenizer.kind} vocabulary of {tokenizer.size:,} ({guess})"


def save_tokenizer(tokenizer: Tokenizer, path: Path) -> None:
    write_text(path, tokenizer.to_json())


def load_tokenizer(path: Path) -> Tokenizer:
    value = read_json(path)  # a missing or damaged file is reported as such
    published = isinstance(value, dict) and value.get("kind") in BertTokenizer.kinds
    try:
        return (BertTokenizer if published else Tokenizer).from_json(json.dumps(value))
    except RunError as problem:
        raise RunError(f"`{path}` is damaged: {problem.message}", problem.hint) from problem


def tokenizer_of(task: object, *names: str) -> Tokenizer:
    """The tokenizer of another run's task."""
    for name in (*names, "tokenizer"):
        found = getattr(task, name, None)
        if isinstance(found, Tokenizer):
            return found
    raise UsageError(
        f"a run of the task `{type(task).__name__.lower()}` has no vocabulary to begin with",
        "choose another run for `--from`.",
    )


class VocabularyState(Generic[D]):
    """The state of a task that has learned nothing but a vocabulary: tokenizer.json."""

    def __init__(self, data: D, tokenizer: Tokenizer) -> None:
        self.data, self.tokenizer = data, tokenizer

    def save(self, folder: Path) -> None:
        save_tokenizer(self.tokenizer, folder / "tokenizer.json")

    @classmethod
    def load(cls, data: D, folder: Path) -> Self:
        return cls(data, load_tokenizer(folder / "tokenizer.json"))

    @property
    def sizes(self) -> dict[str, int]:
        return {"vocabulary": self.tokenizer.size}

    def describe(self) -> str:
        return describe_vocabulary(self.tokenizer)
