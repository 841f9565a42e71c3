from collections.abc import Callable
from typing import NamedTuple, Protocol, runtime_checkable

from torch import Tensor, nn

from headway.layers.connections.post_norm import PostNorm
from headway.layers.initialisation import glorot_normal
from headway.layers.norms.layer_norm import LayerNorm


class DeepNorm(PostNorm):
    """DeepNorm: y = norm(alpha x + dropout(F(x))), post-norm whose sublayers move the sum only a little, so a thousand layers train.

    alpha comes from the depth of the stack (`deep`, `deep_encoder`, `deep_decoder`), and the sublayers start small
    (`deep_initialise`). Where a residual is asked for, give `partial(DeepNorm, alpha=deep(depth).alpha)`.
    Wang et al. 2022, "DeepNet: scaling Transformers to 1,000 layers", https://arxiv.org/abs/2203.00555, figure 2; lecture A.

    alpha   what x is multiplied by, from the depth of the stack
    """

    aliases = ("DeepNet residual scaling", "DeepNet connection")

    def __init__(self, width: int, dropout: float, norm: type[nn.Module] = LayerNorm, *, alpha: float) -> None:
        super().__init__(width, dropout, norm)
        self.alpha = alpha

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        return self.norm(self.alpha * x + self.dropout(sublayer(x)))


class Deep(NamedTuple):
    """The two numbers of DeepNorm: alpha multiplies x, beta is the gain of the sublayers' first weights."""

    alpha: float  # multiplies x
    beta: float  # the gain of the sublayers' first weights


def deep(depth: int) -> Deep:
    """One stack of N blocks, encoder or decoder alone: alpha = (2 N)^(1/4), beta = (8 N)^(-1/4)."""
    return Deep((2 * depth) ** 0.25, (8 * depth) ** -0.25)


def deep_encoder(encoder: int, decoder: int) -> Deep:
    """N encoder blocks with M decoder blocks behind them: alpha = 0.81 (N^4 M)^(1/16), beta = 0.87 (N^4 M)^(-1/16)."""
    return Deep(0.81 * (encoder**4 * decoder) ** 0.0625, 0.87 * (encoder**4 * decoder) ** -0.0625)


def deep_decoder(decoder: int) -> Deep:
    """M decoder blocks behind an encoder, with three sublayers each: alpha = (3 M)^(1/4), beta = (12 M)^(-1/4)."""
    return Deep((3 * decoder) ** 0.25, (12 * decoder) ** -0.25)


@runtime_checkable
class Sublayer(Protocol):
    """A layer that declares which of its matrices only scores depend on, and which ones values pass through."""

    def score_weights(self) -> list[Tensor]: ...

    def value_weights(self) -> list[Tensor]: ...


def deep_initialise(blocks: nn.Module, beta: float) -> None:
    """Glorot's normal weights in all blocks: gain 1 for queries and keys, gain beta on the way of the values.

    That way is the value projection, the output projection and the feed-forward network; it scales what F adds, and nothing else does.
    Layers declare which of their matrices are which.
    """
    for module in blocks.modules():
        if isinstance(module, Sublayer):
            for weight in module.score_weights():
                glorot_normal(weight)
            for weight in module.value_weights():
                glorot_normal(weight, beta)
