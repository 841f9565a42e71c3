"""Configurations: frozen dataclasses, to and from JSON, and from the words of a command line.

Whatever comes from a file or a command line is checked against the field types, and all problems are reported at once.
"""

import ast
import dataclasses
import json
import types
import typing
from collections.abc import Mapping
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

from headway.core.errors import ConfigError, UnknownName, nearest, raise_all

T = TypeVar("T")
Value = int | float | bool | str | tuple[int, ...] | dict[str, int | float] | None  # of an option


@dataclasses.dataclass(frozen=True)
class Choice:
    """Something registered, by name, with the options that differ from its defaults."""

    name: str
    options: dict[str, Value] = dataclasses.field(default_factory=dict)

    def describe(self) -> str:
        return f"{self.name} ({', '.join(f'{k} {v}' for k, v in self.options.items())})" if self.options else self.name


def to_json(value: Any) -> Any:
    """A configuration as plain JSON values."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_json(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, tuple | list):
        return [to_json(item) for item in value]
    return {key: to_json(item) for key, item in value.items()} if isinstance(value, dict) else value


def from_json(
    cls: type[T], value: Any, where: str, hint: str = "the file was edited or damaged; restore it or train again."
) -> T:
    """A configuration from plain JSON values; `where` names the file in messages."""
    problems: list[str] = []
    result = _build(cls, value, "", problems)
    raise_all(problems, ConfigError, f"`{where}` does not fit", hint)
    return typing.cast(T, result)


def _name(kind: Any) -> str:
    if get_origin(kind) is Literal:
        return "one of " + ", ".join(repr(a) for a in get_args(kind))
    if get_origin(kind) in (Union, types.UnionType):
        return " or ".join("nothing" if a is type(None) else _name(a) for a in get_args(kind))
    if get_origin(kind) in (tuple, list):
        return f"a list, each {_name(get_args(kind)[0])}"
    names: dict[Any, str] = {int: "a whole number", float: "a number", str: "text", bool: "true or false"}
    return names.get(kind) or str(getattr(kind, "__name__", kind))


def _build(kind: Any, value: Any, path: str, problems: list[str]) -> Any:
    """`value` as `kind`, or a problem noted."""
    origin, arguments = get_origin(kind), get_args(kind)
    if kind is Any:
        return value
    if dataclasses.is_dataclass(kind):
        if not isinstance(value, dict):
            problems.append(
                f"`{path.rstrip('.') or 'the whole file'}` should be an object, not {json.dumps(value)[:60]}"
            )
            return None
        known = {field.name: field for field in dataclasses.fields(kind)}
        hints = typing.get_type_hints(kind)
        for name in value.keys() - known.keys():
            guess = nearest(name, known)
            problems.append(f"unknown field `{path}{name}`" + (f" (did you mean `{guess}`?)" if guess else ""))
        before = len(problems)
        for name, field in known.items():
            if (
                name not in value
                and field.default is dataclasses.MISSING
                and field.default_factory is dataclasses.MISSING
            ):
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
    elif origin in (tuple, list):
        if isinstance(value, list | tuple):
            return origin(_build(arguments[0], item, f"{path}{i}.", problems) for i, item in enumerate(value))
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
    if get_origin(kind) in (tuple, list):
        return get_origin(kind)(
            parse(get_args(kind)[0], part.strip(), name) for part in text.split(",") if part.strip()
        )
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
    members = get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,)
    choices = [a for member in members if get_origin(member) is Literal for a in get_args(member) if isinstance(a, str)]
    guess = nearest(text, choices)
    raise ConfigError(f"`--{name}` should be {_name(kind)}, not `{text}`", f"did you mean `{guess}`?" if guess else "")


NAMES = {"int": int, "float": float, "str": str, "bool": bool, "list": list, "tuple": tuple, "dict": dict}


def option_type(annotation: str) -> Any:
    """The type that an annotation writes: `int | None`, `Literal["pre", "post"]`, `tuple[int, ...]`, `dict[str, int | float]`."""
    return _type(ast.parse(annotation, mode="eval").body)


def _type(node: ast.expr) -> Any:
    match node:
        case ast.Constant(value=None):
            return type(None)
        case ast.Constant(value=value) if value is Ellipsis:
            return value
        case ast.Name(id=name) if name in NAMES:
            return NAMES[name]
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return Union[_type(left), _type(right)]  # noqa: UP007 - at run time
        case ast.Subscript(value=ast.Name(id="Literal"), slice=inner):
            return Literal[ast.literal_eval(inner)]
        case ast.Subscript(value=ast.Name(id=name), slice=inner) if name in NAMES:
            items = inner.elts if isinstance(inner, ast.Tuple) else [inner]
            return types.GenericAlias(NAMES[name], tuple(_type(item) for item in items))
    raise ConfigError(
        f"`{ast.unparse(node)}` is not a type that an option can have",
        "int, float, str, bool, None, Literal, list, tuple, dict.",
    )


def override(config: T, path: str, text: str, prefix: str = "") -> T:
    """The configuration with the field `path` (`rate`) replaced by what the command line says; `prefix` stands before it there."""
    hints = typing.get_type_hints(type(config))
    if path not in hints:
        raise UnknownName("option", f"--{prefix}{path}", [f"--{prefix}{name}" for name in hints])
    return dataclasses.replace(config, **{path: parse(hints[path], text, prefix + path)})  # type: ignore[type-var]


def replaced(config: T, values: Mapping[str, Any], where: str) -> T:
    """The configuration with these fields replaced, each of the right type; for values that a program gives."""
    given = {field.name: getattr(config, field.name) for field in dataclasses.fields(config)}  # type: ignore[arg-type]
    hint = "see its documentation for the fields there are."
    return from_json(type(config), to_json(given) | {k: to_json(v) for k, v in values.items()}, where, hint)


def require(*conditions: tuple[bool, str]) -> None:
    """For the `__post_init__` of a configuration: what does not hold is reported, all at once."""
    problems = [text for holds, text in conditions if not holds]
    if len(problems) == 1:
        raise ConfigError(problems[0])
    raise_all(problems, ConfigError, "these options are not possible")


def difference(old: Any, new: Any, path: str = "") -> list[str]:
    """What differs between two JSON values, one line each."""
    if isinstance(old, dict) and isinstance(new, dict):
        lines = []
        for key in sorted(old.keys() | new.keys()):
            lines += difference(old.get(key), new.get(key), f"{path}.{key}" if path else key)
        return lines
    return [] if old == new else [f"`{path}`: {json.dumps(old)} -> {json.dumps(new)}"]
