import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from headway.layers.recurrences.gated_scan import GatedScan


class MinLSTM(GatedScan):
    """Minimal long short-term memory: forget and input gates that see the input only and sum to one.

        h_t = f' * h_{t-1} + i' * V x_t        f' = f / (f + i)        i' = i / (f + i)        f, i = sigmoid(G x_t)

    Dividing by f + i keeps the size of the state independent of the length. Feng et al. 2024, https://arxiv.org/abs/2410.01201.
    """

    aliases = ("minimal LSTM",)
    sees, needs_positions = "past", False

    def __init__(self, inputs: int, width: int) -> None:
        super().__init__(inputs, width, products=3)  # G of f, G of i, and V

    def coefficients(self, x: Float[Tensor, "*b i"]) -> tuple[Float[Tensor, "*b d"], Float[Tensor, "*b d"]]:
        f, i, v = self.input(x).chunk(3, -1)
        odds = F.logsigmoid(f) - F.logsigmoid(i)  # f / (f + i) = sigmoid(log f - log i), also where both underflow
        return odds.sigmoid(), (-odds).sigmoid() * v
