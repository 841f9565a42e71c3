import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from headway.layers.convolutions.sizes import demand_sizes


class MaxPooling(nn.Module):
    """Max pooling: Y[k, l] = max of X[s k + i, s l + j] over i, j = 0 .. p - 1; the strongest answer in each p x p window.

    The stride s is p unless said otherwise (windows side by side); s = 1 is un-strided pooling. (p, q) is a window of p rows and q
    columns, so (1, p) pools a signal that is one row. A window has p elements, not the p + 1 that lecture D prints (erratum D4).
    Permuting a window changes nothing; shifting the image does, except by whole strides (erratum D8). Lectures C and D.

    window   p, rows and columns of a window, or both one by one
    stride   s; None: the window, so that windows stand side by side
    """

    aliases = ("max pool", "subsampling", "un-strided pooling", "pooling layer")

    def __init__(self, window: int | tuple[int, int], stride: int | None = None) -> None:
        super().__init__()
        self.window = (window, window) if isinstance(window, int) else window
        self.stride = self.window if stride is None else (stride, stride)
        demand_sizes({"window": min(self.window), "stride": min(self.stride)})

    def forward(self, x: Float[Tensor, "b c y x"]) -> Float[Tensor, "b c _ _"]:
        """Rows and columns that fill no whole window are left out."""
        return F.max_pool2d(x, self.window, self.stride)
