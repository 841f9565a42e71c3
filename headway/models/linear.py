from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, nn

from headway.core.config import require
from headway.layers.dropout import Dropout
from headway.layers.readout import Readout


@dataclass(frozen=True)
class Config:
    dropout: float = 0.0  # on the inputs; for squared error that is a ridge penalty (Wager et al. 2013)

    def __post_init__(self) -> None:
        require((0 <= self.dropout <= 0.9, f"`dropout` {self.dropout} must be between 0 and 0.9"))


class Linear(nn.Module):
    """Linear model: numbers or the scores of classes as weighted sums of the inputs.

        y = W vec(x) + b                       linear regression, trained by squared error
        p(class) = softmax(W vec(x) + b)       softmax regression, trained by cross-entropy; logistic for two classes
        y_t = W (y_{t-1} .. y_{t-p}) + b       autoregression AR(p), where x are the last p values of a series

    Trained by the same loop as everything else, so it is what a deeper model is to be compared with. It starts at zero: the loss is
    convex, and no other beginning is better. Legendre 1805; Cox 1958, https://doi.org/10.1111/j.2517-6161.1958.tb00292.x;
    Yule 1927, https://doi.org/10.1098/rsta.1927.0007; lectures C and D.
    """

    aliases = (
        "linear regression",
        "logistic regression",
        "softmax regression",
        "multinomial logistic regression",
        "autoregression",
        "AR model",
    )
    reads, gives = ("pictures", "vectors", "series"), ("one vector",)

    def __init__(self, config: Config, features: int, outputs: int) -> None:
        super().__init__()
        self.config = config
        self.head, self.dropout = Readout(features, outputs), Dropout(config.dropout)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)

    def forward(self, *inputs: Float[Tensor, "b ..."]) -> Float[Tensor, "b d"]:
        """All inputs one after the other: pixels, columns, or the values of a series and the categories of the predicted time."""
        return self.dropout(torch.cat([x.flatten(1) for x in inputs], 1))

    def logits(self, hidden: Float[Tensor, "b d"]) -> Float[Tensor, "b c"]:
        return self.head(hidden)
