"""The largest entries of long rows: those of a block are looked at only if its maximum is among the largest maxima.

    the n largest of a row lie in the n blocks with the largest maxima

torch finds maxima many times faster than their places, so most of a row is passed over at the speed of `amax`.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor

BLOCK = 64  # entries


def largest(values: Float[Tensor, "b v"], count: int) -> tuple[Float[Tensor, "b n"], Int[Tensor, "b n"]]:
    """The `count` largest entries of each row, largest first, and their places; of equal ones a single one is the first."""
    width = values.shape[1]
    if len(values) == 1 or width < 4 * BLOCK * count:  # short: looking at everything is faster
        return _top(values, count)
    maxima = values.unfold(1, BLOCK, BLOCK).amax(-1)
    if width % BLOCK:
        maxima = torch.cat((maxima, values[:, -(width % BLOCK) :].amax(-1, keepdim=True)), 1)
    blocks = _top(maxima, count)[1]
    begin = (blocks * BLOCK).clamp_(max=width - BLOCK)  # the last block begins earlier if it is short ...
    inside = begin[:, :, None] + torch.arange(BLOCK, device=values.device)
    entries = values.gather(1, inside.flatten(1)).view_as(inside)
    if width % BLOCK:  # ... and then repeats what may belong to another
        entries = entries.masked_fill(inside < (blocks * BLOCK)[:, :, None], float("-inf"))
    best, place = _top(entries.flatten(1), count)
    return best, inside.flatten(1).gather(1, place)


def _top(values: Float[Tensor, "b v"], count: int) -> tuple[Tensor, Tensor]:
    if count == 1:
        best, place = values.max(1, keepdim=True)  # faster than `topk`, and the first of equal ones
        return best, place
    best, place = values.topk(count, dim=1)
    return best, place
