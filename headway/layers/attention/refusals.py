"""What the attentions that save work cannot do, said at construction."""

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
    """Every size that is too small, told at once."""
    small = [f"`{name}` is {size}" for name, size in sizes.items() if size < least]
    if small:
        raise ConfigError(f"{', '.join(small)}; expected {least} or more", f"write `{next(n for n in sizes if sizes[n] < least)}={least}`.")
