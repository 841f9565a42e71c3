"""Tokens of a text in many files of one length, as `headway data prepare` makes them, read through the system's memory map.

index.json             what the tokens were made from, the parts, and of every shard its file, length and checksum
tokenizer.json         the vocabulary
train-00000.tokens     the shards of each part: numbers of 16 bits (32 for more than 65,536 tokens) in little-endian order
validation-00000.tokens, test-00000.tokens ...

All shards of a part but its last are equally long, so a token is found by a division. A shard is mapped when its first
token is asked for; what is read stays in the page cache of the system, which gives it up when memory is wanted.
"""

import shlex
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from jaxtyping import Int

from headway.core.config import from_json
from headway.core.errors import ConfigError, DataError
from headway.core.files import parse_json, write_json

INDEX, TOKENIZER = "index.json", "tokenizer.json"
MOST = 128  # shards that are mapped at a time: each holds an open file, of which a process may have 1,024, or only 256


@dataclass(frozen=True)
class Shard:
    """One file, and where in the part the next one begins: `offset` tokens into block `block` (`token_blocks.py`)."""

    file: str
    tokens: int
    sha256: str
    block: int
    offset: int


@dataclass(frozen=True)
class ShardedPart:
    source: str  # which characters of which text
    characters: int
    bytes: int = 0  # of the text; this and the number of tokens are known when the part is finished
    tokens: int = 0
    finished: bool = False
    shards: tuple[Shard, ...] = ()


@dataclass(frozen=True)
class Index:
    """Everything that is known of the shards in a folder."""

    text: str  # the path that the text was read from
    kind: str  # of the tokenizer
    vocabulary: int  # how many tokens were asked for; a text with few pieces has fewer
    tokenizer: str  # its fingerprint
    size: int  # its number of tokens
    dtype: Literal["uint16", "uint32"]  # of a token in a file
    length: int  # tokens of every shard but the last of a part
    parts: dict[str, ShardedPart]
    report: dict[str, Any]  # what the doctor found

    @property
    def finished(self) -> bool:
        return all(part.finished for part in self.parts.values())

    def problem(self) -> str | None:
        """What does not fit together."""
        if missing := {"train", "validation"} - self.parts.keys():
            return f"it has no part `{min(missing)}`"
        if self.length < 1 or any(shard.tokens > self.length for part in self.parts.values() for shard in part.shards):
            return f"its shards cannot hold {self.length:,} tokens each"
        for name, part in self.parts.items():
            whole = part.shards[:-1]
            named = [shard.file for shard in part.shards] == [file_name(name, i) for i in range(len(part.shards))]
            counted = not part.finished or part.tokens == sum(shard.tokens for shard in part.shards)
            if not named or not counted or any(shard.tokens != self.length for shard in whole):
                return f"the shards of `{name}` are not all there"
        return None

    def write(self, folder: Path) -> None:
        write_json(folder / INDEX, asdict(self))


def file_name(part: str, number: int) -> str:
    return f"{part}-{number:05d}.tokens"


def is_prepared(folder: Path) -> bool:
    """Whether a folder was made by `headway data prepare`, by the names in it."""
    named = (folder / INDEX).is_file() and (folder / TOKENIZER).is_file()
    return named or any(folder.glob("train-*.tokens"))


def prepare_again(text: str, folder: Path, result: str = "makes it again") -> str:
    """The command that continues or repairs the shards in a folder, as a hint."""
    return f"`headway data prepare --text {shlex.quote(text)} --out {shlex.quote(str(folder))}` {result}."


def read_index(folder: Path) -> Index:
    path = folder / INDEX
    hint = prepare_again("TEXT", folder)
    try:
        index = from_json(Index, parse_json(path.read_text(encoding="utf-8")), str(path), hint)
    except FileNotFoundError as problem:
        raise DataError(f"`{path}` is missing", hint) from problem
    except ConfigError as problem:
        raise DataError(problem.message, hint) from problem
    except (ValueError, RecursionError, OSError) as problem:
        raise DataError(f"`{path}` is damaged: {problem}", hint) from problem
    if wrong := index.problem():
        raise DataError(f"`{path}` is damaged: {wrong}", prepare_again(index.text, folder))
    return index


def open_shards(folder: Path, index: Index, part: str) -> "ShardedTokens":
    """The tokens of a part, if all its files are there and as long as they should be."""
    found, hint = index.parts[part], prepare_again(index.text, folder)
    if not found.finished:
        raise DataError(f"`{folder}` is not finished", prepare_again(index.text, folder, "continues it"))
    item = np.dtype(index.dtype).itemsize
    for shard in found.shards:
        path, wanted = folder / shard.file, shard.tokens * item
        if not path.is_file():
            raise DataError(f"`{path}` is missing", hint)
        if (size := path.stat().st_size) != wanted:
            raise DataError(f"`{path}` is damaged: {size:,} bytes instead of {wanted:,}", hint)
    return ShardedTokens(folder, index, found)


class ShardedTokens:
    """The tokens of a part like one long array: `tokens[a:b]`, and `tokens[places]` for an array of places."""

    def __init__(self, folder: Path, index: Index, part: ShardedPart) -> None:
        self.folder, self.index, self.part = folder, index, part
        self._open: dict[int, np.ndarray] = {}

    def __len__(self) -> int:
        return self.part.tokens

    def __getitem__(self, key: slice | Int[np.ndarray, "..."]) -> np.ndarray:
        if isinstance(key, slice):
            start, stop, _ = key.indices(len(self))
            return self._stretch(start, stop)
        shards, places = np.divmod(key, self.index.length)
        found = np.empty(key.shape, dtype=self.index.dtype)
        for number in np.unique(shards):
            found[shards == number] = self._known(self._shard(int(number))[places[shards == number]], int(number))
        return found

    def _stretch(self, start: int, stop: int) -> np.ndarray:
        length, parts = self.index.length, []
        for number in range(start // length, -(-stop // length)):
            begin = number * length
            parts.append(self._known(self._shard(number)[max(0, start - begin) : stop - begin], number))
        return np.concatenate(parts) if parts else np.empty(0, dtype=self.index.dtype)

    def _shard(self, number: int) -> np.ndarray:
        if number not in self._open:
            if len(self._open) >= MOST:
                del self._open[next(iter(self._open))]  # the one that was mapped first; it is mapped again when asked for
            path = self.folder / self.part.shards[number].file
            self._open[number] = np.memmap(path, dtype=np.dtype(self.index.dtype).newbyteorder("<"), mode="r")
        return self._open[number]

    def _known(self, ids: np.ndarray, number: int) -> np.ndarray:
        """The ids, if all of them are in the vocabulary."""
        if ids.size and (largest := int(ids.max())) >= self.index.size:
            path = self.folder / self.part.shards[number].file
            message = f"`{path}` is damaged: it holds token {largest:,} of a vocabulary of {self.index.size:,}"
            raise DataError(message, prepare_again(self.index.text, self.folder))
        return ids
