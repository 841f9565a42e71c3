"""Small cases of everything registered, made by reading constructors: a new file is tested because it exists.

Every axis has its own prime (or twice one), so that two axes that are mixed up do not fit by accident.
"""

import contextlib
import dataclasses
import inspect
import typing
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from headway.contracts.check import contracts_for, kinds_of
from headway.contracts.contract import Contract
from headway.contracts.examples import (  # noqa: F401 - the tests of this folder take their sizes from here
    ACROSS,
    BATCH,
    BOS,
    CHANNELS,
    CLASSES,
    EOS,
    HEIGHT,
    PAD,
    SIZES,
    SMALL,
    VOCABULARY,
    sentences,
    sizes_for,
)
from headway.contracts.mixers import HEADS, INPUTS, WIDTH, Case
from headway.contracts.mixers import LENGTH as TARGET
from headway.contracts.models import Case as ModelCase
from headway.core import registry
from headway.core.errors import ConfigError
from headway.core.registry import Entry
from headway.layers.masks import Causal, First, Mask, Matrix, Window

SOURCE, INNER = 5, int(SMALL["inner"])


def entries(room: str) -> list[Entry]:
    return list(registry.entries(room).values())


# -- mixers ------------------------------------------------------------------------------------------------------------


class Inward(nn.Module):
    """Cross-attention of a sequence to itself: so the contracts of mixers apply to it."""

    causal = False

    def __init__(self, cross: nn.Module) -> None:
        super().__init__()
        self.cross = cross

    def forward(self, x: Tensor, keep: Tensor | None = None) -> Tensor:
        return self.cross(x, self.cross.remember(x, keep))


def band(size: int) -> Tensor:
    """A 0/1 matrix that no rule describes; everybody sees itself."""
    drawn = torch.rand(size, size, generator=torch.Generator().manual_seed(5)) < 0.4
    return drawn | torch.eye(size, dtype=torch.bool)


def masks() -> dict[str, Mask | None]:
    return {
        "everything": None,
        "causal": Causal(),
        "causal&window": Causal() & Window(3),
        "window|first": Window(2) | First(1),
        "matrix": Matrix(band(TARGET)),
        "causal&matrix": Causal() & Matrix(band(TARGET)),
    }


def cells() -> dict[str, Any]:
    """Every causal recurrence: what can read in both directions."""
    return {entry.name: entry.load() for entry in entries("recurrences") if entry.facts.get("sees") == "past"}


def stacks() -> dict[str, Callable[[], list[nn.Module]]]:
    cell, both = cells()["lstm"], registry.get("recurrences", "bidirectional").load()
    return {
        "lstm,lstm": lambda: [cell(INPUTS, WIDTH), cell(WIDTH, WIDTH)],
        "both,both": lambda: [both(cell, INPUTS, WIDTH), both(cell, WIDTH, WIDTH)],
    }


def arguments(constructor: Any) -> dict[str, dict[str, Any]]:
    """Every way to call a constructor, by label: sizes are fixed, and objects are tried in all their kinds."""
    ways: dict[str, dict[str, Any]] = {"": {}}
    kinds: dict[str, dict[str, Any]] = {
        "width": {"": WIDTH},
        "heads": {"": HEADS},
        "inputs": {"": INPUTS},
        "mask": masks(),
        "score": {entry.name: entry.load() for entry in entries("scores")},
        "position": {"": None}
        | {entry.name: entry.load() for entry in entries("positions") if entry.facts["acts"] == "scores"},
        "cell": cells(),
        "layers": stacks(),
    }
    for parameter in inspect.signature(constructor).parameters.values():
        if parameter.name in kinds:
            choices = kinds[parameter.name].items()
            ways = {f"{a} {b}".strip(): way | {parameter.name: kind} for a, way in ways.items() for b, kind in choices}
        elif parameter.default is inspect.Parameter.empty:
            raise LookupError(
                f"`{constructor.__name__}` wants `{parameter.name}`: tell tests/contracts/tiny.py what that may be"
            )
    return ways


def mixers() -> Iterator[Case]:
    """What mixes a sequence: `forward(x, keep)`, and cross-attention to itself.

    Layers that take something else (grids, two streams, pointers) have contracts of their own. Arguments that a layer
    refuses are left out.
    """
    for room in ("attention", "recurrences"):
        for entry in (e for e in entries(room) if takes(e)[:2] == ["x", "keep"] or e.name == "cross"):
            for label, way in arguments(entry.load()).items():
                make = partial(_make, entry, way)
                with contextlib.suppress(ConfigError):
                    inputs = WIDTH if room == "attention" else INPUTS
                    yield Case(f"{entry.name} {label}".strip(), make, inputs, WIDTH, make().causal)


def _make(entry: Entry, way: dict[str, Any]) -> Any:
    torch.manual_seed(31)
    layers = {"layers": way["layers"]()} if "layers" in way else {}
    mixer = entry.load()(**(way | layers))
    return (Inward(mixer) if entry.name == "cross" else mixer).eval()


def takes(entry: Entry) -> list[str]:
    """The arguments of a layer's `forward`."""
    return list(inspect.signature(entry.load().forward).parameters)[1:]


# -- models ------------------------------------------------------------------------------------------------------------

TRANSLATE, WRITE, CLASSIFY, TAG, SEE = (
    ("tokens", "target tokens"),
    ("tokens", "next token"),
    ("tokens", "one vector"),
    ("tokens", "one per position"),
    ("pictures", "one vector"),
)


def models(kind: tuple[str, str]) -> list[Entry]:
    """The models that read and give this."""
    return list(registry.models_for(*kind).values())


def contracts(kind: tuple[str, str]) -> list[Contract]:
    """The contracts of this kind of model."""
    return [contract for group, reason in contracts_for(kind) if not reason for contract in group]


def causal_or_not(entry: Entry) -> list[str]:
    """The mixers that fit a model: those that can look back only, or those that can look to both sides."""
    if "next token" in entry.facts["gives"] or entry.facts.get("causal"):
        return [name for name, mixer in registry.mixers().items() if mixer.load().sees != "all"]
    return [
        name for name, mixer in registry.mixers().items() if mixer.load().sees != "past" or mixer.room == "recurrences"
    ]


def options(kind: tuple[str, str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every model of a kind as it comes, then with each value of each of its choices, and with each mixer that fits."""
    for entry in models(kind):
        fields = {field.name: field for field in dataclasses.fields(entry.module.Config)}
        hints = typing.get_type_hints(entry.module.Config)
        yield entry.name, {}
        if "mixer" in fields:
            names = [name for name in causal_or_not(entry) if name != fields["mixer"].default]
            yield from ((entry.name, {"mixer": name}) for name in names)
        for name, kinds in hints.items():
            literal = typing.get_origin(kinds) is typing.Literal
            values = typing.get_args(kinds) if literal else (True, False) if kinds is bool else ()
            yield from ((entry.name, {name: value}) for value in values if value != fields[name].default)


def case(name: str, chosen: dict[str, Any], kind: tuple[str, str] | None = None) -> ModelCase:
    """A model as one of the kinds that it is (default: the first)."""
    entry = registry.get("models", name)
    return ModelCase(entry, kind or kinds_of(entry.load())[0], chosen)


def build(name: str, chosen: dict[str, Any], sizes: dict[str, int] | None = None) -> Any:
    """A model as its constructor makes it; it is given the sizes it asks for by name."""
    made = case(name, chosen)
    return made.build(sizes_for(made.kind) | (sizes or {}))


def model(name: str, chosen: dict[str, Any], vocabulary: int = VOCABULARY, seed: int = 37) -> Any:
    """A model far from its first weights."""
    made = case(name, chosen)
    sizes = sizes_for(made.kind)
    return made.scattered(seed, sizes | {size: vocabulary for size in sizes if "vocabulary" in size})
