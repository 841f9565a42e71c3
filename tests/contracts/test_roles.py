"""Every parameter of every registered layer has a role that its layer declares; optimizers read them."""

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from test_convolutions import cases
from tiny import HEADS, WIDTH, mixers
from torch import nn

from headway.core import registry
from headway.layers.attention.non_local import NonLocal
from headway.layers.attention.pointer import Pointer
from headway.layers.attention.shifted_window import ShiftedWindow
from headway.layers.attention.two_stream import TwoStream
from headway.layers.embedding import Embedding
from headway.layers.feedforward import Feedforward
from headway.layers.roles import ROLES, declared, roles

GRIDS = [NonLocal(6), ShiftedWindow(WIDTH, HEADS, 3, 1)]
OTHERS = [*GRIDS, Pointer(WIDTH), TwoStream(WIDTH, HEADS), Embedding(5, WIDTH), Feedforward(WIDTH, 7)]
NUMBERS = {"width": WIDTH, "heads": HEADS, "dropout": 0.0, "alpha": 2.0, "layer": nn.Linear(WIDTH, 3)}


def layers() -> Iterator[tuple[str, nn.Module]]:
    yield from ((case.label, case.make()) for case in mixers())
    yield from ((case.label, case.make()) for case in cases())
    yield from ((type(layer).__name__, layer) for layer in OTHERS)
    for room in ("scores", "positions", "norms", "connections"):
        for entry in registry.entries(room).values():
            wanted = {name: NUMBERS[name] for name in entry.facts["arguments"] if name in NUMBERS}
            yield entry.name, entry.load()(**wanted)


EVERY = list(layers())


def test_every_room_is_covered() -> None:
    made = {type(module) for _, layer in EVERY for module in layer.modules()}
    rooms = ("attention", "recurrences", "convolutions", "scores", "positions", "norms", "connections")
    assert not [e.name for room in rooms for e in registry.entries(room).values() if e.load() not in made]


@pytest.mark.parametrize(("name", "layer"), EVERY, ids=[name for name, _ in EVERY])
def test_every_parameter_has_a_declared_role(name: str, layer: nn.Module) -> None:
    for path, module in layer.named_modules():
        own: dict[str, Any] = dict(module.named_parameters(recurse=False))
        for parameter, value in own.items():
            assert declared(module, parameter, value) in ROLES, (
                f"`{path}.{parameter}` of shape {tuple(value.shape)} has no role"
            )
        invented = set(getattr(type(module), "roles", {})) - set(own)
        assert not invented, f"`{type(module).__name__}` declares roles for {invented}, which it does not have"


@pytest.mark.parametrize(("name", "layer"), EVERY, ids=[name for name, _ in EVERY])
def test_a_matrix_is_a_matrix(name: str, layer: nn.Module) -> None:
    """Muon orthogonalises (out, in * taps); what has one axis is a vector or a rate."""
    values = dict(layer.named_parameters())
    for path, role in roles(layer).items():
        assert (values[path].dim() >= 2) if role in ("matrix", "map", "table") else True, f"`{path}` is called a {role}"
        assert role != "matrix" or torch.is_floating_point(values[path].flatten(1))
