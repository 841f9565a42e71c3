"""As many parameters for every model as the first one has, within 5 %.

The width stays, and the feed-forward network gives or takes, where the model has one: parameters are linear in `inner`,

    P(inner) = P(1) + (inner - 1) (P(2) - P(1))

A model that is too large for that even with a small `inner` is made narrower; one without `inner` gets another width, or another
number of filters.
Parameters are counted by building the model on a device that holds no numbers, with the sizes (vocabulary, classes ...)
that the task really has.
"""

import math
from collections.abc import Callable, Mapping

from headway.core import registry
from headway.core.config import Choice
from headway.core.errors import ConfigError
from headway.models.build import count_parameters

NEAR = 0.05  # parameters may differ by this share
STEPS = (32, 8, 2, 1)  # a width that is a multiple of 32 is computed faster, so that is tried first

DIALS = ("width", "filters", "growth")  # what makes a model larger; the first that it has is turned

Count = Callable[[Choice], int]


def equal_sizes(choices: Mapping[str, Choice], sizes: Mapping[str, int]) -> dict[str, tuple[Choice, int]]:
    """By name: the choice with sizes that make it as large as the first one, and its number of parameters."""

    def count(choice: Choice) -> int:
        return count_parameters(choice, sizes)

    names = list(choices)
    target = count(choices[names[0]])
    found = {names[0]: (choices[names[0]], target)}
    for name in names[1:]:
        choice = resized(choices[name], target, count)
        found[name] = choice, count(choice)
        if not near(found[name][1], target):
            text = f"`{name}` has {found[name][1]:,} parameters at best where `{names[0]}` has {target:,}"
            raise ConfigError(text, "choose another `--model.width`, or name another model first.")
    return found


def near(parameters: int, target: int) -> bool:
    return abs(parameters / target - 1) <= NEAR


def resized(choice: Choice, target: int, count: Count) -> Choice:
    """The choice with another `inner`, another `width`, or both, so that its parameters come nearest to the target."""
    known = {option.name: option.default for option in registry.get("models", choice.name).options}
    dial = next((name for name in DIALS if name in known), None)
    if dial is None:
        return choice  # nothing that could be changed
    heads = choice.options.get("heads", known.get("heads"))
    if "inner" not in known:
        return with_dial(choice, dial, heads if isinstance(heads, int) else 1, target, count)
    width = choice.options.get("width", known.get("width"))
    if not isinstance(width, int):
        return choice
    step = 2 * heads if isinstance(heads, int) else 2  # heads divide the width, and a head has an even width
    for narrower in range(width, 0, -step):
        found = with_inner(with_options(choice, width=narrower), target, count)
        if found is not None:
            return found
    return choice


def with_inner(choice: Choice, target: int, count: Count) -> Choice | None:
    """The choice with the `inner` that gives the target, or None if that would be less than half of the width."""
    one, two = (count(with_options(choice, inner=inner)) for inner in (1, 2))
    inner = 1 + round((target - one) / (two - one))
    width = choice.options["width"]
    return with_options(choice, inner=inner) if isinstance(width, int) and 2 * inner >= width else None


def with_dial(choice: Choice, dial: str, heads: int, target: int, count: Count) -> Choice:
    """The choice with the width (or filters) that comes nearest to the target: a multiple of 32, 8, 2 or 1, which heads divide."""
    found = choice
    for step in (math.lcm(step, heads) for step in STEPS):
        low, high = 1, 2
        while count(with_options(choice, **{dial: high * step})) < target:
            low, high = high, 2 * high
        while high - low > 1:  # parameters grow with the width
            middle = (low + high) // 2
            low, high = (
                (middle, high) if count(with_options(choice, **{dial: middle * step})) < target else (low, middle)
            )
        candidates = (with_options(choice, **{dial: n * step}) for n in (low, high))
        found = min(candidates, key=lambda c: abs(count(c) - target))
        if near(count(found), target):
            break
    return found


def with_options(choice: Choice, **options: int) -> Choice:
    return Choice(choice.name, choice.options | options)
