from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from headway.core.errors import ConfigError

PACK: Any
MULTIPLY: Any
PACK, MULTIPLY = (getattr(torch.ops.mkldnn, name, None) for name in ("_reorder_linear_weight", "_linear_pointwise"))


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
        self._packed: tuple[Tensor, int, Tensor] | None = None  # the weights, their version, and their layout

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_packed": None}  # a layout cannot be copied, and need not be

    def forward(self, ids: Int[Tensor, "*b"]) -> Float[Tensor, "*b d"]:
        return F.embedding(ids, self.weight) * self.weight.shape[1] ** 0.5

    def logits(self, hidden: Float[Tensor, "*b d"]) -> Float[Tensor, "*b v"]:
        single = hidden.dim() == 2 and self.weight.dtype == torch.float32
        if torch.is_inference_mode_enabled() and single and PACK is not None and not self.weight.is_inference():
            return MULTIPLY(hidden, self._layout(), None, "none", [], "")
        return F.linear(hidden, self.weight)

    def _layout(self) -> Tensor:
        """The weights in the layout of oneDNN's kernel, made anew when they change: decoding is a third faster.

        A change is a new version (written in place) or another address (`.data = w`, `assign=True`, `.to(...)`). The
        old weights are held, so that their address cannot be given to new ones. In-place writes through `.data` are
        hidden from torch's count too.
        """
        if self._packed is not None:
            old, version, layout = self._packed
            if old.data_ptr() == self.weight.data_ptr() and version == self.weight._version:
                return layout
        self._packed = self.weight.detach(), self.weight._version, PACK(self.weight.detach(), 64)
        return self._packed[2]


def both_sides(source: int, target: int, width: int, share: bool) -> tuple[Embedding, Embedding]:
    """Embeddings for two vocabularies; one and the same if they share it."""
    if share and source != target:
        raise ConfigError(
            f"source and target have vocabularies of {source} and {target} entries and cannot share one embedding",
            "use `--joint yes`, or `--model.share false`.",
        )
    first = Embedding(source, width)
    return first, first if share else Embedding(target, width)
