"""One row of decoding in C: y = W x + b, and one position of a decoder block in one call (`c/one_row.c` has the equations)."""

from ctypes import Structure, byref, c_float, c_int64, c_void_p

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


class BlockStep:
    """One position of a decoder block for one row: x, cache -> x, cache.

    norms    gain and shift before the mixer, the cross-attention and the feed-forward network
    maps     W and b: project, output, query, answer, up, down
    memory   keys and values of what is looked at, "h s e" each, and what is added to its scores, "s", or None
    scale    of the scores of both attentions
    eps      added to the variance by the norms
    """

    def __init__(
        self, norms: list[tuple[Tensor, Tensor]], maps: list[tuple[Tensor, Tensor | None]],
        memory: tuple[Tensor, Tensor, Tensor | None], scale: float, eps: float,
    ) -> None:  # fmt: skip
        self.held = norms, maps, memory  # as long as their addresses are used
        (heads, positions, _), width = memory[0].shape, norms[0][0].numel()
        self.width, self.positions, self.inner = width, positions, len(maps[4][0])
        self.block = Block(
            width, heads, positions,
            *(Norm(gain.data_ptr(), shift.data_ptr()) for gain, shift in norms),
            *(Map(w.data_ptr(), None if b is None else b.data_ptr(), *w.shape) for w, b in maps),
            *(None if y is None else y.data_ptr() for y in memory), scale, eps,
        )  # fmt: skip
        self.room = torch.empty(0)

    def __call__(self, x: Float[Tensor, "1 d"], state: Cache) -> tuple[Float[Tensor, "1 d"], Cache]:
        threads, state = torch.get_num_threads(), state.with_room()
        needed = 4 * self.width + self.inner + threads * (self.width + max(state.stop, self.positions))
        if self.room.numel() < needed:
            self.room = x.new_empty(2 * needed)
        x = x.clone(memory_format=torch.contiguous_format)
        keys, values, room = state.keys.data_ptr(), state.values.data_ptr(), self.room.data_ptr()
        library().block_step(byref(self.block), x.data_ptr(), keys, values, state.stop - 1, room, threads)
        return x, state
