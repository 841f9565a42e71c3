"""Attention maps of a model that reads a text from both sides."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from headway.layers.attention.attend import recorded
from headway.models.reader import Reader
from headway.tasks.uses import Map


def reader_maps(
    model: Reader, ids: Sequence[int], labels: Sequence[str], segments: Sequence[int] | None = None
) -> list[Map]:
    """Maps of every layer and head for one row of ids; none if the model does not attend."""
    device = next(iter(model.parameters())).device
    row = torch.tensor([list(ids)], device=device)
    parts: Tensor | None = None if segments is None else torch.tensor([list(segments)], device=device)
    if not isinstance(model, nn.Module):
        return []
    with torch.inference_mode(), recorded(model) as maps:
        model.states(row, torch.ones_like(row, dtype=torch.bool), parts)
    found = []
    for number, (name, calls) in enumerate(maps.items(), 1):
        for weights in calls:
            if tuple(weights.shape[-2:]) == (len(ids), len(ids)):  # windows and landmarks have shapes of their own
                found.append(Map(name, "encoder", number, weights[0].cpu().numpy(), tuple(labels), tuple(labels)))
    return found
