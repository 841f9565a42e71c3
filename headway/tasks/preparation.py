"""From text of any size to shards that a language model is trained from: `headway data prepare`.

The text is read three times, piece by piece: to examine and count it, to learn a vocabulary from pieces that lie evenly
over it, and to tokenize it. The tokens are those that `headway train language --text` would make of the same text.
"""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from headway.core.config import difference, require
from headway.core.errors import DataError, RunError, raise_all
from headway.core.files import disk_errors
from headway.core.lock import locked
from headway.data.shard_files import LENGTH, ShardWriter
from headway.data.shards import INDEX, TOKENIZER, Index, ShardedPart, is_prepared, read_index
from headway.data.token_blocks import token_type
from headway.data.tokens import Tokenizer
from headway.tasks.other_run import open_base
from headway.tasks.texts import TextCorpus, collect_text
from headway.tasks.vocabulary import load_tokenizer, save_tokenizer, tokenizer_of

Report = Callable[[str, int, int], object]  # what is done, how many characters of how many


@dataclass(frozen=True)
class Preparation:
    """What was asked for. What is None is chosen by the text, or is as it was when the same folder was begun."""

    text: str  # a file, a folder or .jsonl
    validation_text: str | None = None  # text to choose the best weights by, instead of a part of the text
    test_text: str | None = None  # text to judge the end result by, instead of a part of the text
    tokens: str | None = None  # the kind of tokenizer
    vocabulary: int | None = None  # how many different tokens
    start: str | None = None  # a run whose vocabulary is used
    workers: int = 1  # processes that tokenize
    length: int = LENGTH  # tokens of a shard

    def __post_init__(self) -> None:
        require(
            (self.workers >= 1, f"`--workers {self.workers}` should be at least 1"),
            (self.vocabulary is None or self.vocabulary >= 1, "`--vocabulary` should be at least 1"),
            (
                self.start is None or (self.tokens is None and self.vocabulary is None),
                "`--from` brings a vocabulary: leave out `--tokens` and `--vocabulary`",
            ),
        )

    def run(self, out: Path, report: Report) -> Index:
        """Make the shards in `out`, or those that are still missing there."""
        with disk_errors(out):
            if out.exists() and not is_prepared(out) and not _is_free(out):
                raise RunError(f"`{out}` exists and is not an empty directory", "choose another `--out`.")
            out.mkdir(parents=True, exist_ok=True)
        with locked(out):
            report("reading the text ...", 0, 0)
            corpus = collect_text(self.text, self.validation_text, self.test_text)
            report(corpus.describe(), 0, 0)
            index, tokenizer = self._begin(corpus, out, report)
            parts = {"train": corpus.train, **corpus.held_out}
            total, done = sum(part.stop - part.start for part in parts.values()), 0

            def progress(characters: int) -> None:
                nonlocal done
                done += characters
                report("tokenized", done, total)

            writer = ShardWriter(out, index, tokenizer, self.workers, progress)
            for name, part in parts.items():
                writer.write(name, part)
            return writer.index

    def _begin(self, corpus: TextCorpus, out: Path, report: Report) -> tuple[Index, Tokenizer]:
        """The index to go on from: that of the folder, if it was begun with the same text and vocabulary, or a new one."""
        known = self._known(out, report)
        tokenizer, size = self._tokenizer(corpus, out, known, report)
        parts, marks = {"train": corpus.train, **corpus.held_out}, corpus.fingerprint
        index = Index(
            text=self.text,
            kind=tokenizer.kind,
            vocabulary=size,
            tokenizer=tokenizer.fingerprint,
            size=tokenizer.size,
            dtype="uint16" if token_type(tokenizer) is np.uint16 else "uint32",
            length=known.length if known else self.length,
            parts={name: ShardedPart(marks[name], part.stop - part.start) for name, part in parts.items()},
            report=corpus.reports[0].to_json(),
        )
        if known:
            _refuse_changes(known, index, out)
            return known, tokenizer
        index.write(out)
        return index, tokenizer

    def _known(self, out: Path, report: Report) -> Index | None:
        if not (out / INDEX).exists():
            return None
        try:
            return read_index(out)
        except DataError as problem:
            report(f"{problem.message}; all shards are made again", 0, 0)
            return None

    def _tokenizer(self, corpus: TextCorpus, out: Path, known: Index | None, report: Report) -> tuple[Tokenizer, int]:
        """The tokenizer, and how many tokens were asked for: of another run, of the folder, or learned now."""
        if self.start:
            tokenizer = tokenizer_of(open_base(Path(self.start)).task, "source")
            return self._kept(tokenizer, out, known), tokenizer.size
        begun = (known.kind, known.vocabulary) if known else (None, None)
        kind, size = corpus.vocabulary(self.tokens or begun[0], self.vocabulary or begun[1])
        if known and (kind, size) == begun:
            with contextlib.suppress(RunError):  # damaged: learned again from the same text it is the same
                tokenizer = load_tokenizer(out / TOKENIZER)
                if tokenizer.fingerprint == known.tokenizer:
                    return tokenizer, size
        report("learning the vocabulary ...", 0, 0)
        return self._kept(corpus.learn(kind, size, None), out, known), size

    def _kept(self, tokenizer: Tokenizer, out: Path, known: Index | None) -> Tokenizer:
        if not known or tokenizer.fingerprint == known.tokenizer:
            save_tokenizer(tokenizer, out / TOKENIZER)
        return tokenizer


def _is_free(out: Path) -> bool:
    """Whether a folder is empty but for what a process leaves that was killed before its first shard."""
    begun = (".lock", TOKENIZER)
    return out.is_dir() and all(path.name.removesuffix(".part") in begun for path in out.iterdir())


def _refuse_changes(known: Index, index: Index, out: Path) -> None:
    """Shards of two texts or of two vocabularies do not belong into one folder."""
    before, after = ({name: part.source for name, part in i.parts.items()} for i in (known, index))
    changes = ["the text: " + line for line in difference(before, after)]
    if known.tokenizer != index.tokenizer:
        was, now = (f"{i.kind} of {i.vocabulary:,} ({i.tokenizer[:16]})" for i in (known, index))
        changes.append(f"the vocabulary: {was} -> {now}")
    raise_all(changes, RunError, f"`{out}` was begun with something else", "choose another `--out`, or delete it.")
