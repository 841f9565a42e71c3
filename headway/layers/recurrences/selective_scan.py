"""The selective scan of Mamba: a linear recurrence whose factors and inputs depend on the input.

    h_t = exp(dt_t A) h_{t-1} + B_t v_t        y_t = C_t h_t        (n states for each of c channels; v carries dt already)

In C (`c/selective_scan.c`) it is one call. Where that is missing, and for other numbers than float32, it is made of torch's operations,
piece by piece.
"""

import math
from ctypes import Structure, byref, c_int64, c_void_p
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from headway.layers import compiled
from headway.layers.precision import without_autocast

SIZE = 1 << 19  # numbers of a piece: then the few tensors that a piece needs stay in the cache of a core (measured)
LEAST = 8  # positions of a piece, at least: one state in LEAST is kept for the way back


def selective_scan(
    dt: Float[Tensor, "b t c"],
    v: Float[Tensor, "b t c"],
    b: Float[Tensor, "b t n"],
    c: Float[Tensor, "b t n"],
    a: Float[Tensor, "n c"],
) -> Float[Tensor, "b t c"]:
    """All outputs y."""
    plain = all(type(z) is Tensor and z.is_cpu and z.dtype == torch.float32 for z in (dt, v, b, c, a))
    return (_InC if plain and compiled.library() else _InPieces).apply(dt, v, b, c, a)  # type: ignore[no-any-return]


class _Scan(Structure):
    """What the functions in C read and write, by its address."""

    _fields_ = [
        *((name, c_int64) for name in ("rows", "positions", "states", "channels")),
        *((name, c_void_p) for name in ("dt", "v", "b", "c", "a", "y", "kept", "g")),
        *((name, c_void_p) for name in ("of_dt", "of_v", "of_b", "of_c", "of_a", "room")),
    ]


class _InC(torch.autograd.Function):
    """One call each for the outputs and for the gradients. Each row of the batch is computed by one thread."""

    @staticmethod
    def forward(ctx: Any, dt: Tensor, v: Tensor, b: Tensor, c: Tensor, a: Tensor) -> Tensor:
        given = [z.contiguous() for z in (dt, v, b, c, a)]
        pieces = -(-dt.shape[1] // compiled.library().scan_piece())
        y, kept = torch.empty_like(given[0]), a.new_empty(len(dt), pieces, *a.shape)
        _call("scan_forward", [*given, y, kept], [])
        ctx.save_for_backward(*given, kept)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, ...]:  # type: ignore[override]
        dt, v, b, c, a, kept = ctx.saved_tensors
        found = [torch.empty_like(dt), torch.empty_like(v), torch.zeros_like(b), torch.zeros_like(c)]
        of_a = a.new_zeros(len(dt), *a.shape)  # of each row
        _call("scan_backward", [dt, v, b, c, a, None, kept, g.contiguous()], [*found, of_a])
        return *found, of_a.sum(0)


def _call(name: str, given: list[Tensor | None], found: list[Tensor]) -> None:
    """given   dt, v, b, c, a, y, kept, g"""
    dt, a = given[0], given[4]
    if dt is None or a is None or not dt.numel():
        return
    threads = torch.get_num_threads()
    room = a.new_empty(threads * compiled.library().scan_room(len(a)))
    addresses = [
        None if z is None else z.data_ptr()
        for z in (*given, *[None] * (8 - len(given)), *found, *[None] * (5 - len(found)))
    ]
    scan = _Scan(*dt.shape[:2], *a.shape, *addresses, room.data_ptr())
    getattr(compiled.library(), name)(byref(scan), threads)


class _Inputs(NamedTuple):
    """What the scan reads at each position."""

    dt: Float[Tensor, "t b c"]
    v: Float[Tensor, "t b c"]  # carries dt already
    b: Float[Tensor, "t b n"]
    c: Float[Tensor, "t b n"]

    def at(self, cut: slice, group: slice) -> "_Inputs":
        return _Inputs(*(z[cut, group] for z in self))


class _Piece:
    """Some rows of a batch at some positions: the factors exp(dt_t A) and the states, in memory that the next piece uses again.

        h_t = exp(dt_t A) h_{t-1} + B_t v_t        y_t = C_t h_t

    Time stands first, so that one position is one block of memory; channels stand last, because there are more of them than states:
    the inner loops of all these products are then long. exp(x) is 2^(x / log 2), for which torch has a much faster kernel.
    """

    def __init__(self, a: Float[Tensor, "n c"], length: int, rows: int) -> None:
        self.a, self.base = a, a / math.log(2)
        self.memory = [a.new_empty(length, rows, *a.shape) for _ in range(3)]

    def states(
        self, inputs: _Inputs, h: Float[Tensor, "b n c"]
    ) -> tuple[Float[Tensor, "t b n c"], Float[Tensor, "t b n c"]]:
        """The factors and all h_t after the state h, position by position."""
        dt, v, b, _ = inputs
        factors, states = (z[: len(dt), : dt.shape[1]] for z in self.memory[:2])
        torch.mul(dt[:, :, None], self.base, out=factors).exp2_()
        torch.mul(v[:, :, None], b[..., None], out=states)
        for factor, state in zip(factors.unbind(), states.unbind(), strict=True):
            h = torch.addcmul(state, factor, h, out=state)
        return factors, states

    def gradients(
        self, g: Float[Tensor, "t b c"], inputs: _Inputs, h: Float[Tensor, "b n c"], later: Float[Tensor, "b n c"]
    ) -> tuple[Tensor, ...]:
        """Of dt, v, b, c, a and h, from those of y (g) and of the state after the last position (later).

        G_t, the gradient of h_t, comes by a scan in the other direction: G_t = C_t g_t + K_{t+1}, K_t = exp(dt_t A) G_t. That of dt_t A is
        K_t h_{t-1}. Sums over channels are written as products of one row with a matrix, which no kernel does in fewer passes.
        """
        dt, v, b, c = inputs
        kept, states = self.states(inputs, h)  # kept: factors at first
        total = self.memory[2][: len(dt), : dt.shape[1]]
        of_c = (g[:, :, None] @ states.mT).squeeze(2)
        torch.mul(g[:, :, None], c[..., None], out=total)
        for factor, now in zip(reversed(kept.unbind()), reversed(total.unbind()), strict=True):
            later = factor.mul_(now.add_(later))
        of_v, of_b = (b[:, :, None] @ total).squeeze(2), (v[:, :, None] @ total.mT).squeeze(2)
        of_h = later.clone()
        kept[0] *= h
        kept[1:] *= states[:-1]  # from here on the gradient of dt_t A
        of_dt = torch.mul(kept, self.a, out=total).sum(2)
        of_a = torch.mul(kept, dt[:, :, None], out=total).sum((0, 1))
        return of_dt, of_v, of_b, of_c, of_a, of_h


class _InPieces(torch.autograd.Function):
    """All outputs, piece by piece: only the state before each piece is stored, the others are computed again on the way back."""

    @staticmethod
    def forward(ctx: Any, dt: Tensor, v: Tensor, b: Tensor, c: Tensor, a: Tensor) -> Tensor:
        along = _Inputs(*(z.transpose(0, 1).to(a.dtype).contiguous() for z in (dt, v, b, c)))
        t, rows = dt.shape[1], dt.shape[0]
        together = max(1, min(rows, SIZE // (LEAST * a.numel())))
        length = min(t, max(LEAST, SIZE // (together * a.numel())))
        cuts = [slice(i, i + length) for i in range(0, t, length)]
        groups = [slice(i, i + together) for i in range(0, rows, together)]
        piece, y, starts = (
            _Piece(a, length, together),
            torch.empty_like(along.v),
            a.new_zeros(len(cuts) + 1, rows, *a.shape),
        )
        with without_autocast(a.device):
            for group in groups:
                for number, cut in enumerate(cuts):
                    inputs = along.at(cut, group)
                    states = piece.states(inputs, starts[number, group])[1]
                    y[cut, group] = (inputs.c[:, :, None] @ states).squeeze(2)
                    starts[number + 1, group] = states[-1]
        ctx.cuts, ctx.groups, ctx.sizes = cuts, groups, (length, together)
        ctx.save_for_backward(*along, a, starts)
        return y.transpose(0, 1).to(dt.dtype).contiguous()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, ...]:  # type: ignore[override]
        *saved, a, starts = ctx.saved_tensors
        along = _Inputs(*saved)
        g, piece = g.transpose(0, 1).to(a.dtype).contiguous(), _Piece(a, *ctx.sizes)
        found, of_a = [torch.empty_like(z) for z in along], torch.zeros_like(a)
        for group in ctx.groups:
            of_h = torch.zeros_like(starts[0, group])
            for cut, h in reversed(list(zip(ctx.cuts, starts[:, group], strict=False))):
                *parts, of_piece, of_h = piece.gradients(g[cut, group], along.at(cut, group), h, of_h)
                for whole, part in zip(found, parts, strict=True):
                    whole[cut, group] = part
                of_a += of_piece
        return *(z.transpose(0, 1) for z in found), of_a
