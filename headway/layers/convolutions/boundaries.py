"""What a filter sees beyond the ends of a signal, as values: `Valid()`, `Same()`, `Circular()`, `Causal()`, `Full()`.

A filter w of m taps on a signal x of n positions computes y(k) = sum_i w(i) x(k + i - left), i = 0 .. m - 1. A boundary says how many
values stand before and after the signal, and what they are; how many outputs there are follows. Lecture D, "Boundary conditions".

    boundary     before     after             the values                    outputs
    Valid        0          0                 none                          n - m + 1
    Same         m // 2     m - 1 - m // 2    zero                          n
    Circular     0          m - 1             the signal's start again      n
    Causal       m - 1      0                 zero                          n
    Full         m - 1      m - 1             zero                          n + m - 1
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Num
from torch import Tensor

from headway.core.errors import ConfigError


class Boundary:
    """A rule for both ends of a signal along one axis."""

    causal = False  # whether output k sees nothing after position k
    zeros = True  # whether what stands beyond the ends is zero

    def ends(self, kernel: int) -> tuple[int, int]:
        """How many values stand before and after the signal."""
        raise TypeError(f"`{type(self).__name__}` is a boundary without a rule")

    def outputs(self, length: int, kernel: int, stride: int = 1) -> int:
        """How many places the filter has on a signal of that length."""
        if length + sum(self.ends(kernel)) < kernel or not length:
            raise ConfigError(
                f"a signal of {length} positions has no place for a filter of {kernel} under `{type(self).__name__}()`",
                f"use a `kernel` of at most {length}, or `Same()`, which takes signals of any length"
                if length
                else "leave it out",
            )
        return (length + sum(self.ends(kernel)) - kernel) // stride + 1

    def pad(self, x: Num[Tensor, "..."], kernel: int, axis: int = -1) -> Num[Tensor, "..."]:
        """The signal with its ends; a negative axis says along which."""
        self.outputs(x.shape[axis], kernel)
        return F.pad(x, (0, 0) * (-1 - axis) + self.ends(kernel))

    def pad_rows(self, x: Float[Tensor, "b s d"], keep: Bool[Tensor, "b s"], kernel: int) -> Float[Tensor, "b t d"]:
        """As `pad` along s, but each row ends where its `keep` ends: what stands there is no part of the signal."""
        return self.pad(x.masked_fill(~keep[..., None], 0.0), kernel, axis=-2)


@dataclass(frozen=True)
class Valid(Boundary):
    """Nothing: the filter stays inside the signal."""

    def ends(self, kernel: int) -> tuple[int, int]:
        return 0, 0


@dataclass(frozen=True)
class Same(Boundary):
    """Zeros on both sides. A filter of even size leans to the left, as in lecture D and numpy; torch's leans to the right."""

    def ends(self, kernel: int) -> tuple[int, int]:
        return kernel // 2, kernel - 1 - kernel // 2


@dataclass(frozen=True)
class Causal(Boundary):
    """Zeros on the left: output k sees the positions k - m + 1 .. k."""

    causal = True

    def ends(self, kernel: int) -> tuple[int, int]:
        return kernel - 1, 0


@dataclass(frozen=True)
class Full(Boundary):
    """Zeros wherever the filter touches the signal at all: the infinite sum of lecture C, without its zeros."""

    def ends(self, kernel: int) -> tuple[int, int]:
        return kernel - 1, kernel - 1


@dataclass(frozen=True)
class Circular(Boundary):
    """The signal is periodic: x(k + n) = x(k). Shifting the input then shifts the output, without exception."""

    zeros = False

    def ends(self, kernel: int) -> tuple[int, int]:
        return 0, kernel - 1

    def pad(self, x: Num[Tensor, "..."], kernel: int, axis: int = -1) -> Num[Tensor, "..."]:
        self.outputs(x.shape[axis], kernel)
        return x.index_select(axis, torch.arange(x.shape[axis] + kernel - 1, device=x.device) % x.shape[axis])

    def pad_rows(self, x: Float[Tensor, "b s d"], keep: Bool[Tensor, "b s"], kernel: int) -> Float[Tensor, "b t d"]:
        """Each row is periodic with its own length, so padding must stand on the right."""
        lengths = keep.sum(1, keepdim=True).clamp(min=1)
        places = torch.arange(x.shape[1] + kernel - 1, device=x.device) % lengths
        return x.gather(1, places[..., None].expand(-1, -1, x.shape[2]))
