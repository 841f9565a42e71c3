import torch
from jaxtyping import Float
from torch import Tensor

from headway.layers.recurrences.recurrence import GatedRecurrence, State


class GRU(GatedRecurrence):
    """Gated recurrent unit: one state that is its own memory.

        r, u = sigmoid(W x + U h + b)         n = tanh(W_n x + b_n + r * (U_n h + c_n))
        h' = (1 - u) * n + u * h

    Cho et al. 2014, https://arxiv.org/abs/1406.1078, in the form that torch and cuDNN use (the reset gate acts after the product).
    """

    aliases = ("gated recurrent unit",)
    sees, needs_positions = "past", False
    gates, vectors = 3, 1
    fused = staticmethod(torch.gru)

    def cell(self, wx: Float[Tensor, "b gd"], state: State) -> State:
        (h,) = state
        wr, wu, wn = wx.chunk(3, -1)
        ur, uu, un = self.hidden(h).chunk(3, -1)
        n = (wn + (wr + ur).sigmoid() * un).tanh()
        return (n + (wu + uu).sigmoid() * (h - n),)
