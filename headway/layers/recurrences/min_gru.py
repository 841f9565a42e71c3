from jaxtyping import Float
from torch import Tensor

from headway.layers.recurrences.gated_scan import GatedScan


class MinGRU(GatedScan):
    """Minimal gated recurrent unit: a gate that sees the input only, so that training is a prefix scan.

        h_t = s * h_{t-1} + (1 - s) * V x_t        s = sigmoid(G x_t)

    A GRU whose gate and candidate do not depend on h_{t-1}. The scan here is exact without the paper's logarithms, so
    candidates may have either sign. Feng et al. 2024, "Were RNNs all we needed?", https://arxiv.org/abs/2410.01201; lecture C, which
    calls it LRU (erratum C19).
    """

    aliases = ("minimal GRU", "linear recurrent model", "Were RNNs all we needed?")
    sees, needs_positions = "past", False

    def __init__(self, inputs: int, width: int) -> None:
        super().__init__(inputs, width, products=2)  # G and V

    def coefficients(self, x: Float[Tensor, "*b i"]) -> tuple[Float[Tensor, "*b d"], Float[Tensor, "*b d"]]:
        g, v = self.input(x).chunk(2, -1)
        return g.sigmoid(), (-g).sigmoid() * v
