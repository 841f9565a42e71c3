"""Parameters of an experiment: declared in its class, with the range in which they mean something.

    epsilons = param((0.5, 0.1, 0.03), "the errors ε to reach", least=1e-4, most=1.0, small=(0.5, 0.1))
    rho = param(7.0, "the Lipschitz constant ρ of every target", least=2.1, most=1000)

A value outside of its range, an empty tuple or one that repeats a value gets one sentence, made here. `self.rho` is then the
number itself; a tuple is sorted, rising or falling like its default. `small` is the value in the test suite, `full` that of `--full`.
"""

import math
from dataclasses import dataclass
from typing import Any, cast, overload

from headway.core.errors import ConfigError, nearest

Number = int | float
LONGEST = 64  # values of a tuple
NAMES = {int: "a whole number", float: "a number", str: "text", bool: "true or false"}


@dataclass(frozen=True)
class Parameter:
    """What is declared of one parameter; the type of its values is that of the default."""

    default: Any
    about: str
    least: Number | None = None
    most: Number | None = None
    count: int = 1  # values that a tuple has at least
    small: Any = None
    full: Any = None

    @property
    def kind(self) -> Any:
        return type(self.default[0] if isinstance(self.default, tuple) else self.default)

    def read(self, name: str, value: Any) -> Any:
        """The value, or a `ConfigError` that says what it should be."""
        value = value.tolist() if hasattr(value, "tolist") else list(value) if isinstance(value, range) else value
        if not isinstance(self.default, tuple):
            return self._number(name, value)
        items = list(value) if isinstance(value, tuple | list) else [value]
        if len(items) < self.count:
            few = "is empty" if not items else f"has {len(items)} of the values it needs"
            raise ConfigError(f"`{name}` {few}", f"write at least {self.count}, separated by commas.")
        if len(items) > LONGEST:
            raise ConfigError(f"`{name}` has {len(items)} values, at most {LONGEST} are taken")
        found = tuple(self._number(name, item) for item in items)
        if len(set(found)) < len(found):
            raise ConfigError(f"`{name}` has a value twice: {', '.join(map(str, found))}")
        return tuple(sorted(found, reverse=self.default[0] > self.default[-1]))  # rising or falling, as the default

    def _number(self, name: str, value: Any) -> Any:
        if self.kind is float and type(value) is int:
            value = float(value)
        if type(value) is not self.kind or (isinstance(value, float) and not math.isfinite(value)):
            raise ConfigError(f"`{name}` should be {NAMES[self.kind]}, not {value!r}")
        if (self.least is not None and value < self.least) or (self.most is not None and value > self.most):
            raise ConfigError(f"`{name}` is {value}, it must be {self.range()}")
        return value

    def range(self) -> str:
        if self.least is None or self.most is None:
            return NAMES[self.kind]
        return f"from {self.least:,} to {self.most:,}"


# The type that a checker sees is that of the value, which is what an instance holds.
@overload
def param(default: bool, about: str) -> bool: ...
@overload
def param(default: str, about: str) -> str: ...
@overload
def param(
    default: int, about: str, *, least: int, most: int, small: int | None = None, full: int | None = None
) -> int: ...
@overload
def param(
    default: float, about: str, *, least: float, most: float, small: float | None = None, full: float | None = None
) -> float: ...
@overload
def param(
    default: tuple[int, ...],
    about: str,
    *,
    least: int,
    most: int,
    count: int = 1,
    small: tuple[int, ...] | None = None,
    full: tuple[int, ...] | None = None,
) -> tuple[int, ...]: ...
@overload
def param(
    default: tuple[float, ...],
    about: str,
    *,
    least: float,
    most: float,
    count: int = 1,
    small: tuple[float, ...] | None = None,
    full: tuple[float, ...] | None = None,
) -> tuple[float, ...]: ...


def param(
    default: Any,
    about: str,
    *,
    least: Number | None = None,
    most: Number | None = None,
    count: int = 1,
    small: Any = None,
    full: Any = None,
) -> Any:
    """Declare a parameter.

    default   its value, which gives the type: whole number, number, a tuple of them, text, or true or false
    about     what it is, in a few words
    least     the smallest value that means something
    most      the largest: what runs in minutes and fits into memory
    count     values that a tuple has at least (4 for a rate)
    small     its value in the test suite
    full      its value with `--full`
    """
    return cast(Any, Parameter(default, about, least, most, count, small, full))


def declared(cls: type) -> dict[str, Parameter]:
    """The parameters of a class and of those it inherits from, in the order in which they are declared."""
    return {
        name: value
        for parent in reversed(cls.__mro__)
        for name, value in vars(parent).items()
        if isinstance(value, Parameter)
    }


def read_all(cls: type, given: dict[str, Any]) -> dict[str, Any]:
    """Every parameter with its value: the given one, or its default."""
    known = declared(cls)
    for name in given:
        if name not in known:
            guess = nearest(name, known)
            names = ", ".join(f"`{n}`" for n in known)
            hint = f"did you mean `{guess}`?" if guess else f"its parameters are {names}."
            raise ConfigError(f"unknown parameter `{name}`", hint)
    return {name: p.read(name, given.get(name, p.default)) for name, p in known.items()}
