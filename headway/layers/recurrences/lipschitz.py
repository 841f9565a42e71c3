import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.utils.parametrize import register_parametrization

from headway.core.errors import ConfigError
from headway.layers.recurrences.recurrence import GatedRecurrence, State
from headway.layers.recurrences.skew import Skew


class Lipschitz(GatedRecurrence):
    """Lipschitz RNN: a stable linear part beside a nonlinear one, both with a chosen symmetric part.

        h_t = h_{t-1} + epsilon (A h_{t-1} + tanh(W h_{t-1} + U x_t + b))
        A = (1 - beta) (M + M^T) + beta (M - M^T) - gamma I,        W likewise from its own M

    beta between 1/2 (M free) and 1 (skew) sets how much of the symmetric part, which alone makes states grow or shrink, is left.
    Erichson et al. 2021, https://arxiv.org/abs/2006.12070; lecture D.

    beta   from 1/2 (M free) to 1 (skew)
    """

    aliases = ("Lipschitz RNN", "LipschitzRNN")
    sees, needs_positions = "past", False
    gates, vectors = 1, 1

    def __init__(
        self, inputs: int, width: int, epsilon: float = 0.03, beta: float = 0.75, gamma: float = 0.001
    ) -> None:
        super().__init__(inputs, width)
        if not 0.5 <= beta <= 1:
            raise ConfigError(f"`beta` is {beta}, expected a number between 0.5 and 1", "write `beta=0.75`.")
        self.epsilon = epsilon
        self.linear = nn.Linear(width, width, bias=False)
        for matrix in (self.linear, self.hidden):
            nn.init.normal_(matrix.weight, std=width**-0.5)
            register_parametrization(matrix, "weight", Skew(beta, gamma))

    def cell(self, wx: Float[Tensor, "b gd"], state: State) -> State:
        (h,) = state
        return (h + self.epsilon * (F.linear(h, self.linear.weight) + (wx + self.hidden(h)).tanh()),)
