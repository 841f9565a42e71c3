import math
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from headway.layers.padding import require_right_padding
from headway.layers.recurrences.scan import linear_scan, solve

State = tuple[Float[Tensor, "b c k"], Float[Tensor, "b n c"]]
PIECE = 64  # positions whose states exist at the same time: b * PIECE * c * n numbers, for sequences of any length


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
        self.input = nn.Linear(inputs, 2 * inner, bias=False)
        self.convolution = nn.Conv1d(inner, inner, window, groups=inner, padding=window - 1)
        self.select = nn.Linear(inner, sum(self.sizes), bias=False)  # W_r, W_B and W_C
        self.dt = nn.Linear(rank, inner)
        self.A = nn.Parameter(torch.arange(1, states + 1).to(self.dt.weight.dtype).log().repeat(inner, 1))  # log(-A)
        self.D = nn.Parameter(torch.ones(inner))
        self.output = nn.Linear(inner, width, bias=False)
        nn.init.uniform_(self.dt.weight, -(rank**-0.5), rank**-0.5)
        dt = (math.log(1e-3) + torch.rand(inner) * math.log(100.0)).exp()  # log-uniform between 0.001 and 0.1
        self.dt.bias.data = dt + (-(-dt).expm1()).log()  # the inverse of softplus

    def _select(
        self, v: Float[Tensor, "*b c"]
    ) -> tuple[Float[Tensor, "*b c"], Float[Tensor, "*b n"], Float[Tensor, "*b n"]]:
        r, b, c = self.select(v).split(self.sizes, -1)
        return F.softplus(self.dt(r)), b, c

    def start(self, batch: int) -> State:
        """The last inputs of the convolution, and the state."""
        window = self.convolution.kernel_size[0]
        return self.A.new_zeros(batch, len(self.A), window - 1), self.A.new_zeros(batch, *self.A.T.shape)

    def step(self, x: Float[Tensor, "b i"], state: State) -> tuple[Float[Tensor, "b d"], State]:
        u, z = self.input(x).chunk(2, -1)
        seen = torch.cat((state[0], u[..., None]), -1)
        v = F.silu(F.conv1d(seen, self.convolution.weight, self.convolution.bias, groups=len(self.A)).squeeze(-1))
        dt, b, c = self._select(v)
        y, _, h = _piece(dt[:, None], (dt * v)[:, None], b[:, None], c[:, None], -self.A.T.exp(), state[1])
        return self.output((y[:, 0] + self.D * v) * F.silu(z)), (seen[..., 1:], h[:, 0])

    def forward(self, x: Float[Tensor, "b t i"], keep: Bool[Tensor, "b t"] | None = None) -> Float[Tensor, "b t d"]:
        """Padding on the right is in the future of all that is kept, so `keep` changes nothing."""
        require_right_padding(keep)
        if not x.numel():
            return x.new_zeros(*x.shape[:2], self.output.out_features)
        u, z = self.input(x).chunk(2, -1)
        v = F.silu(self.convolution(u.mT)[..., : x.shape[1]].mT)
        dt, b, c = self._select(v)
        y = _SelectiveScan.apply(dt, dt * v, b, c, -self.A.T.exp())
        return self.output((y + self.D * v) * F.silu(z))


def _piece(
    dt: Float[Tensor, "b t c"],
    v: Float[Tensor, "b t c"],
    b: Float[Tensor, "b t n"],
    c: Float[Tensor, "b t n"],
    a: Float[Tensor, "n c"],
    h: Float[Tensor, "b n c"],
) -> tuple[Float[Tensor, "b t c"], Float[Tensor, "b t n c"], Float[Tensor, "b t n c"]]:
    """y_t = C_t h_t with h_t = exp(dt_t A) h_{t-1} + B_t v_t, where v carries dt already; the factors exp(dt_t A); and all h_t.

    Channels stand last, because there are more of them than states: the inner loops of all these products are then long.
    """
    factors = (dt[:, :, None] * a).exp_()
    states = linear_scan(factors, v[:, :, None] * b[..., None], h)
    return (c[:, :, None] @ states).squeeze(2), factors, states


class _SelectiveScan(torch.autograd.Function):
    """All outputs, piece by piece: only the state before each piece is stored, the others are computed again on the way back."""

    @staticmethod
    def forward(ctx: Any, dt: Tensor, v: Tensor, b: Tensor, c: Tensor, a: Tensor) -> Tensor:
        ctx.cuts = [slice(t, t + PIECE) for t in range(0, dt.shape[1], PIECE)]
        y, starts = torch.empty_like(dt), dt.new_zeros(len(ctx.cuts) + 1, len(dt), *a.shape)
        for number, cut in enumerate(ctx.cuts):
            y[:, cut], _, states = _piece(dt[:, cut], v[:, cut], b[:, cut], c[:, cut], a, starts[number])
            starts[number + 1] = states[:, -1]
        ctx.save_for_backward(dt, v, b, c, a, starts)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, ...]:  # type: ignore[override]
        """G_t, the gradient of h_t, comes by a scan in the other direction: G_t = C_t g_t + exp(dt_{t+1} A) G_{t+1}."""
        *along, a, starts = ctx.saved_tensors
        found, of_a, of_h = [torch.empty_like(z) for z in along], torch.zeros_like(a), torch.zeros_like(starts[0])
        for cut, h in reversed(list(zip(ctx.cuts, starts, strict=False))):
            dt, v, b, c = (z[:, cut] for z in along)
            _, factors, states = _piece(dt, v, b, c, a, h)
            of_dt, of_v, of_b, of_c = (z[:, cut] for z in found)
            of_c[:] = (states * g[:, cut, None]).sum(-1)
            total = g[:, cut, None] * c[..., None]
            total[:, -1] += of_h
            solve(factors[:, 1:], total[:, :-1], total[:, -1], total[:, :-1], ahead=False)
            of_h = factors[:, 0] * total[:, 0]
            of_v[:] = (b[:, :, None] @ total).squeeze(2)
            of_b[:] = (total * v[:, :, None]).sum(-1)
            total[:, 0] *= h
            total[:, 1:] *= states[:, :-1]
            total *= factors  # from here on the gradient of dt_t A
            of_dt[:] = (total * a).sum(2)
            of_a += (total * dt[:, :, None]).sum((0, 1))
        return *found, of_a
