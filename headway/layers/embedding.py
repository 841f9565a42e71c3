import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from headway.core.errors import ConfigError
from headway.layers.linear import Layouts


class Embedding(nn.Module):
    """Token embeddings that also serve as the output matrix: x_t = sqrt(d) E[w_t], logits = h E^T.

    Press & Wolf 2017, "Using the output embedding to improve language models", https://arxiv.org/abs/1608.05859; with entries of
    variance 1/d the factor sqrt(d) gives unit-variance inputs, and the logits start near unit variance as well.
    """

    aliases = ("word embedding", "token embedding", "tied embeddings", "weight tying")
    roles = {"weight": "table"}

    def __init__(self, vocabulary: int, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(vocabulary, width) * width**-0.5)
        self.layouts = Layouts()

    def forward(self, ids: Int[Tensor, "*b"]) -> Float[Tensor, "*b d"]:
        weight = self.weight
        return torch.embedding(weight, ids) * weight.shape[1] ** 0.5

    def logits(self, hidden: Float[Tensor, "*b d"]) -> Float[Tensor, "*b v"]:
        if torch.is_inference_mode_enabled():
            return self.layouts.multiply(hidden, self.weight, None)
        return F.linear(hidden, self.weight)


def both_sides(source: int, target: int, width: int, share: bool) -> tuple[Embedding, Embedding]:
    """Embeddings for two vocabularies; one and the same if they share it."""
    if share and source != target:
        raise ConfigError(
            f"source and target have vocabularies of {source} and {target} entries and cannot share one embedding",
            "use `--joint yes`, or `--model.share false`.",
        )
    first = Embedding(source, width)
    return first, first if share else Embedding(target, width)
