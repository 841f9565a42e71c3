import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from headway.layers.attention.attend import Attend
from headway.layers.attention.cache import Cache
from headway.layers.linear import Linear
from headway.layers.positions.relative import Relative
from headway.layers.scores.scaled import Scaled


class TwoStream(nn.Module):
    """Two-stream attention of XLNet: content that has seen its token, queries that know only their place.

        g_j <- Attention(Q = g_j, K V = h_i for i before j in the order)
        h_j <- Attention(Q = h_j, K V = h_i for i before j, and j)

    Both streams share their weights, and both see a memory of content from before the sequence, if there is one.
    Yang et al. 2019, "XLNet", https://arxiv.org/abs/1906.08237, section 2.3; lecture A.
    """

    aliases = ("two-stream self-attention", "XLNet attention")

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query = Linear(width, width)
        self.kv = Linear(width, 2 * width)  # K and V of all heads
        self.attend = Attend(Scaled(width // heads))
        self.position = Relative(width // heads, heads)
        self.output = Linear(width, width)

    def _ask(self, x: Float[Tensor, "b t d"]) -> Float[Tensor, "b h t e"]:
        return self.query(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def _keys(self, h: Float[Tensor, "b s d"]) -> tuple[Tensor, ...]:
        return tuple(y.transpose(1, 2) for y in self.kv(h).unflatten(-1, (2, self.heads, -1)).unbind(2))

    def _attend(
        self, x: Float[Tensor, "b t d"], k: Tensor, v: Tensor, allowed: Tensor, offset: int
    ) -> Float[Tensor, "b t d"]:
        """Attention of x, which begins `offset` places after the first key."""
        q = self._ask(x)
        y = self.attend(q, k, v, allowed, bias=self.position.bias(q, k, offset))
        return self.output(y.transpose(1, 2).flatten(2))

    def forward(
        self,
        h: Float[Tensor, "b t d"],
        g: Float[Tensor, "b t d"],
        rank: Float[Tensor, "b t+1"],
        memory: Float[Tensor, "b m d"] | None = None,
    ) -> tuple[Float[Tensor, "b t d"], Float[Tensor, "b t d"]]:
        """`rank` says when each place of a row is filled.

        Content stands at the places 0 .. t-1, queries at 1 .. t, and memory before 0.
        """
        k, v = self._keys(h if memory is None else torch.cat((memory, h), 1))
        m = k.shape[2] - h.shape[1]
        seen, asked = (F.pad(allowed, (m, 0), value=True)[:, None] for allowed in visible(rank))
        return self._attend(h, k, v, seen, m), self._attend(g, k, v, asked, m + 1)

    def read(self, h: Float[Tensor, "b t d"]) -> Float[Tensor, "b t d"]:
        """Content alone, from left to right."""
        k, v = self._keys(h)
        return self._attend(h, k, v, torch.ones(h.shape[1], h.shape[1], dtype=torch.bool, device=h.device).tril(), 0)

    def start(self, batch: int) -> Cache:
        like = self.output.weight
        empty = like.new_empty(0, batch, self.heads, like.shape[0] // self.heads)
        return Cache(empty, empty)

    def step(self, h: Float[Tensor, "b d"], g: Float[Tensor, "b d"], state: Cache) -> tuple[Tensor, Tensor, Cache]:
        """From left to right: the content of one place, and the query for the next."""
        k, v = self._keys(h.unsqueeze(1))
        after = state.append(k, v)
        k, q = after.k, self._ask(torch.stack((h, g), 1))  # at places p and p + 1, where p is the last key's
        y = self.output(
            self.attend(q, k, after.v, bias=self.position.bias(q, k, state.past)).transpose(1, 2).flatten(2)
        )
        return y[:, 0], y[:, 1], after


def visible(rank: Float[Tensor, "b n"]) -> tuple[Bool[Tensor, "b n-1 n-1"], Bool[Tensor, "b n-1 n-1"]]:
    """Which content (columns, places 0 .. t-1) the content at 0 .. t-1 and the queries at 1 .. t may see."""
    content, queries = rank[:, :-1], rank[:, 1:]
    return content[:, None, :] <= content[:, :, None], content[:, None, :] < queries[:, :, None]
