"""Configurations: frozen dataclasses, to and from JSON, with overrides such as `--training.rate 1e-3`.

Whatever comes from a file or a command line is checked against the field types, and all problems are told at once.
"""

import dataclasses
import json
import types
import typing
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

from headway.core import registry
from headway.core.errors import ConfigError, UnknownName, nearest, together

T = TypeVar("T")


@dataclasses.dataclass(frozen=True)
class Choice:
    """Something registered, by name, with the options that differ from its defaults."""

    name: str
    options: dict[str, int | float | bool | str | dict[str, int | float] | None] = dataclasses.field(default_factory=dict)


def to_json(value: Any) -> Any:
    """A configuration as plain JSON values."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_json(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, tuple | list):
        return [to_json(item) for item in value]
    return dict(value) if isinstance(value, dict) else value


def from_json(cls: type[T], value: Any, where: str) -> T:
    """A configuration from plain JSON values; `where` names the file in messages."""
    problems: list[str] = []
    result = _build(cls, value, "", problems)
    together(problems, ConfigError, f"`{where}` does not fit", "the file was edited or damaged; restore it or train again.")
    return typing.cast(T, result)


def _name(kind: Any) -> str:
    if get_origin(kind) is Literal:
        return "one of " + ", ".join(repr(a) for a in get_args(kind))
    if get_origin(kind) in (Union, types.UnionType):
        return " or ".join("nothing" if a is type(None) else _name(a) for a in get_args(kind))
    named: dict[Any, str] = {int: "a whole number", float: "a number", str: "text", bool: "true or false"}
    return named.get(kind) or str(getattr(kind, "__name__", kind))


def _build(kind: Any, value: Any, path: str, problems: list[str]) -> Any:
    """`value` as `kind`, or a problem noted."""
    origin, arguments = get_origin(kind), get_args(kind)
    if dataclasses.is_dataclass(kind):
        if not isinstance(value, dict):
            problems.append(f"`{path.rstrip('.') or 'the whole file'}` should be an object, not {json.dumps(value)[:60]}")
            return None
        known = {field.name: field for field in dataclasses.fields(kind)}
        hints = typing.get_type_hints(kind)
        for name in value.keys() - known.keys():
            guess = nearest(name, known)
            problems.append(f"unknown field `{path}{name}`" + (f" (did you mean `{guess}`?)" if guess else ""))
        before = len(problems)
        for name, field in known.items():
            if name not in value and field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
                problems.append(f"`{path}{name}` is missing")
        built = {n: _build(hints[n], v, f"{path}{n}.", problems) for n, v in value.items() if n in known}
        constructor: Any = kind
        return constructor(**built) if len(problems) == before else None
    if origin in (Union, types.UnionType):
        for option in arguments:
            attempt: list[str] = []
            result = _build(option, value, path, attempt)
            if not attempt:
                return result
    elif origin is Literal:
        if any(type(value) is type(a) and value == a for a in arguments):
            return value
    elif origin is tuple:
        if isinstance(value, list | tuple):
            return tuple(_build(arguments[0], item, f"{path}{i}.", problems) for i, item in enumerate(value))
    elif origin is dict:
        if isinstance(value, dict):
            return {str(k): _build(arguments[1], v, f"{path}{k}.", problems) for k, v in value.items()}
    elif kind is type(None):
        if value is None:
            return None
    elif kind is float and type(value) in (int, float) and abs(value) < 1e300:  # neither infinite nor NaN
        return float(value)
    elif type(value) is kind and kind is not float:
        return value
    problems.append(f"`{path.rstrip('.')}` should be {_name(kind)}, not {json.dumps(value)[:60]}")
    return None


def parse(kind: Any, text: str, name: str) -> Any:
    """A word of the command line as a value of type `kind`."""
    if get_origin(kind) is tuple:
        return tuple(parse(get_args(kind)[0], part.strip(), name) for part in text.split(",") if part.strip())
    lowered = text.lower()
    candidates: list[Any] = []
    for convert in (int, float):
        try:
            candidates.append(convert(text))
        except ValueError:
            pass
    if lowered in ("true", "false", "yes", "no"):
        candidates.append(lowered in ("true", "yes"))
    if lowered == "none":
        candidates.append(None)
    candidates.append(text)
    for candidate in candidates:
        problems: list[str] = []
        value = _build(kind, candidate, name, problems)
        if not problems:
            return value
    choices = [a for a in get_args(kind) if isinstance(a, str)] if get_origin(kind) is Literal else []
    guess = nearest(text, choices)
    raise ConfigError(f"`--{name}` should be {_name(kind)}, not `{text}`", f"did you mean `{guess}`?" if guess else "")


_SCALARS = {"int": int, "float": float, "str": str, "bool": bool, "None": type(None)}


def option_type(annotation: str) -> Any:
    """The type of an option, from its annotation as it stands in the file: `int | None`, `Literal["pre", "post"]`, `tuple[int, ...]`."""
    if annotation.startswith("Literal["):
        import ast

        inner = ast.literal_eval("(" + annotation[len("Literal[") : -1] + ",)")
        return Literal[inner]
    if annotation.startswith("tuple["):
        item = _SCALARS[annotation[len("tuple[") :].partition(",")[0].strip()]
        return tuple[item, ...]  # type: ignore[valid-type]
    members = [_SCALARS[part.strip()] for part in annotation.split("|")]
    return members[0] if len(members) == 1 else Union[tuple(members)]  # noqa: UP007


def choose(task: str, name: str, options: dict[str, str]) -> Choice:
    """A model for a task with options as typed on a command line; every misspelling is caught without importing anything.

    For language any causal mixer is a model too: `mamba` is the model `blocks` with that mixer.
    """
    known = registry.models(task)
    mixers = registry.mixers() if task == "language" else {}
    entry = next((e for e in (*known.values(), *mixers.values()) if registry.named(e, name)), None)
    if entry is None:
        raise UnknownName("model", name, [*known, *mixers, *(a for e in known.values() for a in e.aliases)], "headway list models")
    own = {option.name: option for option in entry.options}
    outer = {o.name: o for o in known["blocks"].options if o.name not in ("mixer", "options")} if entry.name in mixers else {}
    values: dict[str, Any] = {}
    inner: dict[str, Any] = {}
    for key, text in options.items():
        if key not in own and key not in outer:
            every = [f"--model.{f}" for f in (*outer, *own)]
            raise UnknownName(f"option of `{entry.name}`:", f"--model.{key}", every, f"headway show {entry.name}")
        chosen = inner if outer and key not in outer else values
        chosen[key] = parse(option_type((outer | own if outer else own)[key].type), text, f"model.{key}")
    if not outer:
        return Choice(entry.name, values)
    return Choice("blocks", {"mixer": entry.name} | values | ({"options": inner} if inner else {}))


def override(config: T, path: str, text: str, prefix: str = "") -> T:
    """The configuration with the field at `path` (`training.rate`) replaced by what the command line says."""
    head, _, rest = path.partition(".")
    hints = typing.get_type_hints(type(config))
    if head not in hints or (rest and not dataclasses.is_dataclass(getattr(config, head))):
        raise UnknownName("option", f"--{prefix}{path}", [f"--{prefix}{name}" for name in hints])
    current = getattr(config, head)
    if rest:
        return dataclasses.replace(config, **{head: override(current, rest, text, f"{prefix}{head}.")})  # type: ignore[type-var]
    return dataclasses.replace(config, **{head: parse(hints[head], text, prefix + path)})  # type: ignore[type-var]


def demand(*conditions: tuple[bool, str]) -> None:
    """For the `__post_init__` of a configuration: what does not hold is told, all at once."""
    together([text for holds, text in conditions if not holds], ConfigError, "these options do not fit together")


def difference(old: Any, new: Any, path: str = "") -> list[str]:
    """What differs between two JSON values, one line each."""
    if isinstance(old, dict) and isinstance(new, dict):
        lines = []
        for key in sorted(old.keys() | new.keys()):
            lines += difference(old.get(key), new.get(key), f"{path}.{key}" if path else key)
        return lines
    return [] if old == new else [f"`{path}`: {json.dumps(old)} -> {json.dumps(new)}"]
