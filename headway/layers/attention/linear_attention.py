import torch
from jaxtyping import Float
from torch import Tensor

from headway.layers.attention.kernel import Kernel
from headway.layers.masks import Mask


class LinearAttention(Kernel):
    """Linear attention: the exponential of softmax is replaced by a product of features, so the sum over keys is done once.

        phi(x) = elu(x) + 1        y_t = phi(q_t) S / phi(q_t) . z,    S = sum_s phi(k_s) v_s^T,    z = sum_s phi(k_s)

    O(t) instead of O(t^2); the causal form is a recurrence with a state of fixed size.
    Katharopoulos et al. 2020, https://arxiv.org/abs/2006.16236.
    """

    aliases = ("linear", "linear attention approximations", "linear transformer")
    sees, needs_positions = "mask", True

    def __init__(self, width: int, heads: int, mask: Mask | None = None) -> None:
        super().__init__(width, heads, mask, "linear_attention", features=width // heads)

    def logarithm(self, x: Float[Tensor, "*b e"]) -> Float[Tensor, "*b e"]:
        """elu(x) + 1 is e^x below zero and 1 + x above."""
        return torch.where(x < 0, x, x.clamp(min=0).log1p())
