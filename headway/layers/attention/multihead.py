from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from headway.layers.attention.weights import Weights
from headway.layers.masks import Everything, Mask
from headway.layers.scores.scaled import Scaled

Cache = tuple[Float[Tensor, "b h s e"], Float[Tensor, "b h s e"], int]  # keys, values, and how many positions there were


class Multihead(nn.Module):
    """Multi-head self-attention: h heads look at the same sequence, each through its own projections.

        Q, K, V = X W_Q, X W_K, X W_V        head_i = softmax(Q_i K_i^T / sqrt(e) + log M) V_i        Y = [head_1 ... head_h] W_O

    The number of parameters, 4 d^2, does not depend on h. Vaswani et al. 2017, https://arxiv.org/abs/1706.03762.
    `position` is one that acts inside attention (rotary, alibi, relative): it turns queries and keys, or adds to their scores.
    """

    aliases = ("multi-head attention", "self-attention", "MHSA", "masked attention", "causal attention")
    sees, needs_positions = "mask", True

    def __init__(
        self,
        width: int,
        heads: int,
        mask: Mask | None = None,
        score: Callable[[int], nn.Module] = Scaled,
        position: Callable[[int, int], nn.Module] | None = None,
    ) -> None:
        super().__init__()
        self.heads = heads
        self.mask = mask or Everything()
        self.causal = self.mask.causal
        self.project = nn.Linear(width, 3 * width)  # Q, K and V of all heads in one product
        self.weights = Weights(score(width // heads))
        self.position: Any = position and position(width // heads, heads)
        self.output = nn.Linear(width, width)

    def forward(self, x: Float[Tensor, "b t d"], keep: Bool[Tensor, "b t"] | None = None) -> Float[Tensor, "b t d"]:
        """`keep` is False at padding. Under a causal mask padding on the right is invisible already, so nothing is computed for it."""
        q, k, v = self._split(x, 0)
        causal = self.mask.plain(x.shape[1])
        bias = self.position and self.position.bias(q, k, 0)
        y = self.weights(q, k, v, None if causal else self._allowed(x.shape[1], keep), causal, bias)
        return self.output(y.transpose(1, 2).flatten(2))

    def _split(self, x: Float[Tensor, "b t d"], offset: int) -> tuple[Tensor, Tensor, Tensor]:
        """Q, K and V, each "b h t e", as the score and the position want them.

        They are cut before anything is transposed: the gradients then land in one piece, without copies.
        """
        q, k, v = (y.transpose(1, 2) for y in self.project(x).unflatten(-1, (3, self.heads, -1)).unbind(2))
        q, k = self.weights.score.query(q), self.weights.score.key(k)
        if self.position is not None:
            q, k = self.position.turn(q, offset), self.position.turn(k, offset)
        return q, k, v

    def _allowed(self, length: int, keep: Tensor | None) -> Tensor | None:
        allowed = None if isinstance(self.mask, Everything) else self.mask.matrix(length, length)
        if keep is not None:
            # A padded query sees everything: its output is thrown away, but a row without any key would be NaN.
            padding = keep[:, None, None, :]
            allowed = padding if allowed is None else (allowed & padding) | ~keep[:, None, :, None]
        return allowed

    def start(self, batch: int) -> Cache:
        """Nothing seen yet."""
        like = self.output.weight
        empty = like.new_empty(batch, self.heads, 0, like.shape[0] // self.heads)
        return empty, empty, 0

    def step(self, x: Float[Tensor, "b d"], state: Cache) -> tuple[Float[Tensor, "b d"], Any]:
        """One position, given the keys and values of those before it that the mask can still reach."""
        keys, values, past = state
        q, k, v = self._split(x.unsqueeze(1), past)
        k, v = torch.cat((keys, k), 2), torch.cat((values, v), 2)
        if self.mask.reach is not None and k.shape[2] > self.mask.reach:
            k, v = k[:, :, -self.mask.reach :], v[:, :, -self.mask.reach :]
        kept = k.shape[2]
        allowed = None if self.mask.plain(kept) else self.mask.matrix(1, kept, past, past + 1 - kept)
        y = self.weights(q, k, v, allowed, bias=self.position and self.position.bias(q, k, kept - 1))
        return self.output(y.flatten(1)), (k, v, past + 1)
