from collections.abc import Callable
from typing import Any

from jaxtyping import Bool, Float
from torch import Tensor, nn

from headway.layers.attention.attend import Attend
from headway.layers.attention.cache import Cache
from headway.layers.linear import Linear
from headway.layers.masks import Everything, Mask
from headway.layers.padding import require_right_padding
from headway.layers.scores.scaled import Scaled


class Multihead(nn.Module):
    """Multi-head self-attention: h heads look at the same sequence, each through its own projections.

        Q, K, V = X W_Q, X W_K, X W_V        head_i = softmax(Q_i K_i^T / sqrt(e) + log M) V_i        Y = [head_1 ... head_h] W_O

    The number of parameters, 4 d^2, does not depend on h. Vaswani et al. 2017, https://arxiv.org/abs/1706.03762.
    `position` is one that acts on scores (rotary, alibi, relative): it turns queries and keys, or adds to their scores.

    score      the class of the attention score, made from the width of a head
    position   the class of a position that acts on scores, made from the width of a head and the heads
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
        self.project = Linear(width, 3 * width)  # Q, K and V of all heads in one product
        self.attend = Attend(score(width // heads))
        self.position: Any = position and position(width // heads, heads)
        self.output = Linear(width, width)

    def forward(self, x: Float[Tensor, "b t d"], keep: Bool[Tensor, "b t"] | None = None) -> Float[Tensor, "b t d"]:
        """`keep` is False at padding. Under a causal mask padding on the right is invisible already, so nothing is computed for it."""
        require_right_padding(keep)
        if not x.numel():
            return self.output(x)
        q, k, v = self._split(x)
        causal = self.mask.plain(x.shape[1])
        y = self.attend(q, k, v, None if causal else self._allowed(x, keep), causal, self._bias(q, k, 0))
        return self.output(y.transpose(1, 2).flatten(2))

    def _split(self, x: Float[Tensor, "b t d"]) -> tuple[Tensor, Tensor, Tensor]:
        """Q, K and V, each "b h t e", as the score and the position want them.

        They are cut before anything is transposed: the gradients then land in one piece, without copies.
        """
        q, k, v = (y.transpose(1, 2) for y in self.project(x).unflatten(-1, (3, self.heads, -1)).unbind(2))
        return *self._prepare(q, k, 0), v

    def _prepare(self, q: Tensor, k: Tensor, offset: int) -> tuple[Tensor, Tensor]:
        """Queries and keys, each "b h t e", as the score and the position want them."""
        q, k = self.attend.score.query(q), self.attend.score.key(k)
        if self.position is not None:
            q, k = self.position.turn(q, offset), self.position.turn(k, offset)
        return q, k

    def _bias(self, q: Float[Tensor, "b h t e"], k: Float[Tensor, "b h s e"], offset: int) -> Tensor | None:
        return None if self.position is None else self.position.bias(q, k, offset, self.attend.score.scale)

    def _allowed(self, x: Float[Tensor, "b t d"], keep: Tensor | None) -> Tensor | None:
        """Padding mask: M_ts = 1 where the mask allows t to see s and s is not padding; None allows everything."""
        length = x.shape[1]
        allowed = None if isinstance(self.mask, Everything) else self.mask.matrix(length, length, device=x.device)
        if keep is not None:
            # A padded query sees everything: its output is thrown away, but a row without any key would be NaN.
            padding = keep[:, None, None, :]
            allowed = padding if allowed is None else (allowed & padding) | ~keep[:, None, :, None]
        return allowed

    def score_weights(self) -> list[Tensor]:
        """W_Q and W_K, the matrices that only the scores depend on."""
        return list(self.project.weight.chunk(3)[:2])

    def value_weights(self) -> list[Tensor]:
        """W_V and W_O, the matrices that values pass through."""
        return [self.project.weight.chunk(3)[2], self.output.weight]

    def start(self, batch: int) -> Cache:
        """Nothing seen yet."""
        like = self.output.weight
        empty = like.new_empty(0, batch, self.heads, like.shape[0] // self.heads)
        return Cache(empty, empty)

    def step(self, x: Float[Tensor, "b d"], state: Cache) -> tuple[Float[Tensor, "b d"], Cache]:
        """One position, given the keys and values of those before it that the mask can still reach."""
        q, k, v = self.project(x).view(len(x), 3, self.heads, 1, x.shape[1] // self.heads).unbind(1)
        q, k = self._prepare(q, k, state.past)
        after = state.append(k, v, self.mask.reach)
        k, v = after.k, after.v
        kept, past = k.shape[2], state.past
        allowed = None if self.mask.plain(kept) else self.mask.matrix(1, kept, past, past + 1 - kept, x.device)
        y = self.attend(q, k, v, allowed, bias=self._bias(q, k, kept - 1))
        return self.output(y.reshape(x.shape)), after
