"""The tokens of a text, block by block in its order; several processes may make them.

This process reads the text and cuts it (a gigabyte takes about a second), the others tokenize (a gigabyte takes several
minutes). Only a few blocks are under way at a time, so memory depends on the number of processes and not on the text.
Where the text is cut does not depend on the number of processes, so neither do the tokens.
"""

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Int

from headway.core.errors import RunError
from headway.data.tokens import Tokenizer

BLOCK = 1 << 19  # characters that are tokenized at once
AHEAD = 2  # blocks under way for each process


@dataclass
class Block:
    """Pieces of text that follow one another, and before which of them a document ended."""

    pieces: list[str] = field(default_factory=list)
    ends: list[bool] = field(default_factory=list)
    characters: int = 0
    bytes: int = 0


def cut_blocks(documents: Iterable[Iterator[str]], tokenizer: Tokenizer) -> Iterator[Block]:
    """Documents, each as its pieces, as blocks of some `BLOCK` characters.

    A tokenizer that puts a space before every text would put one before every piece. So a piece that continues a
    document and begins with a space goes in without it.
    """
    block, begun = Block(), False
    for document in documents:
        for order, piece in enumerate(document):
            spaced = tokenizer.adds_space and order > 0 and piece.startswith(" ")
            block.pieces.append(piece[1:] if spaced else piece)
            block.ends.append(begun and order == 0)  # between documents, not before the first
            block.characters, block.bytes = block.characters + len(piece), block.bytes + len(piece.encode())
            begun = begun or bool(piece)
            if block.characters >= BLOCK or len(block.pieces) >= BLOCK >> 4:
                yield block
                block = Block()
    if block.pieces:
        yield block


def encode_block(tokenizer: Tokenizer, block: Block) -> Int[np.ndarray, "n"]:
    """Its tokens, with the end symbol between two documents."""
    ids: list[int] = []
    for ended, row in zip(block.ends, tokenizer.encode(block.pieces), strict=True):
        ids += [tokenizer.eos, *row] if ended else row
    return np.asarray(ids, dtype=token_type(tokenizer))


def token_type(tokenizer: Tokenizer) -> type[np.uint16 | np.uint32]:
    return np.uint16 if tokenizer.size <= 1 << 16 else np.uint32


def encode_blocks(blocks: Iterable[Block], tokenizer: Tokenizer, workers: int = 1) -> Iterator[Int[np.ndarray, "n"]]:
    """The tokens of each block, in the order of the blocks; more than one worker are processes of their own."""
    if workers == 1:
        yield from (encode_block(tokenizer, block) for block in blocks)
        return
    made = (type(tokenizer), tokenizer.to_json())
    context = multiprocessing.get_context("spawn")  # a fork would copy locks that threads of this process hold
    with ProcessPoolExecutor(workers, context, _begin_worker, made) as pool:
        under_way: deque[Future[np.ndarray]] = deque()
        try:
            for block in blocks:
                under_way.append(pool.submit(_encode_in_worker, block))
                if len(under_way) > AHEAD * workers:
                    yield under_way.popleft().result()
            while under_way:
                yield under_way.popleft().result()
        except BrokenProcessPool as problem:
            hint = "the same command continues where it stopped; with fewer `--workers` it needs less memory."
            raise RunError("a process that tokenized was ended, perhaps for want of memory", hint) from problem
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


_workers_tokenizer: list[Tokenizer] = []  # of a worker process: its one tokenizer


def _begin_worker(kind: type[Tokenizer], stored: str) -> None:
    # Ctrl-C reaches every process; the one that reads the text ends the others
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # threads within each of the processes would be too many
    _workers_tokenizer.append(kind.from_json(stored))


def _end_with_parent() -> None:
    """A process whose parent was killed would wait for its next block for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _encode_in_worker(block: Block) -> Int[np.ndarray, "n"]:
    return encode_block(_workers_tokenizer[0], block)
