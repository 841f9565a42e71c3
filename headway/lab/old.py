"""An experiment: a statement of the theory, what is measured, what bounds it, and a control that must break it.

One file, one class, named alike (`depth/telgarsky_32.py`, `Telgarsky32`, `telgarsky-32`). The class docstring is the statement with its
equation; the frozen dataclass `Config` beside it holds the parameters. Everything else (command, verdict, table, figure, page, test)
follows from the file.
"""

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from headway.core.errors import ConfigError
from headway.lab.checks import Check
from headway.lab.experiment import BOUND_HOLDS, CONFIRMED, NOT_REPRODUCED, REFUTED, SEEDS, SKIPPED, DataMissing  # noqa: F401

if TYPE_CHECKING:
    from headway.lab.relu_net import ReluNet
    from headway.lab.style import Panels

class Experiment:
    """What a file of the lab fills in. An instance lives for one run: `measure` leaves on it what `plot` draws."""

    lecture: str = ""  # keys of the notes, "A" or "C, E"
    kinds: tuple[str, ...] = ()
    cost: str = "S"  # S under 1 s, M under 10 s, L under 60 s, on 2 cores
    source: str = ""
    assumptions: tuple[str, ...] = ()
    errata: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    panels: int | tuple[int, int] = 1  # of the figure: how many side by side, or (rows, columns)
    full: dict[str, Any] = {}  # parameters of `--full`
    small: dict[str, Any] = {}  # parameters for the test suite

    def measure(self, c: Any, rng: np.random.Generator) -> Iterable[Check]:
        """The claim, as checks that must hold. Called once."""
        return ()

    def sample(self, c: Any, rng: np.random.Generator) -> Iterable[Check]:
        """The part of the claim that is about chance: called after `measure`, once for each of three seeds."""
        return ()

    def control(self, c: Any, rng: np.random.Generator) -> Iterable[Check]:
        """The same claim with an assumption broken, or as printed: each of these checks must fail."""
        return ()

    def examine(self, network: "ReluNet", c: Any, rng: np.random.Generator) -> Iterable[Check]:
        """The claim on a network that a person brought, in place of `measure`."""
        raise ConfigError(f"`{type(self).__name__}` has no place for a network of your own", "`headway lab list` marks those that do.")

    def plot(self, c: Any, axes: "Panels") -> None:
        """Draw what was measured; nothing is computed again."""
        raise TypeError(f"`{type(self).__name__}` is an experiment without a figure")


def judge(kinds: Sequence[str], checks: Sequence[Check], controls: Sequence[Check]) -> tuple[str, tuple[str, ...]]:
    """The verdict, and where it is `NOT REPRODUCED` the reasons."""
    reasons = [f"{c.name}: measured {c.measured}, expected {c.relation} {c.reference}" for c in checks if not (c.holds and c.defined)]
    for control in controls:
        if not control.defined:
            reasons.append(f"the control `{control.name}` is not a number, so it shows nothing")
        elif control.holds:
            reasons.append(f"the control `{control.name}` passed: {control.measured} {control.relation} {control.reference}")
    if not checks:
        reasons.append("nothing was measured")
    if not controls:
        reasons.append("there is no control")
    missing = set(kinds) - {c.kind for c in (*checks, *controls)}
    if missing and checks:
        reasons.append(f"no check of the kind {', '.join(sorted(missing))}")
    if reasons:
        return NOT_REPRODUCED, tuple(reasons)
    if any(control.kind == "REFUTE" for control in controls):
        return REFUTED, ()
    slacks = [c.slack for c in checks if c.kind == "BOUND" and c.slack is not None and math.isfinite(c.slack)]
    return (f"{BOUND_HOLDS} (slack {min(slacks):.3g})" if "BOUND" in kinds and slacks else CONFIRMED), ()
