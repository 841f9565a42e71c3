import torch
from jaxtyping import Float
from torch import Tensor

from headway.layers.recurrences.recurrence import GatedRecurrence, State


class LSTM(GatedRecurrence):
    """Long short-term memory: a cell c that is kept, written and read through gates.

        i, f, o = sigmoid(W x + U h + b)      g = tanh(W_g x + U_g h + b_g)
        c' = f * c + i * g                    h' = o * tanh(c')

    Hochreiter & Schmidhuber 1997, https://doi.org/10.1162/neco.1997.9.8.1735. The forget gate starts open (bias 1).
    """

    aliases = ("long short-term memory",)
    sees, needs_positions = "past", False
    gates, vectors = 4, 2
    fused = staticmethod(torch.lstm)

    def __init__(self, inputs: int, width: int) -> None:
        super().__init__(inputs, width)
        self.input.bias.data[width : 2 * width] += 1.0  # Jozefowicz et al. 2015: remember unless learned otherwise

    def cell(self, wx: Float[Tensor, "b gd"], state: State) -> State:
        h, c = state
        i, f, g, o = (wx + self.hidden(h)).chunk(4, -1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        return o.sigmoid() * c.tanh(), c
