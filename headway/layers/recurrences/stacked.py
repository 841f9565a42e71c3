from typing import Any

from jaxtyping import Bool, Float
from torch import Tensor, nn

from headway.layers.dropout import Dropout
from headway.layers.recurrences.bidirectional import Bidirectional
from headway.layers.recurrences.recurrence import GatedRecurrence, State


class Stacked(nn.Module):
    """Recurrences on top of each other: the outputs of one are the inputs of the next.

    Sutskever, Vinyals, Le 2014, https://arxiv.org/abs/1409.3215, found depth to matter; lecture A, "stacked seq2seq model".

    layers    from the bottom to the top
    dropout   the share of each layer's inputs that training sets to zero
    """

    aliases = ("stacked RNN", "deep RNN")

    def __init__(self, layers: list[GatedRecurrence | Bidirectional], dropout: float = 0.0) -> None:
        super().__init__()
        self.layers: Any = nn.ModuleList(layers)
        self.dropout = Dropout(dropout)
        self.causal = all(layer.causal for layer in layers)

    def forward(self, x: Float[Tensor, "b t i"], keep: Bool[Tensor, "b t"] | None = None) -> Float[Tensor, "b t d"]:
        return self.scan(x, keep)[0]

    def scan(
        self,
        x: Float[Tensor, "b t i"],
        keep: Bool[Tensor, "b t"] | None = None,
        states: tuple[State, ...] | None = None,
    ) -> tuple[Float[Tensor, "b t d"], tuple[State, ...]]:
        """Outputs of the top layer, and the last state of each layer."""
        last = []
        for number, layer in enumerate(self.layers):
            x, state = (
                layer.scan(self.dropout(x), keep, states[number]) if states else layer.scan(self.dropout(x), keep)
            )
            last.append(state)
        return x, tuple(last)

    def start(self, batch: int) -> tuple[State, ...]:
        return tuple(layer.start(batch) for layer in self.layers)

    def step(
        self, x: Float[Tensor, "b i"], states: tuple[State, ...]
    ) -> tuple[Float[Tensor, "b d"], tuple[State, ...]]:
        after = []
        for layer, state in zip(self.layers, states, strict=True):
            x, state = layer.step(self.dropout(x), state)
            after.append(state)
        return x, tuple(after)
