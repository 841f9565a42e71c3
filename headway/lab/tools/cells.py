"""Cells beside those of the package, for single steps: an Elman network with another function, and GRUs that mix wrongly."""

from torch import Tensor

from headway.layers.recurrences.elman import Elman
from headway.layers.recurrences.gru import GRU
from headway.layers.recurrences.recurrence import State


class Logistic(Elman):
    def cell(self, wx: Tensor, state: State) -> State:
        return ((wx + self.hidden(state[0])).sigmoid(),)


class Linear(Elman):
    def cell(self, wx: Tensor, state: State) -> State:
        return (wx + self.hidden(state[0]),)


class PrintedGRU(GRU):
    """z_t = u ⊙ z_{t-1} + (1 - u) ⊙ r with the reset gate r where the candidate belongs (erratum C18)."""

    def cell(self, wx: Tensor, state: State) -> State:
        r, u, _ = (wx + self.hidden(state[0])).chunk(3, -1)
        return (u.sigmoid() * state[0] + (1 - u.sigmoid()) * r.sigmoid(),)


class SumGRU(GRU):
    """Adds the next state to the one before, where a GRU mixes."""

    def cell(self, wx: Tensor, state: State) -> State:
        return (state[0] + super().cell(wx, state)[0],)
