import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from headway.core.errors import ConfigError
from headway.layers.attention.attend import Attend
from headway.layers.attention.cache import Cache
from headway.layers.linear import Linear
from headway.layers.masks import Causal, Mask
from headway.layers.padding import require_right_padding
from headway.layers.positions.relative import Relative
from headway.layers.scores.scaled import Scaled


class TransformerXL(nn.Module):
    """Transformer-XL attention: a segment looks at itself and at a memory of those before, with relative positions.

        K, V = [SG(X_mem) ; X] W_K, [SG(X_mem) ; X] W_V        Q = X W_Q        scores with `relative` positions, causal

    X_mem are the inputs of this layer at the `memory` positions before the segment, and SG stops the gradient there. A
    layer knows its inputs of all segments at once, so they are computed side by side, which is the same as one after
    the other. What stands before the first segment may be given as `memory`. Through n layers a token is reached from n
    * memory positions back (if `segment` divides `memory`: else a little more). Dai et al. 2019,
    https://arxiv.org/abs/1901.02860; lecture A.

    segment   positions of a segment
    memory    positions before a segment that it sees
    """

    aliases = ("Transformer-XL", "segment-level recurrence", "segment recurrence")
    sees, needs_positions = "past", False
    causal = True

    def __init__(self, width: int, heads: int, mask: Mask | None = None, segment: int = 64, memory: int = 64) -> None:
        super().__init__()
        if not isinstance(mask, Causal) or min(segment, memory) < 1:
            message = "`transformer_xl` reads from left to right in segments of at least 1"
            raise ConfigError(message, "give it `Causal()` as its mask.")
        self.heads, self.segment, self.memory = heads, segment, memory
        self.query = Linear(width, width)
        self.kv = Linear(width, 2 * width)  # K and V of all heads
        self.attend = Attend(Scaled(width // heads))
        self.position = Relative(width // heads, heads)
        self.output = Linear(width, width)

    def _keys(self, x: Float[Tensor, "b t d"]) -> tuple[Tensor, ...]:
        return self.kv(x).unflatten(-1, (2, self.heads, -1)).unbind(2)  # each "b t h e"

    def forward(
        self,
        x: Float[Tensor, "b t d"],
        keep: Bool[Tensor, "b t"] | None = None,
        memory: Float[Tensor, "b m d"] | None = None,
    ) -> Float[Tensor, "b t d"]:
        """`memory` are inputs of this layer at the positions before x, at most `self.memory` of which are seen.

        Padding on the right is in the future of everything real, so `keep` changes nothing.
        """
        require_right_padding(keep)
        if not x.numel():
            return self.output(x)
        b, t, _ = x.shape
        size = min(self.segment, t)
        n = -(-t // size)
        x = F.pad(x, (0, 0, 0, n * size - t))
        q = self._cut(self.query(x).unflatten(-1, (self.heads, -1)), n)
        k, v = (self._cut(y, n) for y in self._keys(x))
        allowed, past = torch.ones(size, size, dtype=torch.bool, device=x.device).tril(), 0
        if n > 1 or memory is not None:
            past = self.memory
            given = x[:, :0] if memory is None else memory[:, -past:]
            behind = self._behind(torch.cat((given, x[:, : (n - 1) * size]), 1).detach(), past - given.shape[1], size)
            k, v = (torch.cat((old, new), 2) for old, new in zip(behind, (k, v), strict=True))
            places = torch.arange(n, device=x.device)[:, None] * size + torch.arange(-past, 0, device=x.device)
            real = places >= -given.shape[1]  # there is nothing before the beginning
            allowed = torch.cat((real[:, None].expand(n, size, past), allowed.expand(n, size, size)), -1)
            allowed = allowed.repeat(b, 1, 1)[:, None]
        y = self.attend(q, k, v, allowed, bias=self.position.bias(q, k, past))
        return self.output(y.transpose(1, 2).flatten(2).unflatten(0, (b, n)).flatten(1, 2)[:, :t])

    def _cut(self, y: Float[Tensor, "b t h e"], n: int) -> Float[Tensor, "bn h _ e"]:
        """n segments side by side, as if they were rows of a batch."""
        return y.unflatten(1, (n, -1)).flatten(0, 1).transpose(1, 2)

    def _behind(self, x: Float[Tensor, "b t d"], missing: int, size: int) -> list[Tensor]:
        """Keys and values of the `memory` positions before each segment, each "(b n) h m e".

        x are all inputs but those of the last segment; it begins `missing` positions too late, where zeros stand in.
        """
        before = [F.pad(y, (0, 0, 0, 0, missing, 0)) for y in self._keys(x)]
        return [y.unfold(1, self.memory, size).flatten(0, 1).transpose(2, 3) for y in before]

    def start(self, batch: int) -> Cache:
        like = self.output.weight
        empty = like.new_empty(0, batch, self.heads, like.shape[0] // self.heads)
        return Cache(empty, empty)

    def step(self, x: Float[Tensor, "b d"], state: Cache) -> tuple[Float[Tensor, "b d"], Cache]:
        q = self.query(x).unflatten(-1, (self.heads, 1, -1))
        k, v = (y.transpose(1, 2) for y in self._keys(x.unsqueeze(1)))
        seen = min(
            state.past + 1, state.past % self.segment + 1 + self.memory
        )  # a new segment forgets all but its memory
        after = state.append(k, v, seen)
        k = after.k
        y = self.attend(q, k, after.v, bias=self.position.bias(q, k, seen - 1))
        return self.output(y.flatten(1)), after
