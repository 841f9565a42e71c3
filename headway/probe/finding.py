"""What a probe gives: numbers, figures and one sentence; or the reason why it does not apply."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from headway.tasks.panels import Panel

Number = int | float | str | list[int] | list[float]


@dataclass(frozen=True, eq=False)
class Finding:
    """The result of one probe.

    reading   one sentence: what the numbers say of this model
    kind      exact: computed to rounding on these examples; estimate: from a sample of points or with an iterative method
    basis     what the numbers were computed from, and how
    """

    reading: str
    kind: Literal["exact", "estimate"]
    basis: str
    numbers: Mapping[str, Number]
    panels: tuple[Panel, ...] = ()


class NotApplicableError(Exception):
    """Raised by a probe that has nothing to measure on this model; the message is the reason, for people."""
