"""Writing shards: in parallel, and so that a killed process loses at most the shard it was at.

A shard is collected in memory, written under a temporary name, synced and renamed; then the index is written in the same
way, which says where in the text the next shard begins. Whoever continues reads the text up to there without tokenizing
it. Shards that are missing or that have another checksum than noted are made again, with those after them.
"""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from headway.core.files import write_whole
from headway.data.shards import Index, Shard, ShardedPart, file_name
from headway.data.token_blocks import Block, cut_blocks, encode_blocks
from headway.data.token_files import Part
from headway.data.tokens import Tokenizer

LENGTH = 1 << 22  # tokens of a shard


class ShardWriter:
    """Makes the shards of one part after the other in a folder, and keeps its index.

    `progress` is told how many characters have been tokenized.
    """

    def __init__(
        self, folder: Path, index: Index, tokenizer: Tokenizer, workers: int, progress: Callable[[int], object]
    ) -> None:
        self.folder, self.index, self.tokenizer = folder, index, tokenizer
        self.workers, self.progress = workers, progress

    def write(self, name: str, part: Part) -> None:
        """The shards of a part; those that are whole already are kept."""
        known = self.index.parts[name]
        kept = tuple(self._whole(known.shards))
        if known.finished and kept == known.shards:
            self.progress(known.characters)
            return
        self._note(name, replace(known, finished=False, shards=kept))
        first, skip = (kept[-1].block, kept[-1].offset) if kept else (0, 0)
        count = 0

        def unfinished() -> Iterator[Block]:
            nonlocal count
            for number, block in enumerate(cut_blocks(part.documents(), self.tokenizer)):
                count += block.bytes
                self.progress(block.characters)
                if number >= first:
                    yield block

        shard, filled = np.empty(self.index.length, dtype=np.dtype(self.index.dtype).newbyteorder("<")), 0
        for number, ids in enumerate(encode_blocks(unfinished(), self.tokenizer, self.workers), first):
            at = skip if number == first else 0
            while at < len(ids):
                taken = min(len(ids) - at, len(shard) - filled)
                shard[filled : filled + taken] = ids[at : at + taken]
                at, filled = at + taken, filled + taken
                if filled == len(shard):
                    self._write_shard(name, shard, number, at)
                    filled = 0
        if filled:
            self._write_shard(name, shard[:filled], number + 1, 0)
        made = self.index.parts[name]
        tokens = sum(shard.tokens for shard in made.shards)
        self._note(name, replace(made, finished=True, bytes=count, tokens=tokens))

    def _whole(self, shards: tuple[Shard, ...]) -> Iterator[Shard]:
        """The shards up to the first whose file is not what was noted."""
        for shard in shards:
            try:
                with open(self.folder / shard.file, "rb") as file:
                    if hashlib.file_digest(file, "sha256").hexdigest() != shard.sha256:
                        return
            except OSError:
                return
            yield shard

    def _write_shard(self, name: str, ids: np.ndarray, block: int, offset: int) -> None:
        part = self.index.parts[name]
        file = file_name(name, len(part.shards))
        write_whole(self.folder / file, lambda path: path.write_bytes(ids.data))
        shard = Shard(file, len(ids), hashlib.sha256(ids.tobytes()).hexdigest(), block, offset)
        self._note(name, replace(part, shards=(*part.shards, shard)))

    def _note(self, name: str, part: ShardedPart) -> None:
        self.index = replace(self.index, parts=self.index.parts | {name: part})
        self.index.write(self.folder)
