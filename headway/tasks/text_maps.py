"""Attention maps over the tokens of one text."""

from collections.abc import Callable, Sequence

import torch
from torch import nn

from headway.layers.attention.attend import recorded
from headway.models.reader import Reader
from headway.tasks.uses import Map


def text_maps(model: object, kind: str, labels: Sequence[str], forward: Callable[[], object]) -> list[Map]:
    """Maps of every layer and head while `forward` reads one text; none if the model does not attend.

    kind     `encoder` or `decoder`
    labels   the tokens of the text
    """
    if not isinstance(model, nn.Module):
        return []
    with torch.inference_mode(), recorded(model) as maps:
        forward()
    square = (len(labels), len(labels))  # memories, windows and landmarks have shapes of their own
    return [
        Map(name, kind, number, weights[0].cpu().numpy(), tuple(labels), tuple(labels))
        for number, (name, calls) in enumerate(maps.items(), 1)
        for weights in calls
        if tuple(weights.shape[-2:]) == square
    ]


def reader_maps(
    model: Reader, ids: Sequence[int], labels: Sequence[str], segments: Sequence[int] | None = None
) -> list[Map]:
    """Maps of a model that reads a text from both sides."""
    device = next(iter(model.parameters())).device
    row = torch.tensor([list(ids)], device=device)
    parts = None if segments is None else torch.tensor([list(segments)], device=device)
    return text_maps(model, "encoder", labels, lambda: model.states(row, torch.ones_like(row, dtype=torch.bool), parts))
