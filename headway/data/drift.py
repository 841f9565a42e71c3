"""Where two files that should be parallel stop being parallel, judged by the lengths of their lines.

A long sentence has a long translation (Gale and Church 1993). With lengths a_i, b_j in characters and their usual
ratio m,

    c(i, j) = min(1, |log a_i - log b_j - log m|)

is small when line i and line j belong together and larger when they met by accident. One line too many in one of the
files shows as costs that are low at shift 0 before it and at shift 1 after it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
MOST_STEPS = 40  # more missing lines than this are sought as one block
SHIFTS = range(-5, 6)
ACCIDENTS = (7, 11, 13, 17, 19)  # shifts at which lines meet by accident
FEW = 8  # lines at the end of a file that cannot show a drift
SHORTEST = 15  # lines; a shorter stretch of accidents is not called a drift


@dataclass(frozen=True)
class Drift:
    """Pairs start:stop do not fit; with `shift` = k, source i fits target i + k. Shift 0: no shift explains it."""

    start: int
    stop: int
    shift: int


def log_lengths(texts: Sequence[str]) -> Array:
    return np.log(np.array([len(text) + 1 for text in texts], dtype=np.float64))


def costs(a: Array, b: Array) -> Array:
    cost: Array = np.minimum(np.abs(a - b), 1.0)
    return cost


def first_drift(sources: Sequence[str], targets: Sequence[str]) -> int:
    """For files of different length: the index of the first line (of either) that has lost its partner.

    The longer file has `extra` lines too many; they are put where the sum of the costs becomes least, one after the
    other: best_s[k] = least cost of the first k lines of the shorter file if s extra lines have been skipped by then.
    """
    longer, shorter = (sources, targets) if len(sources) > len(targets) else (targets, sources)
    a, b = log_lengths(longer), log_lengths(shorter)
    a, b = a - np.median(a), b - np.median(b)
    extra, n = len(a) - len(b), len(b)
    shifts = range(extra + 1) if extra <= MOST_STEPS else (0, extra)
    best, first = np.zeros(n + 1), np.zeros(n + 1, dtype=np.int64)
    for step, shift in enumerate(shifts):
        total = np.concatenate([[0.0], np.cumsum(costs(a[shift : shift + n], b))])
        if step == 0:
            best, first = total, np.arange(n + 1)
            continue
        lead = best - total  # what it is worth to have changed over to this shift at k
        least = np.minimum.accumulate(lead)
        changed = np.maximum.accumulate(np.where(lead <= least, np.arange(n + 1), 0))
        best, first = total + least, changed if step == 1 else first[changed]
    place = int(first[n])
    return place if is_drift(a, b, place) else n


def is_drift(a: Array, b: Array, place: int) -> bool:
    """Whether lines `place`: of the shorter file fit their partners no better than lines that meet by accident.

    The search above always finds some place, because among many shifts one fits a few last lines best by accident. It
    is believed if c(i, i) after the place is nearer to the cost of accidents than to the cost of partners before the
    place, for more than a few lines.
    """
    n = len(b)
    if n - place < FEW:
        return False
    own = costs(a[:n], b)
    accident = float(np.mean([costs(a[:n], np.roll(b, k)).mean() for k in ACCIDENTS]))
    partner = float(own[:place].mean()) if place >= SHORTEST else 0.0
    return float(own[place:].mean()) > (partner + accident) / 2


def find_drift(sources: Sequence[str], targets: Sequence[str]) -> Drift | None:
    """For files of equal length: the worst stretch in which lines fit their partners no better than their neighbours.

    x_i = c(i, i) - mean_k c(i, i + k) + delta / 2, where delta is how much better a partner usually fits than a
    neighbour. The sum of x falls where the files are parallel and climbs where they are not; the stretch of the largest
    sum is a drift if that sum is out of reach of a walk that falls by delta / 2 per step: P(max > t) ~ n exp(-delta t /
    var), here 1 in 100,000.
    """
    n = len(sources)
    if n < 4 * SHORTEST:
        return None
    a, b = log_lengths(sources), log_lengths(targets)
    empty = (a == 0) | (b == 0)
    a, b = a - np.median(a), b - np.median(b)
    cost = np.array([costs(a, np.roll(b, -k)) for k in SHIFTS])
    advantage = cost.mean(axis=0) - cost  # of each shift over the others, line by line
    blocks = np.array_split(advantage, max(1, n // max(SHORTEST, n // 50)), axis=1)
    # The best shift, not shift 0: in a file that is shifted from its first line on, shift 0 has no advantage anywhere.
    delta = float(np.quantile([block.mean(axis=1) for block in blocks], 0.75, axis=0).max())
    if delta < 0.02:  # lengths that hardly differ, or say nothing about each other, cannot tell
        return None
    own = advantage[SHIFTS.index(0)]
    start, stop, height = largest_sum(np.where(empty, -delta / 2, delta / 2 - own))
    if stop - start < SHORTEST or height < float(own.var()) / delta * (np.log(n) + np.log(1e5)):
        return None
    gains = (advantage - own)[:, start:stop].mean(axis=1)
    return Drift(start, stop, SHIFTS[int(gains.argmax())] if gains.max() > delta / 2 else 0)


def unrelated(sources: Sequence[str], targets: Sequence[str]) -> bool:
    """Whether lengths vary on both sides and yet do not correlate, as if one of the files had been shuffled."""
    a, b = log_lengths(sources), log_lengths(targets)
    if len(a) < 100 or min(a.std(), b.std()) < 0.2:
        return False
    return bool(np.corrcoef(a, b)[0, 1] < 3 / np.sqrt(len(a)))  # three standard errors of a correlation that is none


def largest_sum(x: Array) -> tuple[int, int, float]:
    """The stretch start:stop whose sum is largest, and that sum."""
    total = np.concatenate([[0.0], np.cumsum(x)])
    lowest = np.minimum.accumulate(total)
    stop = int(np.argmax(total - lowest))
    start = int(np.flatnonzero(total[: stop + 1] == lowest[stop])[-1])
    return start, stop, float(total[stop] - lowest[stop])
