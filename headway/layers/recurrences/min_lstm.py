import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from headway.layers.recurrences.scan import linear_scan

State = tuple[Float[Tensor, "b d"]]


class MinLSTM(nn.Module):
    """Minimal long short-term memory: forget and input gates that see the input only and sum to one.

        h_t = f' * h_{t-1} + i' * V x_t        f' = f / (f + i)        i' = i / (f + i)        f, i = sigmoid(G x_t)

    Dividing by f + i keeps the size of the state independent of the length. Feng et al. 2024, https://arxiv.org/abs/2410.01201.
    """

    aliases = ("minimal LSTM",)
    causal = True

    def __init__(self, inputs: int, width: int) -> None:
        super().__init__()
        self.width = width
        self.input = nn.Linear(inputs, 3 * width)  # G of f, G of i, and V

    def _gates(self, x: Float[Tensor, "*b i"]) -> tuple[Float[Tensor, "*b d"], Float[Tensor, "*b d"]]:
        f, i, v = self.input(x).chunk(3, -1)
        odds = F.logsigmoid(f) - F.logsigmoid(i)  # f / (f + i) = sigmoid(log f - log i), also where both underflow
        return odds.sigmoid(), (-odds).sigmoid() * v

    def start(self, batch: int) -> State:
        return (self.input.weight.new_zeros(batch, self.width),)

    def step(self, x: Float[Tensor, "b i"], state: State) -> tuple[Float[Tensor, "b d"], State]:
        a, b = self._gates(x)
        h = a * state[0] + b
        return h, (h,)

    def forward(self, x: Float[Tensor, "b t i"], keep: Bool[Tensor, "b t"] | None = None) -> Float[Tensor, "b t d"]:
        """Padding on the right is in the future of all that is kept, so `keep` changes nothing."""
        return linear_scan(*self._gates(x))
