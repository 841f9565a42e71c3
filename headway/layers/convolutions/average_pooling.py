import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from headway.layers.convolutions.sizes import demand_sizes


class AveragePooling(nn.Module):
    """Average pooling: Y[k, l] = 1/p^2 sum of X[s k + i, s l + j] over i, j = 0 .. p - 1.

    Linear: a convolution with the constant filter 1/p^2 of which every s-th row and column is kept. The stride s is p unless said
    otherwise; (p, q) is a window of p rows and q columns. Lecture D, "other variants: average pooling, un-strided pooling".

    window   p, rows and columns of a window, or both one by one
    stride   s; None: the window, so that windows stand side by side
    """

    aliases = ("average pool", "mean pooling")

    def __init__(self, window: int | tuple[int, int], stride: int | None = None) -> None:
        super().__init__()
        self.window = (window, window) if isinstance(window, int) else window
        self.stride = self.window if stride is None else (stride, stride)
        demand_sizes({"window": min(self.window), "stride": min(self.stride)})

    def forward(self, x: Float[Tensor, "b c y x"]) -> Float[Tensor, "b c _ _"]:
        """Rows and columns that fill no whole window are left out."""
        return F.avg_pool2d(x, self.window, self.stride)
