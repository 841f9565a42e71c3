"""Choosing points one after the other, by beam search under a rule.

    rule           what may be chosen next
    Subset         each point at most once; the end may come after the first choice: a convex hull
    Permutation    each point exactly once, then the end: sorting, a tour

The mask makes every answer valid; probabilities are not divided anew, so a hypothesis has the probability that the model gives it.
"""

from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from headway.core.errors import UsageError
from headway.decode.hypothesis import Hypothesis
from headway.decode.state import pick
from headway.models.pointing import END, Pointing

FORBIDDEN = float("-inf")


@runtime_checkable
class Rule(Protocol):
    def allowed(self, left: Bool[Tensor, "k s"], position: int) -> Bool[Tensor, "k s"]:
        """What may be chosen at this position; `left`: what was not chosen yet, the end mark in column 0 not counted."""


class Subset:
    """Each point at most once, at least one."""

    def allowed(self, left: Bool[Tensor, "k s"], position: int) -> Bool[Tensor, "k s"]:
        may = left.clone()
        may[:, END] = position > 0
        return may


class Permutation:
    """Each point exactly once."""

    def allowed(self, left: Bool[Tensor, "k s"], position: int) -> Bool[Tensor, "k s"]:
        may = left.clone()
        may[:, END] = ~left[:, END + 1 :].any(1)
        return may


@torch.inference_mode()
def point(
    model: Pointing, points: Float[Tensor, "b n c"], keep: Bool[Tensor, "b n"], rule: Rule, beam: int = 1
) -> list[Hypothesis]:
    """The best sequence of choices for each set of points, numbered from 1, without the end mark. `beam` 1 is greedy search.

    points   the sets, padded on the right
    rule     what may be chosen next: `Subset()` or `Permutation()`

    The `beam` best beginnings are continued; finished ones stay among them with their log-probability, and the best in
    the end is returned. There is no length penalty: a longer hull is not a better one.
    Also called pointer decoding, masked decoding.
    """
    if beam < 1:
        raise UsageError(f"`beam` {beam} should be at least 1")
    count, size = points.shape[:2]
    memory, state = model.read(points, keep)
    state = pick(state, torch.arange(count, device=points.device).repeat_interleave(beam))
    left = torch.cat((torch.zeros_like(keep[:, :1]), keep), 1).repeat_interleave(beam, 0)  # "bk s"
    done = torch.zeros(count * beam, dtype=torch.bool, device=points.device)
    score = torch.full((count, beam), FORBIDDEN, device=points.device)
    score[:, 0] = 0.0  # all hypotheses are the same at first; only one of them counts
    chosen = torch.full((count * beam, 1), END, device=points.device)
    only_end = torch.arange(size + 1, device=points.device) == END
    for position in range(size + 1):
        log_p, state = model.step(chosen[:, -1], state, memory)
        log_p = log_p.masked_fill(~rule.allowed(left, position), FORBIDDEN)
        log_p = torch.where(done[:, None], torch.where(only_end, 0.0, FORBIDDEN), log_p)  # what is finished stays so
        total = (score[..., None] + log_p.unflatten(0, (count, beam))).flatten(1)
        score, index = total.topk(beam, dim=1)
        first = torch.arange(count, device=points.device)[:, None] * beam
        rows, next_ = (first + index // (size + 1)).flatten(), (index % (size + 1)).flatten()
        chosen = torch.cat((chosen[rows], next_[:, None]), 1)
        state, left, done = pick(state, rows), left[rows].scatter(1, next_[:, None], False), done[rows] | (next_ == END)
        if bool(done.view(count, beam)[score > FORBIDDEN].all()):
            break
    best = chosen.view(count, beam, -1)[:, 0, 1:].tolist()
    return [
        Hypothesis(tuple(i for i in row if i != END), value)
        for row, value in zip(best, score[:, 0].tolist(), strict=True)
    ]
