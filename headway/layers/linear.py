"""y = W x + b with W laid out for the products of decoding, which multiply few rows again and again.

    one row            as it is, read by all threads (`one_row.py`)
    a few rows         the blocks of oneDNN's kernel
    while training     as it is

A layout is made when it is first needed in `torch.inference_mode()`, and made anew when the weights have changed.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from headway.layers import compiled, one_row
from headway.layers.products import MULTIPLY, linear

BLOCK: Any = getattr(getattr(torch.ops.mkldnn, "_reorder_linear_weight", None), "default", None)
LEAST = 1 << 17  # weights from which on the threads of `one_row` are faster than a call of torch
ROWS = 64  # what the blocks are chosen for; they serve any number of rows


class Kept(NamedTuple):
    """The weights that a layout was made of, and the layout."""

    weight: Tensor  # as they were
    version: int  # torch's count of changes to them
    layout: Tensor  # made of them


class Layouts:
    """The layouts of one matrix W. A copy of this object begins without any: they can be made, and not be copied."""

    def __init__(self) -> None:
        self.few: Kept | None = None  # for a few rows

    def __reduce__(self) -> tuple[type["Layouts"], tuple[()]]:
        return Layouts, ()

    def multiply(
        self, x: Float[Tensor, "*b i"], weight: Float[Tensor, "o i"], bias: Float[Tensor, "o"] | None
    ) -> Float[Tensor, "*b o"]:
        """x W^T + b, in inference mode. Weights that are no parameter in memory (sharded, computed) are used as they are."""
        outputs, inputs = weight.shape
        fits = x.numel() > 0 and x.shape[-1] == inputs and x.is_cpu and x.dtype == torch.float32
        if not fits or not is_usable(weight):
            return F.linear(x, weight, bias)
        if x.numel() == inputs:
            many = outputs * inputs >= LEAST and compiled.library() and (bias is None or is_plain(bias))
            return one_row.linear(x.contiguous(), weight, bias) if many else F.linear(x, weight, bias)
        return MULTIPLY(x, self.for_few(weight), bias, "none", [], "")  # type: ignore[no-any-return]

    def for_few(self, weight: Float[Tensor, "o i"]) -> Float[Tensor, "o i"]:
        """W laid out for a few rows, which only oneDNN can read."""
        if (few := self.few) is None or _changed(few, weight):
            few = self.few = Kept(weight.detach(), weight._version, BLOCK(weight.detach(), ROWS))
        return few.layout


def is_plain(x: Tensor) -> bool:
    """Whether C can read it: float32 numbers in main memory, one after the other."""
    return x.is_cpu and x.dtype == torch.float32 and x.is_contiguous()


def is_usable(weight: Tensor) -> bool:
    """Whether this is a parameter in the memory of the processor, of which a layout can be made and kept."""
    kept = type(weight) is nn.Parameter and not weight.is_inference()
    return kept and is_plain(weight) and BLOCK is not None


def _changed(kept: Kept, weight: Tensor) -> bool:
    """Whether these are other weights: a new version (written in place) or another address (`.data = w`, `assign=True`).

    The old weights are held, so that their address cannot be given to new ones. In-place writes through `.data` are
    hidden from torch's count too.
    """
    return kept.version != weight._version or kept.weight.data_ptr() != weight.data_ptr()


class Linear(nn.Linear):
    """torch's linear map y = W x + b, with weights laid out for decoding.

    in_features, out_features   entries of x and of y
    bias                        whether b is added
    """

    def __init__(self, in_features: int, out_features: int, bias: bool = True) -> None:
        super().__init__(in_features, out_features, bias)
        self.layouts = Layouts()

    def forward(self, x: Float[Tensor, "*b i"]) -> Float[Tensor, "*b o"]:
        if torch.is_inference_mode_enabled():
            return self.layouts.multiply(x, self.weight, self.bias)
        return linear(x, self.weight, self.bias)

    def prepared(self, one: bool, relu: bool = False) -> Callable[[Float[Tensor, "b i"]], Float[Tensor, "b o"]]:
        """x -> W x + b, or max(0, W x + b), with the weights of now: for one row, or for several. In inference mode.

        one    whether there is one row
        relu   whether negative numbers become 0
        """
        weight, bias, plain, multiply = self.weight, self.bias, F.linear, MULTIPLY
        if one or not is_usable(weight):
            return (lambda x: plain(x, weight, bias).relu_()) if relu else lambda x: plain(x, weight, bias)
        blocks, after = self.layouts.for_few(weight), "relu" if relu else "none"
        return lambda x: multiply(x, blocks, bias, after, [], "")
