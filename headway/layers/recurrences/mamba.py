import math
from typing import Any, NamedTuple, cast

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from headway.layers.linear import Linear
from headway.layers.padding import require_right_padding
from headway.layers.precision import without_autocast

State = tuple[Float[Tensor, "b c k"], Float[Tensor, "b n c"]]
SIZE = 1 << 19  # numbers of a piece: then the few tensors that a piece needs stay in the cache of a core (measured)
LEAST = 8  # positions of a piece, at least: one state in LEAST is kept for the way back


class Mamba(nn.Module):
    """Selective state space: what is written, kept and read depends on the input.

        u, z = W x           v = silu(conv_4(u))           dt = softplus(W_dt W_r v + b)        B, C = W_B v, W_C v
        h_t = exp(dt A) * h_{t-1} + dt * B_t v_t           y_t = C_t h_t + D v_t                out = W_o (y * silu(z))

    A = -exp(.) is real and begins at -1 ... -n (S4D-real); W_B and W_C give n numbers that all channels share. Gu & Dao 2023,
    https://arxiv.org/abs/2312.00752.

    states   n, numbers in the state of each channel
    expand   channels inside, as a multiple of the width
    window   positions of the convolution
    """

    aliases = ("selective state space", "selective scan", "S6")
    sees, needs_positions = "past", False
    roles = {"A": "rate", "D": "vector"}
    causal = True

    def __init__(self, inputs: int, width: int, states: int = 16, expand: int = 2, window: int = 4) -> None:
        super().__init__()
        inner, rank = expand * width, -(-width // 16)
        self.sizes = [rank, states, states]
        self.input = Linear(inputs, 2 * inner, bias=False)
        self.convolution = nn.Conv1d(inner, inner, window, groups=inner)
        self.select = Linear(inner, sum(self.sizes), bias=False)  # W_r, W_B and W_C
        self.dt = Linear(rank, inner)
        self.A = nn.Parameter(torch.arange(1, states + 1).to(self.dt.weight.dtype).log().repeat(inner, 1))  # log(-A)
        self.D = nn.Parameter(torch.ones(inner))
        self.output = Linear(inner, width, bias=False)
        nn.init.uniform_(self.dt.weight, -(rank**-0.5), rank**-0.5)
        dt = (math.log(1e-3) + torch.rand(inner) * math.log(100.0)).exp()  # log-uniform between 0.001 and 0.1
        self.dt.bias.data = dt + (-(-dt).expm1()).log()  # the inverse of softplus

    def _select(
        self, v: Float[Tensor, "*b c"]
    ) -> tuple[Float[Tensor, "*b c"], Float[Tensor, "*b n"], Float[Tensor, "*b n"]]:
        r, b, c = self.select(v).split(self.sizes, -1)
        return F.softplus(self.dt(r)), b, c

    def _convolve(self, u: Float[Tensor, "b t c"]) -> Float[Tensor, "b t c"]:
        """sum_k w_k u_{t-k} + b, as products of whole sequences: torch's kernel wants time last, all that follows wants it first."""
        taps = self.convolution.weight[:, 0].T
        padded = F.pad(u, (0, 0, len(taps) - 1, 0))
        v = cast(Tensor, self.convolution.bias).expand_as(u)
        for k, tap in enumerate(taps):
            v = torch.addcmul(v, tap, padded[:, k : k + u.shape[1]])
        return v

    def start(self, batch: int) -> State:
        """The last inputs of the convolution, and the state."""
        window = self.convolution.kernel_size[0]
        return self.A.new_zeros(batch, len(self.A), window - 1), self.A.new_zeros(batch, *self.A.T.shape)

    def step(self, x: Float[Tensor, "b i"], state: State) -> tuple[Float[Tensor, "b d"], State]:
        u, z = self.input(x).chunk(2, -1)
        seen = torch.cat((state[0], u[..., None]), -1)
        v = F.silu(F.conv1d(seen, self.convolution.weight, self.convolution.bias, groups=len(self.A)).squeeze(-1))
        dt, b, c = self._select(v)
        h = torch.exp2(dt[:, None] * (-self.A.T.exp() / math.log(2))) * state[1] + b[..., None] * (dt * v)[:, None]
        y = (c[:, None] @ h).squeeze(1)
        return self.output((y + self.D * v) * F.silu(z)), (seen[..., 1:], h)

    def forward(self, x: Float[Tensor, "b t i"], keep: Bool[Tensor, "b t"] | None = None) -> Float[Tensor, "b t d"]:
        """Padding on the right is in the future of all that is kept, so `keep` changes nothing."""
        require_right_padding(keep)
        if not x.numel():
            return x.new_zeros(*x.shape[:2], self.output.out_features)
        u, z = self.input(x).chunk(2, -1)
        v = F.silu(self._convolve(u))
        dt, b, c = self._select(v)
        y = _SelectiveScan.apply(dt, dt * v, b, c, -self.A.T.exp())
        return self.output((y + self.D * v) * F.silu(z))


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


class _SelectiveScan(torch.autograd.Function):
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
