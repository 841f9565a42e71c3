"""Which keys a query may look at, as values that compose: `Causal() & Window(128)`, `Window(64) | First(1)`.

The lecture's masked attention multiplies by a 0/1 matrix M before normalising; M_ts = 1 where position t may see position s.
A mask here is a rule for M that holds at any length; `matrix(t, s)` writes it out.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Bool
from torch import Tensor


class Mask:
    """A rule that says which key positions s a query position t may see."""

    def allows(self, t: Tensor, s: Tensor) -> Tensor:
        """Elementwise rule on positions that broadcast against each other."""
        raise TypeError(f"`{type(self).__name__}` is a mask without a rule")

    @property
    def causal(self) -> bool:
        """Whether nothing of the future is allowed, at any length."""
        return False

    @property
    def reach(self) -> int | None:
        """How many keys back, its own included, a query may look; None: to the beginning."""
        return None

    def plain(self, length: int) -> bool:
        """Whether up to this length the rule is just `s <= t`, which fused kernels compute without a matrix."""
        return False

    def matrix(
        self, queries: int, keys: int, offset: int = 0, first: int = 0, device: torch.device | None = None
    ) -> Bool[Tensor, "t s"]:
        """The rule as a matrix; the first query stands at position `offset`, the first key at position `first`."""
        t, s = (torch.arange(a, a + n, device=device) for a, n in ((offset, queries), (first, keys)))
        return self.allows(t[:, None], s[None, :])

    def __and__(self, other: "Mask") -> "Mask":
        return Both(self, other)

    def __or__(self, other: "Mask") -> "Mask":
        return Either(self, other)


@dataclass(frozen=True)
class Everything(Mask):
    """No mask: M_ts = 1, every position sees every position.

    A padding mask is not one of these rules: it belongs to a batch, and layers take it as `keep`.
    """

    aliases = ("no mask", "full attention", "unmasked attention")

    def allows(self, t: Tensor, s: Tensor) -> Tensor:
        return torch.ones_like(t + s, dtype=torch.bool)


@dataclass(frozen=True)
class Causal(Mask):
    """Causal mask: M_ts = 1 where s <= t, so the future is invisible."""

    aliases = ("causal mask", "look-ahead mask", "autoregressive mask", "masked self-attention mask")

    @property
    def causal(self) -> bool:
        return True

    def plain(self, length: int) -> bool:
        return True

    def allows(self, t: Tensor, s: Tensor) -> Tensor:
        return s <= t


@dataclass(frozen=True)
class Window(Mask):
    """Window: M_ts = 1 where |t - s| < size, so only neighbours are seen."""

    aliases = ("window mask", "sliding window mask", "local attention mask", "band mask")

    size: int  # 1 sees the position itself only

    @property
    def causal(self) -> bool:
        return self.size <= 1

    @property
    def reach(self) -> int | None:
        return self.size

    def allows(self, t: Tensor, s: Tensor) -> Tensor:
        return (t - s).abs() < self.size


@dataclass(frozen=True)
class First(Mask):
    """First keys: M_ts = 1 where s < count, so everybody sees those."""

    aliases = ("global token mask", "global tokens")

    count: int  # how many keys at the beginning

    @property
    def causal(self) -> bool:
        return self.count <= 1

    def allows(self, t: Tensor, s: Tensor) -> Tensor:
        return (s < self.count).expand(torch.broadcast_shapes(t.shape, s.shape))


@dataclass(frozen=True, eq=False)
class Matrix(Mask):
    """Any 0/1 matrix M, written out; what lies outside of it is not allowed. Any order of the positions is such a matrix."""

    aliases = ("0/1 mask", "attention mask matrix", "arbitrary mask", "permutation mask")

    values: Bool[Tensor, "t s"]  # True where t may see s

    @property
    def causal(self) -> bool:
        return not bool(self.values.triu(1).any())

    def allows(self, t: Tensor, s: Tensor) -> Tensor:
        rows, columns = self.values.shape
        inside = (t < rows) & (s < columns)
        return self.values.to(t.device)[t.clamp(max=rows - 1), s.clamp(max=columns - 1)] & inside


@dataclass(frozen=True)
class Both(Mask):
    """Two rules at once, `left & right`: M_ts = 1 where both allow it."""

    left: Mask  # one rule
    right: Mask  # the other

    @property
    def causal(self) -> bool:
        return self.left.causal or self.right.causal

    @property
    def reach(self) -> int | None:
        return min((r for r in (self.left.reach, self.right.reach) if r is not None), default=None)

    def plain(self, length: int) -> bool:
        rules = {type(self.left), type(self.right)}
        return rules == {Causal, Window} and length <= (self.reach or length)

    def allows(self, t: Tensor, s: Tensor) -> Tensor:
        return self.left.allows(t, s) & self.right.allows(t, s)


@dataclass(frozen=True)
class Either(Mask):
    left: Mask  # one rule
    right: Mask  # the other

    @property
    def causal(self) -> bool:
        return self.left.causal and self.right.causal

    @property
    def reach(self) -> int | None:
        reaches = self.left.reach, self.right.reach
        return None if None in reaches else max(r for r in reaches if r is not None)

    def allows(self, t: Tensor, s: Tensor) -> Tensor:
        return self.left.allows(t, s) | self.right.allows(t, s)
