"""What linear_attention and performer share: weights that are products of features, phi(q) . phi(k), in O(t)."""

import torch
import torch.nn.functional as F
from einops import rearrange
from jaxtyping import Bool, Float
from torch import Tensor, nn

from headway.layers.attention.refusals import wants_causal
from headway.layers.linear import Linear
from headway.layers.masks import Mask
from headway.layers.padding import require_right_padding
from headway.layers.precision import widened

State = tuple[Float[Tensor, "b h r e"], Float[Tensor, "b h r"], Float[Tensor, "b h"]]

CHUNK = 64  # positions whose mutual weights are written out; between chunks only the sums S and z travel


class Kernel(nn.Module):
    """Attention with weights phi(q_t) . phi(k_s) / sum_s. Subclasses say how many features there are, and write `logarithm`.

        S = sum_s phi(k_s) v_s^T,    z = sum_s phi(k_s),    y_t = phi(q_t) S / phi(q_t) . z        causal: sums over s <= t

    phi is computed by its logarithm, and each query and each key is divided by its largest feature. For a query that
    cancels. For keys the largest one so far, exp(m), goes with the sums, as in an online softmax: m_t depends on s <= t
    only. What is left to underflow is phi(q) . phi(k) where the two have their largest features in different places. So
    no feature of a query is less than 5e-31 times its largest (5e-247 in float64): weights are exact where the largest
    phi(q_t) . phi(k_s) of a query, both divided so, is above 1e-21. Below that they are not, but the answer stays a
    weighted mean of the values, and gradients stay finite. Half precision is summed in float32.

    mixer      the name of the subclass, for error messages
    features   r, the length of phi
    """

    def __init__(self, width: int, heads: int, mask: Mask | None, mixer: str, features: int) -> None:
        super().__init__()
        self.heads = heads
        self.causal = wants_causal(mask, mixer)
        self.features = features  # per head
        self.project = Linear(width, 3 * width)  # Q, K and V of all heads in one product
        self.output = Linear(width, width)

    def logarithm(self, x: Float[Tensor, "*b e"]) -> Float[Tensor, "*b r"]:
        """log phi(x)."""
        raise TypeError(f"`{type(self).__name__}` is a kernel without features")

    def forward(self, x: Float[Tensor, "b t d"], keep: Bool[Tensor, "b t"] | None = None) -> Float[Tensor, "b t d"]:
        """`keep` is False at padding; in the causal form padding on the right is invisible already."""
        require_right_padding(keep)
        if not x.numel():
            return self.output(x)
        q, k, v = (y.transpose(1, 2) for y in self._split(x))  # b h t e
        a, v = self.logarithm(k), F.pad(v, (0, 1), value=1.0)  # the last column of S is then z
        q = _scaled(self.logarithm(q))[0].clamp(min=_least(q))
        if self.causal:
            y = _prefix(q, *_scaled(a), v)
        else:
            if keep is not None:
                a = a.masked_fill(~keep[:, None, :, None], float("-inf"))
            # a row of nothing but padding has no largest
            m = a.detach().amax((2, 3), keepdim=True).clamp(min=torch.finfo(a.dtype).min)
            y = q @ ((a - m).exp_().mT @ v)  # in place, here and below: memory is what long sequences wait for
        return self.output(rearrange(_ratio(y), "b h t e -> b t (h e)").to(x.dtype))

    def _split(self, x: Float[Tensor, "*b d"]) -> tuple[Tensor, ...]:
        """Q, K and V, each "*b h e"."""
        return widened(self.project(x)).unflatten(-1, (3, self.heads, -1)).unbind(-3)

    def start(self, batch: int) -> State:
        """S, z and m of nothing: the state never grows."""
        like = widened(self.output.weight[:, :0])
        s = like.new_zeros(batch, self.heads, self.features, like.shape[0] // self.heads)
        return s, s[..., 0].clone(), like.new_full((batch, self.heads), float("-inf"))

    def step(self, x: Float[Tensor, "b d"], state: State) -> tuple[Float[Tensor, "b d"], State]:
        """One position, given the sums over those before it."""
        q, k, v = self._split(x)  # b h e
        q, (k, m) = _scaled(self.logarithm(q))[0].clamp(min=_least(q)), _scaled(self.logarithm(k))
        largest = torch.maximum(state[2], m)
        old, new = (state[2] - largest).exp()[..., None], k * (m - largest).exp()[..., None]
        s, z = state[0] * old[..., None] + new[..., None] * v[..., None, :], state[1] * old + new
        y = _ratio((q[..., None, :] @ torch.cat((s, z[..., None]), -1)).squeeze(-2))
        return self.output(rearrange(y, "b h e -> b (h e)").to(x.dtype)), (s, z, largest)


def _scaled(a: Float[Tensor, "*b r"]) -> tuple[Float[Tensor, "*b r"], Float[Tensor, "*b"]]:
    """phi = exp(a) divided by its largest feature exp(m), and m. What cancels needs no gradient."""
    m = a.detach().amax(-1)
    return (a - m[..., None]).exp_(), m


def _least(x: Tensor) -> float:
    """The least feature of a query: a number whose inverse is far from overflowing."""
    return torch.finfo(x.dtype).tiny ** 0.8


def _ratio(y: Float[Tensor, "*b e1"]) -> Tensor:
    """All columns but the last, divided by the last, which is below `_least` only if there is no key: 0."""
    return y[..., :-1] / y[..., -1:].clamp(min=_least(y) / 2)


def _prefix(
    q: Float[Tensor, "b h t r"], k: Float[Tensor, "b h t r"], m: Float[Tensor, "b h t"], v: Float[Tensor, "b h t e1"]
) -> Tensor:
    """sum_{s <= t} (q_t . k_s) exp(m_s - M_t) v_s with M_t = max_{s <= t} m_s, "b h t e1"; O(t): chunks in parallel, then their sums."""
    length, c = m.shape[-1], min(CHUNK, m.shape[-1])
    missing = -length % c
    if missing:
        q, k, v = (F.pad(y, (0, 0, 0, missing)) for y in (q, k, v))
        m = F.pad(m, (0, missing), value=float("-inf"))
    largest = m.cummax(-1).values.unflatten(-1, (-1, c))  # b h n c, of n chunks
    q, k, v, m = (y.unflatten(2, (-1, c)) for y in (q, k, v, m))
    later = torch.ones(c, c, dtype=torch.bool, device=m.device).triu(1)
    decay = (m[..., None, :] - largest[..., :, None]).masked_fill_(later, float("-inf")).exp_()
    y = (q @ k.mT).mul_(decay) @ v
    last = largest[..., -1]
    # M at the end of the chunk before: the scale of what it hands on
    past = F.pad(last[..., :-1], (1, 0), value=float("-inf"))
    sums = (k * (m - last[..., None]).exp()[..., None]).mT @ v
    before = [torch.zeros_like(sums[:, :, 0])]
    for shrink, new in zip((past - last).exp()[..., None, None].unbind(2)[:-1], sums.unbind(2)[:-1], strict=True):
        before.append(before[-1] * shrink + new)
    y = y + (q @ torch.stack(before, 2)) * (past[..., None] - largest).exp()[..., None]
    return y.flatten(2, 3)[:, :, :length]
