from collections.abc import Mapping
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from headway.layers.recurrences.recurrence import State


class Bidirectional(nn.Module):
    """Both directions, concatenated: y_t = [forward_t ; backward_t], each of half the width.

    Schuster & Paliwal 1997, https://doi.org/10.1109/78.650093. Sees the future, so it serves encoders only.
    """

    aliases = ("bidirectional RNN", "BiRNN", "BiLSTM")
    causal = False

    def __init__(
        self, cell: type[nn.Module], inputs: int, width: int, options: Mapping[str, int | float] | None = None
    ) -> None:
        super().__init__()
        self.ahead: Any
        self.back: Any
        self.ahead, self.back = (cell(inputs, width // 2, **(options or {})) for _ in range(2))

    def forward(self, x: Float[Tensor, "b t i"], keep: Bool[Tensor, "b t"] | None = None) -> Float[Tensor, "b t d"]:
        """The backward direction reads the real tokens of each row in reverse; padding stays where it is, on the right."""
        t = torch.arange(x.shape[1], device=x.device)
        last = t[-1:] if keep is None else keep.sum(1, keepdim=True) - 1
        turned = torch.where(t <= last, last - t, t).expand(len(x), -1)[..., None]
        back = self.back(x.gather(1, turned.expand_as(x)), keep)
        return torch.cat((self.ahead(x, keep), back.gather(1, turned.expand_as(back))), -1)

    def scan(
        self, x: Float[Tensor, "b t i"], keep: Bool[Tensor, "b t"] | None = None
    ) -> tuple[Float[Tensor, "b t d"], State]:
        """Outputs, and the last state of each direction side by side (the backward one ends at the first token)."""
        ahead, last = self.ahead.scan(x, keep)
        back, first = self.back.scan(x, keep, backward=True)
        return torch.cat((ahead, back), -1), tuple(torch.cat(pair, -1) for pair in zip(last, first, strict=True))
