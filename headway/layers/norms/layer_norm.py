import torch
from jaxtyping import Float
from torch import Tensor, nn


class LayerNorm(nn.Module):
    """Layer normalisation: y = w (x - mean) / sqrt(var + eps) + b, mean and variance over the width of each position.

    What comes out (before w and b) has mean 0 and length sqrt(d), not 1 as lecture E says (erratum E6).
    Ba, Kiros, Hinton 2016, https://arxiv.org/abs/1607.06450; lectures A to E.
    """

    aliases = ("layer normalization", "layer normalisation")
    eps = 1e-5

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, x: Float[Tensor, "*b d"]) -> Float[Tensor, "*b d"]:
        weight = self.weight
        return torch.layer_norm(x, weight.shape, weight, self.bias, self.eps)
