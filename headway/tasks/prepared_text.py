"""Text that was tokenized before training (`headway data prepare`): the corpus of a language model, mapped and not read."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import BinaryIO

from headway.core.config import from_json
from headway.core.errors import DataError, RunError, UsageError
from headway.data.findings import Report
from headway.data.shards import INDEX, TOKENIZER, Index, ShardedTokens, open_shards, prepare_again, read_index
from headway.data.token_files import keep_tokens
from headway.data.tokens import Tokenizer
from headway.tasks.task import Base
from headway.tasks.vocabulary import load_tokenizer, tokenizer_of

COPIED = 1 << 20  # tokens that are copied at once


@dataclass(frozen=True)
class PreparedCorpus:
    """The shards in a folder: a part to learn from, parts that are held out, and the vocabulary they were made with."""

    folder: Path
    index: Index
    train: ShardedTokens
    held_out: dict[str, ShardedTokens]
    tokenizer: Tokenizer

    @property
    def fingerprint(self) -> dict[str, str]:
        tokenizer = self.index.tokenizer[:16]
        return {name: f"{part.source}, tokenizer {tokenizer}" for name, part in self.index.parts.items()}

    @property
    def characters(self) -> int:
        return self.index.parts["train"].characters

    @cached_property
    def reports(self) -> tuple[Report, ...]:
        """What the doctor found when the text was read."""
        return (from_json(Report, self.index.report, str(self.folder / INDEX)),)

    def describe(self) -> str:
        parts = ", ".join(f"{len(tokens):,} for {name}" for name, tokens in self.held_out.items())
        text = f"learning from {len(self.train):,} tokens ({self.characters:,} characters) in {len(self.train.part.shards):,} shards"
        return "\n".join([*(report.text() for report in self.reports), f"{text}; held out: {parts}"])

    def vocabulary(self, kind: str | None, size: int | None) -> tuple[str, int]:
        """The kind and the size of the vocabulary, if nothing else was asked for."""
        index = self.index
        if (kind or index.kind, size or index.vocabulary) != (index.kind, index.vocabulary):
            asked = " ".join([f"--tokens {kind}"] * bool(kind) + [f"--vocabulary {size}"] * bool(size))
            raise UsageError(
                f"`{self.folder}` was tokenized with `--tokens {index.kind} --vocabulary {index.vocabulary}`, not `{asked}`",
                "leave these options out, or prepare the text again in another folder.",
            )
        return index.kind, index.vocabulary

    def learn(self, kind: str, size: int, base: Base | None) -> Tokenizer:
        """The tokenizer of the shards; it must be that of the run that training begins with, if there is one."""
        if base and tokenizer_of(base.task, "source").fingerprint != self.tokenizer.fingerprint:
            hint = (
                f"`headway data prepare --text {self.index.text} --from {base.folder} --out NEW` uses that of the run."
            )
            raise UsageError(
                f"`{self.folder}` was tokenized with another vocabulary than that of `{base.folder}`", hint
            )
        return self.tokenizer

    def tokenize(self, tokenizer: Tokenizer, folder: Path) -> ShardedTokens:
        """The tokens to learn from; the held-out ones are copied into the run, so that it is judged without the shards."""
        for name, tokens in self.held_out.items():
            self._keep(name, tokens, folder / "held_out" / f"{name}.tokens")
        return self.train

    def _keep(self, name: str, tokens: ShardedTokens, path: Path) -> None:
        def write(file: BinaryIO) -> int:
            for start in range(0, len(tokens), COPIED):
                tokens[start : start + COPIED].tofile(file)
            return self.index.parts[name].bytes

        keep_tokens(path, {"shards": self.fingerprint[name]}, self.index.dtype, write)


def open_prepared(folder: Path) -> PreparedCorpus:
    """The corpus in a folder; whatever is missing or damaged is reported."""
    index = read_index(folder)
    hint = prepare_again(index.text, folder)
    try:
        tokenizer = load_tokenizer(folder / TOKENIZER)
    except RunError as problem:
        raise DataError(problem.message, hint) from problem
    if tokenizer.fingerprint != index.tokenizer:
        raise DataError(f"`{folder / TOKENIZER}` is not the tokenizer that the shards were made with", hint)
    parts = {name: open_shards(folder, index, name) for name in index.parts}
    return PreparedCorpus(folder, index, parts.pop("train"), parts, tokenizer)
