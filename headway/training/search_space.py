"""What a search may try, as a person writes it: options with ranges or choices.

    model.depth=2..6   training.rate=1e-4..1e-2:log   model.mixer=multihead|lstm   smoothing=0..0.2

Options are written as on the command line of `headway train`, without the dashes. Nothing heavy is loaded.
"""

import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from headway.core import registry
from headway.core.config import Value, option_type, parse
from headway.core.entries import Entry, options_of
from headway.core.errors import ConfigError, UnknownName, UsageError
from headway.models.choice import resolve

HINT = "write `option=low..high`, `option=low..high:log` or `option=first|second`, with spaces between options."


@dataclass(frozen=True)
class Range:
    """All numbers from `low` to `high`, whole ones if both are; `log`: equal factors are equally likely, not equal distances."""

    low: int | float
    high: int | float
    log: bool = False


@dataclass(frozen=True)
class Choices:
    values: tuple[Value, ...]


Space = dict[str, Range | Choices]  # by the name of the option


def known_options(task: Entry, model: str | None, mixers: Sequence[str] = ()) -> dict[str, str]:
    """Every option that can be searched, with its type as it is written: of the model, of mixers, of training and of the task."""
    entry, mixer = resolve(task.facts["reads"], task.facts["gives"], model or task.facts["model"])
    inner = [mixer, *(registry.mixer(name) for name in mixers)]
    known = {f"model.{o.name}": o.type for e in inner if e for o in e.options}
    known |= {f"model.{o.name}": o.type for o in entry.options if o.name != "options"}
    known |= {f"training.{o.name}": o.type for o in options_of(registry.ROOT / "tasks" / "recipe.py", "Training")}
    return known | {o.name: o.type for o in task.options if o.name not in (task.facts.get("files") or ())}


def parse_space(text: str, known: Mapping[str, str]) -> Space:
    """The search that a text describes; what is wrong with it raises."""
    space: Space = {}
    for word in text.split():
        name, equals, values = word.partition("=")
        name = name.removeprefix("--")
        if not equals or not values:
            raise UsageError(f"`{word}` in `--search` gives no values", HINT)
        if name not in known:
            raise UnknownName("option to search:", name, known)
        if name in space:
            raise UsageError(f"`{name}` is in `--search` twice", "give each option once.")
        kind = option_type(known[name])
        space[name] = _range(word, name, values, kind) if ".." in values else _choices(word, name, values, kind)
    if not space:
        raise UsageError("`--search` names no option", HINT)
    return space


def _range(word: str, name: str, values: str, kind: object) -> Range:
    ends, _, scale = values.partition(":")
    if scale not in ("", "log"):
        raise UsageError(f"`{word}` in `--search`: `{scale}` is no scale", "`:log`, or nothing.")
    try:
        low, high = (parse(int | float, end, name) for end in ends.split("..", 1))  # type: ignore[arg-type]
    except ConfigError as problem:
        raise UsageError(f"`{word}` in `--search`: the ends of a range must be numbers", HINT) from problem
    members = typing.get_args(kind) or (kind,)
    if float in members:
        low, high = float(low), float(high)
    elif int not in members:
        raise UsageError(f"`{word}` in `--search`: `{name}` is not a number", f"give choices: `{name}=first|second`.")
    elif not (isinstance(low, int) and isinstance(high, int)):
        raise UsageError(f"`{word}` in `--search`: `{name}` takes whole numbers", f"for example `{name}=2..6`.")
    if not low < high:
        raise UsageError(f"`{word}` in `--search` is an empty range: {low:g} is not below {high:g}", HINT)
    if scale and low <= 0:
        raise UsageError(f"`{word}` in `--search`: a logarithmic range must begin above 0", "leave out `:log`.")
    return Range(low, high, bool(scale))


def _choices(word: str, name: str, values: str, kind: object) -> Choices:
    found = tuple(parse(kind, value, name) for value in values.split("|") if value)
    if len(set(found)) < 2:
        raise UsageError(f"`{word}` in `--search` leaves no choice", HINT)
    return Choices(found)
