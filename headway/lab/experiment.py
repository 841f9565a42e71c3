"""An experiment: a statement of the theory, what is measured, what bounds it, and a control that must break it.

One file, one class, named alike (`depth/telgarsky_32.py`, `Telgarsky32`, `telgarsky-32`). The docstring is the statement
(`statement.py`), class attributes made by `param` are the parameters (`parameters.py`), `measure` and `control` yield rows
(`checks.py`), `plots` returns panels (`panel.py`). Command, verdict, table, figure, page and test follow from the file.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from headway.core.errors import ConfigError, DataError
from headway.lab.checks import Check
from headway.lab.parameters import read_all

if TYPE_CHECKING:
    from headway.lab.panel import Panel
    from headway.lab.relu_net import ReluNet

CONFIRMED = "CONFIRMED"
BOUND_HOLDS = "BOUND HOLDS"
REFUTED = "REFUTED AS PRINTED, CONFIRMED AS CORRECTED"
NOT_REPRODUCED = "NOT REPRODUCED"
SKIPPED = "SKIPPED (data missing)"
SEEDS = 3  # how many seeds a statement about an expectation or a probability is tried with


class DataMissing(DataError):
    """Raised by an experiment that needs files which are not there."""


class Experiment:
    """What a file of the lab fills in. An instance is one run: `measure` leaves on it what `plots` draws."""

    cost: str = "S"  # S under 1 s, M under 10 s, L under 60 s, on 2 cores

    def __init__(self, **values: Any) -> None:
        for name, value in read_all(type(self), values).items():
            setattr(self, name, value)
        for holds, message in self.conditions():
            if not holds:
                raise ConfigError(message)

    def conditions(self) -> Iterable[tuple[bool, str]]:
        """What several parameters must fulfil together: `(self.d < self.s, "d must be less than s")`."""
        return ()

    def measure(self, rng: np.random.Generator) -> Iterable[Check]:
        """The claim, as checks that must hold. Called once."""
        return ()

    def sample(self, rng: np.random.Generator) -> Iterable[Check]:
        """The part of the claim that is about chance: called after `measure`, once for each of three seeds."""
        return ()

    def control(self, rng: np.random.Generator) -> Iterable[Check]:
        """The same claim with an assumption broken, or as printed: each of these checks must fail."""
        return ()

    def resolution(self, rng: np.random.Generator) -> Iterable[Check]:
        """The same data against a wrong number: these checks must fail, too, or the measurement is too coarse."""
        return ()

    def examine(self, network: "ReluNet", rng: np.random.Generator) -> Iterable[Check]:
        """The claim on a network that a person brought, in place of `measure`."""
        name = type(self).__name__
        raise ConfigError(f"`{name}` has no place for a network of your own", "`headway lab list` marks those that do.")

    def plots(self) -> "Sequence[Panel]":
        """What was measured, as panels; nothing is computed again."""
        raise TypeError(f"`{type(self).__name__}` is an experiment without a figure")


def judge(checks: Sequence[Check], controls: Sequence[Check], resolution: Sequence[Check]) -> tuple[str, tuple[str, ...]]:
    """The verdict, and where it is `NOT REPRODUCED` the reasons."""
    reasons = [
        f"{c.name}: measured {c.measured}, expected {c.relation} {c.reference}"
        for c in checks
        if not (c.holds and c.defined)
    ]
    for kind, rows in (("control", controls), ("resolution", resolution)):
        for row in rows:
            if not row.defined:
                reasons.append(f"the {kind} `{row.name}` is not a finite number, so it shows nothing")
            elif row.holds:
                reasons.append(f"the {kind} `{row.name}` passed: {row.measured} {row.relation} {row.reference}")
    headlines = [c for c in checks if c.headline]
    if not checks:
        reasons.append("nothing was measured")
    elif not headlines:
        reasons.append("no check is the headline")
    if not any(row.kind != "REFUTE" for row in controls):
        reasons.append("there is no control that breaks an assumption")
    if reasons:
        return NOT_REPRODUCED, tuple(reasons)
    if any(row.kind == "REFUTE" for row in (*controls, *resolution)):
        return REFUTED, ()
    slacks = [c.slack for c in headlines if c.kind == "BOUND" and c.slack is not None]
    if slacks:
        return f"{BOUND_HOLDS} (slack {min(slacks):.3g})", ()
    return (BOUND_HOLDS if any(c.kind == "BOUND" for c in headlines) else CONFIRMED), ()
