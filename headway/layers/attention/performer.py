import torch
from jaxtyping import Float
from torch import Tensor

from headway.layers.attention.kernel import Kernel
from headway.layers.attention.refusals import at_least
from headway.layers.masks import Mask


class Performer(Kernel):
    """Performer: softmax attention estimated in O(t) by positive orthogonal random features (FAVOR+).

        phi(x) = r^(-1/2) exp(W x' - |x'|^2 / 2),    x' = x / e^(1/4),    W of r rows ~ N(0, I)    E phi(q) . phi(k) = exp(q . k / sqrt(e))

    The rows of W are orthogonal in groups of e, which lowers the variance and keeps the mean. The error of the output
    falls as r^(-1/2). W is drawn from torch's generator at construction and saved with the weights. The paper draws it
    anew from time to time, so that no unlucky draw stays: `redraw` does that, and training calls it only where a person
    asks for it. Choromanski et al. 2020, https://arxiv.org/abs/2009.14794.
    """

    aliases = ("Performer", "FAVOR+", "positive random features", "math tricks to O(L)")
    sees, needs_positions = "mask", True
    w: Tensor

    def __init__(self, width: int, heads: int, mask: Mask | None = None, features: int = 256) -> None:
        at_least(1, features=features)
        super().__init__(width, heads, mask, "performer", features)
        self.register_buffer("w", orthogonal(features, width // heads))

    @torch.no_grad()
    def redraw(self) -> None:
        """New features in place of W. States of `step` that were made with the old ones are of no use any more."""
        self.w.copy_(orthogonal(*self.w.shape))

    def logarithm(self, x: Float[Tensor, "*b e"]) -> Float[Tensor, "*b r"]:
        """Without log r^(-1/2), which cancels."""
        x = x * x.shape[-1] ** -0.25
        return (x @ self.w.T.to(x.dtype)).sub_(x.square().sum(-1, keepdim=True) / 2)


def orthogonal(features: int, width: int) -> Float[Tensor, "r e"]:
    """Rows that are orthogonal within each group of `width`, each distributed as N(0, I)."""
    groups = -(-features // width)
    q, r = torch.linalg.qr(torch.randn(groups, width, width))
    # undoes LAPACK's choice of signs, so that q is uniform on the rotations
    q = q * r.diagonal(dim1=1, dim2=2).sign()[:, None, :]
    directions = q.mT.flatten(0, 1)[:features]
    return directions * torch.randn(features, width).norm(dim=1, keepdim=True)
