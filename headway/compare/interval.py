"""Mean and 95 % interval over seeds, and which differences are real.

    mean ± t s / sqrt(n)        s: standard deviation over n seeds
                                t: 0.975 quantile of Student's t distribution with n - 1 degrees of freedom

Student 1908, "The probable error of a mean". A difference counts as real only if the intervals do not overlap, which is
stricter than a test of the difference itself.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Interval:
    """A mean over seeds; `half` is None if there was one seed only."""

    mean: float
    half: float | None = None

    def overlaps(self, other: "Interval") -> bool:
        """Whether the two may be the same. Without an interval nothing can be ruled out."""
        if self.half is None or other.half is None:
            return True
        return abs(self.mean - other.mean) <= self.half + other.half

    def format(self, digits: int) -> str:
        return f"{self.mean:.{digits}f}" + ("" if self.half is None else f" ± {self.half:.{digits}f}")


def interval(values: Sequence[float]) -> Interval:
    """Mean and 95 % interval of these values, one for each seed."""
    if len(values) < 2:
        return Interval(values[0])
    from scipy.stats import t

    quantile = float(t.ppf(0.975, len(values) - 1))
    return Interval(statistics.fmean(values), quantile * statistics.stdev(values) / math.sqrt(len(values)))


def differences(found: dict[str, Interval], better: Literal["higher", "lower"]) -> list[str]:
    """One sentence for every pair of models, the best first."""
    ranked = ranking(found, better)
    if any(i.half is None for i in found.values()):
        return ["with one seed it cannot be said which differences are real: repeat with `--seeds 3`"]
    sentences = []
    for place, first in enumerate(ranked):
        for second in ranked[place + 1 :]:
            if found[first].overlaps(found[second]):
                sentences.append(f"{first} and {second} are not distinguishable: their 95 % intervals overlap")
            else:
                sentences.append(f"{first} is better than {second}: their 95 % intervals do not overlap")
    return sentences


def ranking(found: dict[str, Interval], better: Literal["higher", "lower"]) -> list[str]:
    """The names, best first."""
    return sorted(found, key=lambda name: found[name].mean, reverse=better == "higher")
