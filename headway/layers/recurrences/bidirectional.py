from collections.abc import Mapping
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from headway.core.errors import ConfigError
from headway.layers.padding import require_right_padding, reverse_rows
from headway.layers.recurrences.recurrence import GatedRecurrence, State


class Bidirectional(nn.Module):
    """Both directions, concatenated: y_t = [forward_t ; backward_t], each of half the width.

    `cell` is the class of any causal recurrence (elman, lstm, lru, s4, mamba ...), and `options` are numbers for it,
    such as `{"states": 16}`. The backward one reads the tokens of each row from the last to the first; padding stays on
    the right. Sees the future, so it serves encoders only. Schuster & Paliwal 1997, https://doi.org/10.1109/78.650093.

    cell      the class of a causal recurrence
    options   numbers for it
    """

    aliases = ("bidirectional RNN", "BiRNN", "BiLSTM")
    causal = False

    def __init__(
        self, cell: type[nn.Module], inputs: int, width: int, options: Mapping[str, int | float] | None = None
    ) -> None:
        super().__init__()
        if width % 2:
            raise ConfigError(f"`width` is {width}, expected an even number", "each direction has half of it.")
        if getattr(cell, "sees", "all") != "past":
            hint = "give a causal recurrence, such as `LSTM`."
            raise ConfigError(f"`{cell.__name__}` sees both directions already", hint)
        self.ahead: Any = cell(inputs, width // 2, **(options or {}))
        self.back: Any = cell(inputs, width // 2, **(options or {}))

    def forward(self, x: Float[Tensor, "b t i"], keep: Bool[Tensor, "b t"] | None = None) -> Float[Tensor, "b t d"]:
        require_right_padding(keep)
        back = self.back(reverse_rows(x, keep), keep)
        return torch.cat((self.ahead(x, keep), reverse_rows(back, keep)), -1)

    def scan(
        self, x: Float[Tensor, "b t i"], keep: Bool[Tensor, "b t"] | None = None
    ) -> tuple[Float[Tensor, "b t d"], State]:
        """Outputs, and the last state of each direction side by side (the backward one ends at the first token)."""
        if not isinstance(self.ahead, GatedRecurrence):
            name = type(self.ahead).__name__
            raise ConfigError(f"the last state of `{name}` is not one vector", "take a cell, such as `LSTM` or `GRU`.")
        ahead, last = self.ahead.scan(x, keep)
        back, first = self.back.scan(reverse_rows(x, keep), keep)
        states = tuple(torch.cat(pair, -1) for pair in zip(last, first, strict=True))
        return torch.cat((ahead, reverse_rows(back, keep)), -1), states
