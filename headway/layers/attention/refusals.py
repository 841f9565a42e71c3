"""Checks at construction: masks and sizes that the attentions of less than O(t^2) cannot take."""

from headway.core.errors import ConfigError
from headway.layers.masks import Causal, Everything, Mask


def wants_causal(mask: Mask | None, mixer: str) -> bool:
    """Whether the mask is `Causal()`. These mixers never form the matrix of weights, so they cannot multiply it by any other mask."""
    if mask is None or isinstance(mask, Everything | Causal):
        return isinstance(mask, Causal)
    raise ConfigError(
        f"`{mixer}` cannot use a mask of the kind `{type(mask).__name__}`, expected `None`, `Everything()` or `Causal()`",
        "take `multihead` for any other mask.",
    )


def at_least(least: int, **sizes: int) -> None:
    """Raise if a size is too small; all of them are reported at once."""
    small = [f"`{name}` is {size}" for name, size in sizes.items() if size < least]
    if small:
        raise ConfigError(
            f"{', '.join(small)}; expected {least} or more",
            f"write `{next(n for n in sizes if sizes[n] < least)}={least}`.",
        )
