"""The largest entries of long rows: those of a block are looked at only if its maximum is among the largest maxima.

    the n largest of a row lie in the n blocks with the largest maxima

torch finds maxima many times faster than their places, so most of a row is passed over at the speed of `amax`.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor

BLOCK = 64  # entries


def largest(
    values: Float[Tensor, "b k v"], count: int, added: Float[Tensor, "b k"] | None = None
) -> tuple[Float[Tensor, "b n"], Int[Tensor, "b n"]]:
    """The `count` largest of values + added in each of b rows, largest first, and their places in the row of k v entries.

    If one is asked for, it is the first of equal ones.

    values   log p of the next token, for each of k hypotheses
    added    log p of the hypothesis; None: 0
    """

    def plus(y: Tensor, hypothesis: Tensor | None = None) -> Tensor:
        if added is None:
            return y
        return y + (added if hypothesis is None else added.gather(1, hypothesis))[..., None]

    b, k, v = values.shape
    if b * k == 1 or v < BLOCK or k * v < 4 * BLOCK * count:  # short: looking at everything is faster
        return _top(plus(values).flatten(1), count)
    maxima = values.unfold(2, BLOCK, BLOCK).amax(-1)
    if v % BLOCK:
        maxima = torch.cat((maxima, values[..., -(v % BLOCK) :].amax(-1, keepdim=True)), -1)
    block = _top(plus(maxima).flatten(1), count)[1]
    hypothesis, number = block // maxima.shape[-1], block % maxima.shape[-1]
    begin = (number * BLOCK).clamp(max=v - BLOCK)  # the last block begins earlier if it is short ...
    place = (hypothesis * v + begin)[..., None] + torch.arange(BLOCK, device=values.device)
    entries = plus(values.flatten(1).gather(1, place.flatten(1)).view_as(place), hypothesis)
    if v % BLOCK:  # ... and then repeats what may belong to another
        entries = entries.masked_fill(place < (hypothesis * v + number * BLOCK)[..., None], float("-inf"))
    best, where = _top(entries.flatten(1), count)
    return best, place.flatten(1).gather(1, where)


def _top(values: Float[Tensor, "b v"], count: int) -> tuple[Tensor, Tensor]:
    if count == 1:
        best, place = values.max(1, keepdim=True)  # faster than `topk`, and the first of equal ones
    else:
        best, place = values.topk(count, dim=1)
    return best, place
