"""The decoder that looks back at the source before its recurrence reads a word: Bahdanau, Cho, Bengio 2015."""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from headway.layers.attention.cross import Remembered
from headway.layers.dropout import Dropout
from headway.layers.recurrences.stacked import Stacked
from headway.models.luong import SoftAlignment, one_by_one
from headway.models.rnn_seq2seq import States


class Bahdanau(nn.Module):
    """The state of the position before asks, and what is found enters the recurrence; one position after the other.

        c_t = attention(s_{t-1})        s_t = f(s_{t-1}, [y_{t-1} ; c_t])        out_t = tanh(W [s_t ; c_t ; y_{t-1}])

    Appendix A.2 of the paper, where the output is a maxout layer in place of tanh. With several layers the top one
    asks.
    """

    def __init__(self, cell: Any, score: Any, width: int, depth: int, dropout: float) -> None:
        super().__init__()
        self.layers = Stacked([cell(width if layer else 2 * width, width) for layer in range(depth)], dropout)
        self.attention = SoftAlignment(score(width))
        self.combine, self.dropout = nn.Linear(3 * width, width), Dropout(dropout)

    def start(self, state: States) -> States:
        """Before the first word: `state` is what the encoder gives each layer."""
        return state

    def forward(self, y: Float[Tensor, "b t d"], state: States, seen: Remembered) -> Float[Tensor, "b t d"]:
        return one_by_one(self, y, state, seen)

    def step(self, y: Float[Tensor, "bk d"], state: States, seen: Remembered) -> tuple[Float[Tensor, "bk d"], States]:
        c = self.attention.step(state[-1][0], seen)
        s, state = self.layers.step(torch.cat((y, c), -1), state)
        return self.dropout(self.combine(torch.cat((s, c, y), -1)).tanh()), state
