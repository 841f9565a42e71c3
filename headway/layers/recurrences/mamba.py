import math
from typing import cast

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from headway.layers.linear import Linear
from headway.layers.padding import require_right_padding
from headway.layers.recurrences.selective_scan import selective_scan

State = tuple[Float[Tensor, "b c k"], Float[Tensor, "b n c"]]


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
        y = selective_scan(dt, dt * v, b, c, -self.A.T.exp())
        return self.output((y + self.D * v) * F.silu(z))
