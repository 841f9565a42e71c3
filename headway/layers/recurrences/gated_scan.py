from jaxtyping import Bool, Float
from torch import Tensor, nn

from headway.layers.linear import Linear
from headway.layers.padding import require_right_padding
from headway.layers.recurrences.scan import linear_scan

State = tuple[Float[Tensor, "b d"]]


class GatedScan(nn.Module):
    """What minGRU and minLSTM share: h_t = a_t * h_{t-1} + b_t, where a and b see the input only. Subclasses write `coefficients`.

    products   how many vectors of the width are computed from an input
    """

    causal = True

    def __init__(self, inputs: int, width: int, products: int) -> None:
        super().__init__()
        self.width = width
        self.input = Linear(inputs, products * width)

    def coefficients(self, x: Float[Tensor, "*b i"]) -> tuple[Float[Tensor, "*b d"], Float[Tensor, "*b d"]]:
        """a and b."""
        raise TypeError(f"`{type(self).__name__}` is a recurrence without coefficients")

    def start(self, batch: int) -> State:
        return (self.input.weight.new_zeros(batch, self.width),)

    def step(self, x: Float[Tensor, "b i"], state: State) -> tuple[Float[Tensor, "b d"], State]:
        a, b = self.coefficients(x)
        h = a * state[0] + b
        return h, (h,)

    def forward(self, x: Float[Tensor, "b t i"], keep: Bool[Tensor, "b t"] | None = None) -> Float[Tensor, "b t d"]:
        """Padding on the right is in the future of all that is kept, so `keep` changes nothing."""
        require_right_padding(keep)
        return linear_scan(*self.coefficients(x))
