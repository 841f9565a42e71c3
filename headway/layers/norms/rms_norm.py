import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn


class RMSNorm(nn.Module):
    """Root mean square normalisation: y = w x / sqrt(mean(x^2) + eps), over the width of each position.

    Layer normalisation without the mean and without the shift: one pass less, and as good.
    Zhang & Sennrich 2019, https://arxiv.org/abs/1910.07467.
    """

    aliases = ("root mean square normalization", "RMS normalisation")
    eps = 1e-6

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: Float[Tensor, "*b d"]) -> Float[Tensor, "*b d"]:
        return F.rms_norm(x, self.weight.shape, self.weight, self.eps)
