"""One row of decoding in C: y = W x + b, and one position of a decoder in one call (`c/one_row.c` has the equations)."""

from collections.abc import Sequence
from ctypes import Structure, byref, c_float, c_int64, c_void_p
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from headway.layers.attention.cache import Cache
from headway.layers.compiled import library


class Map(Structure):
    """W "o i" and b "o"."""

    _fields_ = [("weight", c_void_p), ("bias", c_void_p), ("out", c_int64), ("inputs", c_int64)]


class Norm(Structure):
    """Gain and shift of a layer normalisation, "d" each."""

    _fields_ = [("gain", c_void_p), ("shift", c_void_p)]


class Block(Structure):
    """The weights of a decoder block and the memory it looks at, by their addresses."""

    _fields_ = [
        *((name, c_int64) for name in ("width", "heads", "positions")),
        *((name, Norm) for name in ("before_mixer", "before_cross", "before_feedforward")),
        *((name, Map) for name in ("project", "output", "query", "answer", "up", "down")),
        *((name, c_void_p) for name in ("keys", "values", "added")),
        ("scale", c_float),
        ("eps", c_float),
    ]


def linear(
    x: Float[Tensor, "*b i"], weight: Float[Tensor, "o i"], bias: Float[Tensor, "o"] | None
) -> Float[Tensor, "*b o"]:
    """W x + b for one row x. Everything is float32, in main memory and in one piece."""
    out, inputs = weight.shape
    y = x.new_empty((*x.shape[:-1], out))
    added = None if bias is None else bias.data_ptr()
    library().linear(weight.data_ptr(), added, out, inputs, x.data_ptr(), y.data_ptr(), torch.get_num_threads())
    return y


class Weights(NamedTuple):
    """What a decoder block computes with, while a sentence is decoded."""

    norms: Sequence[tuple[Tensor, Tensor]]  # gain and shift: before the mixer, the cross-attention, the feed-forward
    maps: Sequence[tuple[Tensor, Tensor | None]]  # W and b: project, output, query, answer, up, down
    memory: tuple[Tensor, Tensor, Tensor | None]  # keys, values, "h s e", and what is added to scores, "s", or None
    scale: float  # of the scores of both attentions


class DecoderStep:
    """One position of a decoder for one row: x, caches -> y, caches.

    blocks   of the same width, heads and inner width
    after    gain and shift of the norm after the last block
    eps      added to the variance by the norms
    """

    def __init__(self, blocks: Sequence[Weights], after: tuple[Tensor, Tensor], eps: float) -> None:
        self.held = blocks, after  # as long as their addresses are used
        (heads, self.positions, _), self.width = blocks[0].memory[0].shape, after[0].numel()
        self.inner = len(blocks[0].maps[4][0])
        self.blocks = (Block * len(blocks))(*(
            Block(
                self.width, heads, self.positions,
                *(Norm(gain.data_ptr(), shift.data_ptr()) for gain, shift in block.norms),
                *(Map(w.data_ptr(), None if b is None else b.data_ptr(), *w.shape) for w, b in block.maps),
                *(None if y is None else y.data_ptr() for y in block.memory), block.scale, eps,
            )
            for block in blocks
        ))  # fmt: skip
        self.after, self.addresses = Norm(*(y.data_ptr() for y in after)), c_void_p * (2 * len(blocks))

    def __call__(
        self, x: Float[Tensor, "1 d"], caches: Sequence[Cache]
    ) -> tuple[Float[Tensor, "1 d"], tuple[Cache, ...]]:
        threads, caches = torch.get_num_threads(), tuple([cache.with_room() for cache in caches])
        stop, x = caches[0].stop, x.contiguous()
        y, room = torch.empty_like(x), x.new_empty(threads * (8 * self.width + self.inner + max(stop, self.positions)))
        kept = self.addresses(*[z.data_ptr() for cache in caches for z in (cache.keys, cache.values)])
        library().decoder_step(
            self.blocks, len(caches), byref(self.after), x.data_ptr(), y.data_ptr(), kept, stop - 1, room.data_ptr(), threads
        )  # fmt: skip
        return y, caches
