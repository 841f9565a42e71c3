"""A mixer by its name: which class it is, what its constructor is given, and in which directions it may look.

    a causal mask     only the past may be seen: `sees` must be "past", or "mask" and the mask says so
    no mask           both sides are seen: "all" and "mask" as they are, "past" once from each end (`Bidirectional`)

What a mixer sees is declared by its class.
"""

import inspect
from collections.abc import Mapping
from typing import Any

from torch import nn

from headway.core import registry
from headway.core.errors import ConfigError, nearest
from headway.layers.masks import Mask
from headway.layers.recurrences.bidirectional import Bidirectional

SIZES = ("inputs", "width", "heads", "mask")  # what a constructor may ask for besides numbers of its own
NUMBERS = (int, float, int | None, float | None)


def mixer_class(name: str) -> Any:
    """The class of a mixer, by any of its names; it declares what it sees and whether it needs positions."""
    make = registry.mixer(name).load()
    if getattr(make, "sees", None) not in ("past", "all", "mask") or not hasattr(make, "needs_positions"):
        raise ConfigError(
            f"`{name}` does not declare what it sees and whether it needs positions",
            'write `sees, needs_positions = "past", False` in its class; `sees` is "past", "all" or "mask".',
        )
    return make


def build_mixer(name: str, width: int, heads: int, mask: Mask | None, options: Mapping[str, int | float]) -> nn.Module:
    """A mixer "b t d" -> "b t d".

    What its constructor calls `inputs`, `width`, `heads` or `mask` is given; `options` are its other numbers.
    """
    make = mixer_class(name)
    numbers = check_options(name, make, options)
    parameters = inspect.signature(make).parameters
    if make.sees == "all" and mask is not None and mask.causal:
        raise ConfigError(
            f"`{name}` sees the whole sequence, and here nothing after a position may be seen",
            "take a mixer that has a causal form, such as `multihead`, `performer` or `lstm`.",
        )
    if make.sees == "past" and mask is None:
        if "inputs" not in parameters:
            raise ConfigError(
                f"`{name}` reads from left to right only, and here both sides of a position must be seen",
                "take `multihead`, or a recurrence, which reads from both ends.",
            )
        if width % 2:
            raise ConfigError(f"`width` {width} must be even: `{name}` reads from both ends, each with a half of it")
        return Bidirectional(make, width, width, numbers)
    sizes: dict[str, Any] = {"inputs": width, "width": width, "heads": heads, "mask": mask}
    return make(**{size: sizes[size] for size in SIZES if size in parameters}, **numbers)


def check_options(name: str, make: Any, options: Mapping[str, int | float]) -> dict[str, int | float]:
    """The options of the mixer `name`, of class `make`: each exists and is of the right type, and none is missing."""
    own = {p.name: p for p in inspect.signature(make).parameters.values() if p.name not in SIZES}
    numbers = {n: p.annotation if p.annotation in NUMBERS else type(p.default) for n, p in own.items()}
    numbers = {n: kind for n, kind in numbers.items() if kind in NUMBERS}
    hint = f"`headway show {name}` lists the options."
    for option, value in options.items():
        if option not in numbers:
            guess = nearest(option, numbers)
            raise ConfigError(
                f"`{name}` has no option `{option}`", (f"did you mean `{guess}`? " if guess else "") + hint
            )
        if numbers[option] in (int, int | None) and not isinstance(value, int):
            raise ConfigError(f"the option `{option}` of `{name}` should be a whole number, not {value}", hint)
    missing = [f"`{n}`" for n, p in own.items() if p.default is inspect.Parameter.empty and n not in options]
    if missing:
        raise ConfigError(f"`{name}` also needs {', '.join(missing)}", hint)
    return dict(options)
