"""Attention over pictures: the weights of every layer, as maps between the places of a grid."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor, nn

from headway.layers.attention.attend import recorded
from headway.layers.attention.non_local import NonLocal
from headway.layers.attention.shifted_window import ShiftedWindow
from headway.models.classifier import Classifier
from headway.tasks.uses import Map

MOST = 1024  # places along a side of a map that is drawn: a million weights for each head

Grid = tuple[int, int]  # rows and columns


@runtime_checkable
class ReadsPatches(Protocol):
    """A model whose attention is among a class token and the patches of a grid, row by row."""

    grid: Grid


@dataclass(frozen=True, eq=False)
class PictureMap:
    """The weights of one layer: how much each place of a grid (a row of `weights`) looked at each place of another."""

    name: str
    weights: Float[Tensor, "h t s"]
    queries: Grid
    keys: Grid
    token: bool = False  # whether a class token stands before the places of both grids

    def received(self) -> Float[Tensor, "y x"]:
        """How much each place was looked at, the mean over heads and over those that look."""
        return self.weights.mean((0, 1))[self.token :].view(self.keys)


def picture_maps(model: Classifier, scaled: Float[Tensor, "1 c y x"]) -> list[PictureMap]:
    """The map of every attention layer for one picture, the first layer first; none if the model does not attend."""
    if not isinstance(model, nn.Module):
        return []
    with torch.inference_mode(), recorded(model) as calls:
        model(scaled)
    weights = {name: found[0].cpu() for name, found in calls.items() if found}
    if isinstance(model, ReadsPatches):
        return [PictureMap(name, w[0], model.grid, model.grid, token=True) for name, w in weights.items()]
    maps = []
    for name, module in model.named_modules():
        if isinstance(module, ShiftedWindow):
            rows, columns = output_of(model, module, scaled).shape[1:3]
            placed = module.over_grid(weights[name], rows, columns)[0]
            maps.append(PictureMap(name, placed, (rows, columns), (rows, columns)))
        elif isinstance(module, NonLocal):
            rows, columns = output_of(model, module, scaled).shape[2:]
            whole = weights[name].shape[-1] == rows * columns
            keys = (rows, columns) if whole else (rows // 2, columns // 2)  # keys may be pooled
            maps.append(PictureMap(name, weights[name][0], (rows, columns), keys))
    return maps


def drawn_maps(maps: Sequence[PictureMap]) -> list[Map]:
    """The maps as matrices, a place `row,column` counted from 1; without those too large to be read."""
    return [
        Map(m.name, "encoder", number, m.weights.numpy(), places(m.queries, m.token), places(m.keys, m.token))
        for number, m in enumerate(maps, 1)
        if max(m.weights.shape[1:]) <= MOST
    ]


def places(grid: Grid, token: bool) -> tuple[str, ...]:
    """A label for each place of a grid, row by row."""
    return ("class",) * token + tuple(f"{y + 1},{x + 1}" for y in range(grid[0]) for x in range(grid[1]))


def output_of(model: Classifier, module: nn.Module, scaled: Float[Tensor, "1 c y x"]) -> Tensor:
    """What a part of the model gives for this picture."""
    found: list[Tensor] = []
    handle = module.register_forward_hook(lambda _module, _inputs, output: found.append(output.detach()))
    try:
        with torch.inference_mode():
            model(scaled)
    finally:
        handle.remove()
    return found[0]
