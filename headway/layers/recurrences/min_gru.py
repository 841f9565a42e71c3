from jaxtyping import Bool, Float
from torch import Tensor, nn

from headway.layers.recurrences.scan import linear_scan

State = tuple[Float[Tensor, "b d"]]


class MinGRU(nn.Module):
    """Minimal gated recurrent unit: a gate that sees the input only, so that training is a prefix scan.

        h_t = s * h_{t-1} + (1 - s) * V x_t        s = sigmoid(G x_t)

    A GRU whose gate and candidate forget to look at h_{t-1}. The scan here is exact without the paper's detour through logarithms, so
    candidates may have either sign. Feng et al. 2024, "Were RNNs all we needed?", https://arxiv.org/abs/2410.01201; lecture C, which
    calls it LRU (erratum C19).
    """

    aliases = ("minimal GRU", "linear recurrent model", "Were RNNs all we needed?")
    causal = True

    def __init__(self, inputs: int, width: int) -> None:
        super().__init__()
        self.width = width
        self.input = nn.Linear(inputs, 2 * width)  # G and V

    def _gates(self, x: Float[Tensor, "*b i"]) -> tuple[Float[Tensor, "*b d"], Float[Tensor, "*b d"]]:
        g, v = self.input(x).chunk(2, -1)
        return g.sigmoid(), (-g).sigmoid() * v

    def start(self, batch: int) -> State:
        return (self.input.weight.new_zeros(batch, self.width),)

    def step(self, x: Float[Tensor, "b i"], state: State) -> tuple[Float[Tensor, "b d"], State]:
        a, b = self._gates(x)
        h = a * state[0] + b
        return h, (h,)

    def forward(self, x: Float[Tensor, "b t i"], keep: Bool[Tensor, "b t"] | None = None) -> Float[Tensor, "b t d"]:
        """Padding on the right is in the future of all that is kept, so `keep` changes nothing."""
        return linear_scan(*self._gates(x))
