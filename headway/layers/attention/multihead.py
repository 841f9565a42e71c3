import torch
from einops import rearrange
from jaxtyping import Bool, Float
from torch import Tensor, nn

from headway.layers.attention.weights import Weights
from headway.layers.masks import Causal, Everything, Mask
from headway.layers.scores.scaled import Scaled

Cache = tuple[Float[Tensor, "b h s e"], Float[Tensor, "b h s e"]]
Grown = tuple[Float[Tensor, "b h s+1 e"], Float[Tensor, "b h s+1 e"]]


class Multihead(nn.Module):
    """Multi-head self-attention: h heads look at the same sequence, each through its own projections.

        Q, K, V = X W_Q, X W_K, X W_V        head_i = softmax(Q_i K_i^T / sqrt(e) + log M) V_i        Y = [head_1 ... head_h] W_O

    The number of parameters, 4 d^2, does not depend on h. Vaswani et al. 2017, https://arxiv.org/abs/1706.03762.
    """

    aliases = ("multi-head attention", "self-attention", "MHSA", "masked attention", "causal attention")

    def __init__(self, width: int, heads: int, mask: Mask | None = None, score: type[nn.Module] = Scaled) -> None:
        super().__init__()
        self.heads = heads
        self.mask = mask or Everything()
        self.causal = self.mask.causal
        self.project = nn.Linear(width, 3 * width)  # Q, K and V of all heads in one product
        self.weights = Weights(score(width // heads))
        self.output = nn.Linear(width, width)

    def forward(self, x: Float[Tensor, "b t d"], keep: Bool[Tensor, "b t"] | None = None) -> Float[Tensor, "b t d"]:
        """`keep` is False at padding. Under a causal mask padding on the right is invisible already, so nothing is computed for it."""
        q, k, v = (y.transpose(1, 2) for y in self._split(x))  # b h t e
        causal = isinstance(self.mask, Causal)
        y = self.weights(q, k, v, None if causal else self._allowed(x.shape[1], keep), causal)
        return self.output(rearrange(y, "b h t e -> b t (h e)"))

    def _split(self, x: Float[Tensor, "*b d"]) -> tuple[Tensor, ...]:
        """Q, K and V, each "*b h e". Cut before anything is transposed: the gradients then land in one piece, without copies."""
        return self.project(x).unflatten(-1, (3, self.heads, -1)).unbind(-3)

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
        return empty, empty

    def step(self, x: Float[Tensor, "b d"], state: Cache) -> tuple[Float[Tensor, "b d"], Grown]:
        """One position, given the keys and values of those before it."""
        q, k, v = (y.unsqueeze(2) for y in self._split(x))  # b h 1 e
        k, v = torch.cat((state[0], k), 2), torch.cat((state[1], v), 2)
        past = k.shape[2]
        allowed = None if isinstance(self.mask, Causal) else self.mask.matrix(1, past, offset=past - 1)
        y = self.weights(q, k, v, allowed)
        return self.output(rearrange(y, "b h 1 e -> b (h e)")), (k, v)
