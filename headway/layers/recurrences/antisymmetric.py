from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.utils.parametrize import register_parametrization

from headway.layers.recurrences.recurrence import GatedRecurrence, State
from headway.layers.recurrences.skew import Skew


class Antisymmetric(GatedRecurrence):
    """Antisymmetric RNN: steps of Euler's method along an equation that neither explodes nor forgets.

        h_t = h_{t-1} + epsilon tanh((W - W^T - gamma I) h_{t-1} + V x_t + b)

    W - W^T has imaginary eigenvalues only; gamma pays for the error of Euler's steps. Chang et al. 2019,
    https://arxiv.org/abs/1902.09689; lecture D.
    """

    aliases = ("antisymmetric RNN", "AntisymmetricRNN")
    sees, needs_positions = "past", False
    gates, vectors = 1, 1

    def __init__(self, inputs: int, width: int, epsilon: float = 0.1, gamma: float = 0.01) -> None:
        super().__init__(inputs, width)
        self.epsilon = epsilon
        nn.init.normal_(self.hidden.weight, std=width**-0.5)
        register_parametrization(self.hidden, "weight", Skew(1.0, gamma))

    def cell(self, wx: Float[Tensor, "b gd"], state: State) -> State:
        (h,) = state
        return (h + self.epsilon * (wx + self.hidden(h)).tanh(),)
