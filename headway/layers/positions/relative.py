import torch
from jaxtyping import Float
from torch import Tensor, nn


class Relative(nn.Module):
    """Relative positions of Transformer-XL: a score depends on the distance t - s, through sinusoids of it, and on nothing else of t and s.

        e_ts = scale (q_t . k_s + q_t . W_r R_(t-s) + u . k_s + v . W_r R_(t-s))        u, v and W_r learned

    The first term is the score's own; `bias` is the rest, on the scale of that score: 1 / sqrt(e) for `scaled` as in
    the paper, 1 for `dot`, e^-alpha for `unit_norm`, whose q and k are of length 1. A score without a scale
    (`additive`) takes 1 / sqrt(e). R_j = [sin j w_i ..., cos j w_i ...], w_i = 10000^(-2i/d), as long as all heads
    together, d = h e. Dai et al. 2019, "Transformer-XL", https://arxiv.org/abs/1901.02860, section 3.3.

    width   e, the width of a head
    """

    aliases = ("Transformer-XL positions", "relative positional encoding", "relative position")
    roles = {"u": "vector", "v": "vector", "weight": "map"}
    acts = "scores"

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.u = nn.Parameter(torch.empty(heads, 1, width))
        self.v = nn.Parameter(torch.empty(heads, 1, width))
        self.weight = nn.Parameter(torch.empty(heads, width, heads * width))  # W_r
        for parameter in (self.u, self.v):
            nn.init.normal_(parameter, std=0.02)
        nn.init.normal_(self.weight, std=(heads * width) ** -0.5)

    def turn(self, x: Float[Tensor, "b h t e"], offset: int) -> Float[Tensor, "b h t e"]:
        return x

    def bias(
        self, q: Float[Tensor, "b h t e"], k: Float[Tensor, "b h s e"], offset: int, scale: float | None = None
    ) -> Float[Tensor, "b h t s"]:
        t, s, e = q.shape[2], k.shape[2], q.shape[3]
        r = self._rows(offset + t - 1, offset - s - 1, q)  # n = t + s distances, one more than there are, see `_shift`
        asked = q + self.v
        few = q.shape[0] * t < e  # then sending the queries through W_r is cheaper than sending all the distances
        far = (asked @ self.weight) @ r.T if few else asked @ (self.weight @ r.T)
        return (self.u @ k.transpose(-2, -1) + self._shift(far, s)) * (e**-0.5 if scale is None else scale)

    def _rows(self, first: int, end: int, like: Tensor) -> Float[Tensor, "n d"]:
        """R_j for j = first, first - 1 ... end + 1; negative where the key comes after the query."""
        d = self.weight.shape[2]
        j = torch.arange(first, end, -1, dtype=torch.float64, device=like.device)[:, None]
        w = 10000.0 ** (-torch.arange(0, d, 2, dtype=torch.float64, device=like.device) / d)
        return torch.cat((torch.sin(j * w), torch.cos(j * w)), -1)[:, :d].to(like.dtype)

    def _shift(self, far: Float[Tensor, "b h t n"], s: int) -> Float[Tensor, "b h t s"]:
        """Row i of the result begins at column t - 1 - i: in memory each row begins n - 1 after the one above, so it is a view."""
        t, n = far.shape[2:]
        return far.flatten(2)[..., t - 1 : t * n - 1].unflatten(2, (t, n - 1))[..., :s]
