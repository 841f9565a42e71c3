"""The representations of the examples as points, layer by layer: what dimensions and ranks are measured on.

"b d" and pictures "b c y x" are one point for each example, "b t d" one for each position that is no padding.
"""

import numpy as np
import torch
from torch import Tensor

from headway.probe.subject import Subject

MOST = 1000  # points of a layer


def representations(subject: Subject) -> dict[str, np.ndarray]:
    """For the input and each layer the points "n d", at most `MOST`, drawn at random with the subject's seed."""
    found: dict[str, list[Tensor]] = {}
    with torch.no_grad():
        for batch in subject.batches:
            seen = subject.run(batch)
            for name, value in {"input": seen.x, **seen.layers}.items():
                mask = subject.mask(batch, value)
                points = (
                    value.flatten(1) if value.ndim != 3 else value[mask] if mask is not None else value.flatten(0, 1)
                )
                found.setdefault(name, []).append(points[points.isfinite().all(1)])  # hidden choices are -inf
    drawn = {}
    for name, parts in found.items():
        # a length that differs between batches is no dimension
        if len({part.shape[1] for part in parts}) == 1 and any(len(part) for part in parts):
            points = torch.cat(parts)
            drawn[name] = points[torch.randperm(len(points), generator=subject.random())[:MOST]].numpy()
    return drawn
