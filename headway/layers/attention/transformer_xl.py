from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from headway.core.errors import ConfigError
from headway.layers.attention.attend import Attend
from headway.layers.masks import Causal, Mask
from headway.layers.padding import require_right_padding
from headway.layers.positions.relative import Relative
from headway.layers.scores.scaled import Scaled

State = tuple[Float[Tensor, "b h s e"], Float[Tensor, "b h s e"], int]


class TransformerXL(nn.Module):
    """Transformer-XL attention: segments look at themselves and at what the segments before left behind, with relative positions.

        K, V = [SG(X_mem) ; X] W_K, [SG(X_mem) ; X] W_V        Q = X W_Q        scores with `relative` positions, causal

    X_mem are the inputs of this layer at the `memory` positions before the segment, and SG stops the gradient there. A layer knows its
    inputs of all segments at once, so they are computed side by side, which is the same as one after the other. Through n layers a token
    is reached from n * memory positions back. Dai et al. 2019, https://arxiv.org/abs/1901.02860; lecture A.
    """

    aliases = ("Transformer-XL", "segment-level recurrence", "segment recurrence")
    sees, needs_positions = "past", False
    causal = True

    def __init__(self, width: int, heads: int, mask: Mask | None = None, segment: int = 64, memory: int = 64) -> None:
        super().__init__()
        if not isinstance(mask, Causal) or min(segment, memory) < 1:
            raise ConfigError("`transformer_xl` reads from left to right in segments of at least 1", "give it `Causal()` as its mask.")
        self.heads, self.segment, self.memory = heads, segment, memory
        self.query = nn.Linear(width, width)
        self.remember = nn.Linear(width, 2 * width)  # K and V of all heads
        self.attend = Attend(Scaled(width // heads))
        self.position = Relative(width // heads, heads)
        self.output = nn.Linear(width, width)

    def _keys(self, x: Float[Tensor, "b t d"]) -> tuple[Tensor, ...]:
        return self.remember(x).unflatten(-1, (2, self.heads, -1)).unbind(2)  # each "b t h e"

    def forward(self, x: Float[Tensor, "b t d"], keep: Bool[Tensor, "b t"] | None = None) -> Float[Tensor, "b t d"]:
        """Padding on the right is in the future of everything real, so `keep` changes nothing."""
        require_right_padding(keep)
        if not x.numel():
            return self.output(x)
        b, t, _ = x.shape
        size = min(self.segment, t)
        n = -(-t // size)
        x = F.pad(x, (0, 0, 0, n * size - t))
        q = self.query(x).unflatten(-1, (self.heads, -1)).unflatten(1, (n, size)).flatten(0, 1).transpose(1, 2)  # (b n) h t e
        k, v = (y.unflatten(1, (n, size)).flatten(0, 1).transpose(1, 2) for y in self._keys(x))
        allowed, past = torch.ones(size, size, dtype=torch.bool, device=x.device).tril(), 0
        if n > 1:
            past = self.memory
            k, v = (torch.cat((old, new), 2) for old, new in zip(self._behind(x.detach(), n, size), (k, v), strict=True))
            before = torch.arange(-past, 0, device=x.device)
            # There is nothing before the beginning.
            real = torch.arange(n, device=x.device)[:, None] * size + before >= 0
            allowed = torch.cat((real[:, None].expand(n, size, past), allowed.expand(n, size, size)), -1).repeat(b, 1, 1)[:, None]
        y = self.attend(q, k, v, allowed, bias=self.position.bias(q, k, past))
        return self.output(y.transpose(1, 2).flatten(2).unflatten(0, (b, n)).flatten(1, 2)[:, :t])

    def _behind(self, x: Float[Tensor, "b t d"], n: int, size: int) -> list[Tensor]:
        """Keys and values of the `memory` positions before each segment, each "(b n) h m e"; zeros before the beginning."""
        before = [F.pad(y, (0, 0, 0, 0, self.memory, 0)) for y in self._keys(x[:, : (n - 1) * size])]
        return [y.unfold(1, self.memory, size).flatten(0, 1).transpose(2, 3)[:, :, : self.memory] for y in before]

    def start(self, batch: int) -> State:
        like = self.output.weight
        empty = like.new_empty(batch, self.heads, 0, like.shape[0] // self.heads)
        return empty, empty, 0

    def step(self, x: Float[Tensor, "b d"], state: State) -> tuple[Float[Tensor, "b d"], Any]:
        keys, values, past = state
        q = self.query(x).unflatten(-1, (self.heads, 1, -1))
        k, v = (torch.cat((old, new.transpose(1, 2)), 2) for old, new in zip((keys, values), self._keys(x.unsqueeze(1)), strict=True))
        seen = min(past + 1, past % self.segment + 1 + self.memory)  # a new segment forgets all but its memory
        k, v = k[:, :, -seen:], v[:, :, -seen:]
        y = self.attend(q, k, v, bias=self.position.bias(q, k, seen - 1))
        return self.output(y.flatten(1)), (k, v, past + 1)
