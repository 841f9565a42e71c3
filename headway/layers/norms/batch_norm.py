import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from headway.core.errors import ConfigError


class BatchNorm(nn.Module):
    """Batch normalisation: y = w (x - mean) / sqrt(var + eps) + b, mean and variance of each feature over all other axes.

    In training they are those of the batch, so a row's answer depends on its company; in eval they are running averages,
    mean <- (1 - momentum) mean + momentum mean_batch, and likewise the unbiased variance. Features stand on the last axis.
    Ioffe & Szegedy 2015, https://arxiv.org/abs/1502.03167; lecture D.

    momentum   the share of a new batch in the running averages
    """

    aliases = ("batch normalization", "batch normalisation")
    eps = 1e-5
    couples_rows = True  # a batch is not divided between processes (`training/shares.py`)

    def __init__(self, width: int, momentum: float = 0.1) -> None:
        super().__init__()
        self.momentum = momentum
        self.weight = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width))
        self.register_buffer("mean", torch.zeros(width))
        self.register_buffer("variance", torch.ones(width))
        self.mean: Tensor
        self.variance: Tensor

    def forward(self, x: Float[Tensor, "*b d"]) -> Float[Tensor, "*b d"]:
        return self.over_channels(x.reshape(-1, x.shape[-1])).view(x.shape)

    def over_channels(self, x: Float[Tensor, "b c *p"]) -> Float[Tensor, "b c *p"]:
        """The same with the features on the second axis, as pictures have their channels. The result is no view of
        another tensor, and its gradient does not need it: it may be changed in place.
        """
        rows = x.numel() // len(self.weight)
        if self.training and rows < 2:
            raise ConfigError(
                f"batch normalisation of {rows} row in training: one row has no variance", "use a batch of at least 2"
            )
        return F.batch_norm(x, self.mean, self.variance, self.weight, self.bias, self.training, self.momentum, self.eps)
