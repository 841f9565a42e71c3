import torch
from jaxtyping import Float
from torch import Tensor

from headway.layers.recurrences.recurrence import GatedRecurrence, State


class Elman(GatedRecurrence):
    """Elman network: z_t = tanh(U z_{t-1} + V x_t + b).

    Gradients pass through a product of Jacobians, so they vanish or explode: what LSTM and GRU were made to mend.
    Elman 1990, "Finding structure in time", https://doi.org/10.1207/s15516709cog1402_1; lectures C and D.
    """

    aliases = ("RNN", "simple recurrent network", "vanilla RNN", "recurrent neural network")
    sees, needs_positions = "past", False
    gates, vectors = 1, 1
    fused = staticmethod(torch.rnn_tanh)

    def cell(self, wx: Float[Tensor, "b gd"], state: State) -> State:
        return ((wx + self.hidden(state[0])).tanh(),)
