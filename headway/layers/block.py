"""One block for every architecture: a mixer along the sequence, a feed-forward network across the width, residuals around both."""

from collections.abc import Callable
from typing import Any

from jaxtyping import Bool, Float
from torch import Tensor, nn

from headway.layers.attention.cross import Cross, Remembered
from headway.layers.feedforward import Feedforward

Residual = Callable[[int, float], nn.Module]  # PreNorm, PostNorm or DeepNorm, made from width and dropout


class Block(nn.Module):
    """Block: x -> mixer -> feed-forward, each inside a connection.

    The mixer is anything with `forward(x, keep)`, and `start` and `step` where it is causal. One that carries a memory
    from before the sequence (`transformer_xl`) takes it as a third argument: what `read` gave.

    mixer   the layer along the sequence
    """

    aliases = ("Transformer block", "Transformer layer", "encoder block")

    def __init__(
        self, width: int, mixer: nn.Module, feedforward: Feedforward, residual: Residual, dropout: float
    ) -> None:
        super().__init__()
        self.mixer, self.feedforward = mixer, feedforward
        self.around_mixer, self.around_feedforward = residual(width, dropout), residual(width, dropout)

    def forward(
        self,
        x: Float[Tensor, "b t d"],
        keep: Bool[Tensor, "b t"] | None = None,
        memory: Float[Tensor, "b m d"] | None = None,
    ) -> Float[Tensor, "b t d"]:
        x = self.around_mixer(x, lambda y: self.mixer(y, keep) if memory is None else self.mixer(y, keep, memory))
        return self.around_feedforward(x, self.feedforward)

    def read(self, x: Float[Tensor, "b t d"]) -> tuple[Float[Tensor, "b t d"], Float[Tensor, "b t d"]]:
        """What `forward` gives, and what the mixer was given."""
        read = x

        def sublayer(y: Tensor) -> Tensor:
            nonlocal read
            read = y
            return self.mixer(y)

        x = self.around_mixer(x, sublayer)
        return self.around_feedforward(x, self.feedforward), read

    def step(self, x: Float[Tensor, "b d"], state: Any) -> tuple[Float[Tensor, "b d"], Any]:
        x, state = step_around(self.around_mixer, self.mixer, x, state)
        return self.around_feedforward(x, self.feedforward), state


class CrossBlock(nn.Module):
    """x -> mixer -> cross-attention to a memory -> feed-forward: the decoder block of the Transformer.

    mixer   the layer along the sequence, before the cross-attention
    cross   the attention to the memory
    """

    def __init__(
        self, width: int, mixer: nn.Module, cross: Cross, feedforward: Feedforward, residual: Residual, dropout: float
    ) -> None:
        super().__init__()
        self.mixer, self.cross, self.feedforward = mixer, cross, feedforward
        self.around_mixer, self.around_cross = residual(width, dropout), residual(width, dropout)
        self.around_feedforward = residual(width, dropout)

    def forward(self, x: Float[Tensor, "b t d"], seen: Remembered) -> Float[Tensor, "b t d"]:
        x = self.around_mixer(x, self.mixer)
        x = self.around_cross(x, lambda y: self.cross(y, seen))
        return self.around_feedforward(x, self.feedforward)

    def step(self, x: Float[Tensor, "b d"], state: Any, seen: Remembered) -> tuple[Float[Tensor, "b d"], Any]:
        x, state = step_around(self.around_mixer, self.mixer, x, state)
        x = self.around_cross(x, lambda y: self.cross.step(y, seen))
        return self.around_feedforward(x, self.feedforward), state


def step_around(residual: nn.Module, mixer: Any, x: Tensor, state: Any) -> tuple[Tensor, Any]:
    """One step of the mixer inside its residual; the new state comes out beside the sum."""
    after = state

    def sublayer(y: Tensor) -> Tensor:
        nonlocal after
        z, after = mixer.step(y, state)
        return z

    return residual(x, sublayer), after
