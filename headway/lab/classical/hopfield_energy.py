"""The energy of a Hopfield network goes down."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from headway.core.config import require
from headway.lab import style
from headway.lab.checks import Check, at_least, at_most, close, equal
from headway.lab.classical.hopfield_descent import descend, energy, sgn, symmetric
from headway.lab.old import Experiment

SIDE = 12  # of the pictures, in pixels


@dataclass(frozen=True)
class Config:
    n: int = 50  # units
    starts: int = 200  # random starts, each with its own order of updates
    sweeps: int = 100  # after which a run counts as unsettled
    corrupted: float = 0.2  # share of the pixels of a picture that are flipped

    def __post_init__(self) -> None:
        require((self.n >= 4 and self.starts >= 1 and self.sweeps >= 1, "n >= 4, starts >= 1, sweeps >= 1"))
        require((0 <= self.corrupted < 0.5, "corrupted is between 0 and ½"))


def pictures() -> np.ndarray:
    """A ring, a cross and stripes of SIDE × SIDE pixels ±1."""
    row, column = np.indices((SIDE, SIDE)) - (SIDE - 1) / 2
    radius = np.hypot(row, column)
    ring, cross = (radius > 2.5) & (radius < 5), (np.abs(np.abs(row) - np.abs(column)) < 1.5) & (radius < 7.5)
    return np.where(np.stack([ring, cross, (column + row) % 6 < 3]).reshape(3, -1), 1.0, -1.0)


class HopfieldEnergy(Experiment):
    """Asynchronous updates of a Hopfield network never raise its energy, so every run ends in a fixed point.

    With w_ij = w_ji and w_ii = 0, states x ∈ {-1, +1}^n and the field H_i,

        H(x) = -½ xᵀWx + bᵀx,     H_i = Σ_j w_ij x_j - b_i,     flipping x_i changes H by ΔH = 2 x_i H_i  (x_i, H_i before the flip)

    so x_i <- sgn(H_i), with sgn(0) = +1, only takes steps with ΔH <= 0. Synchronous updates can go to and fro between two states, and
    without symmetry or with a negative diagonal the energy can rise. (With W antisymmetric and b = 0 the energy is 0 in every state:
    what breaks there is the formula for ΔH and the existence of fixed points, so that is what the control tests.)
    """

    lecture = "C"
    kinds = ("BOUND",)
    cost = "S"
    source = "Hopfield 1982, https://doi.org/10.1073/pnas.79.8.2554"
    assumptions = ("w_ij = w_ji", "w_ii = 0 (or >= 0)", "one unit at a time")
    aliases = ("Hopfield network energy descent", "asynchronous Hopfield dynamics")
    panels = 2
    small = {"n": 20, "starts": 20}

    def measure(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        W, b = symmetric(c.n, rng), rng.normal(0, 0.3, c.n)
        x = rng.choice([-1.0, 1.0], (c.starts, c.n))
        flipped = np.where(np.eye(c.n, dtype=bool), -x[:, None], x[:, None])  # each state with each unit flipped
        direct = energy(flipped.reshape(-1, c.n), W, b).reshape(c.starts, c.n) - energy(x, W, b)[:, None]
        yield close(f"ΔH = 2 x_i H_i for all {c.n} units of {c.starts} states", 2 * x * (x @ W - b), direct, 1e-12)
        self.run = run = descend(x, W, b, c.sweeps, rng)
        steps = np.diff(run.energies, axis=0)
        yield at_most("ΔH of every step, recomputed", steps, 1e-12)
        yield at_most("ΔH of every step, by the formula", run.predicted, 0.0)
        yield close("ΔH of every step: recomputed and formula", steps, run.predicted, 1e-12)
        yield equal("runs that settle", int(run.settled.sum()), c.starts)
        yield equal("the ends are fixed points x = sgn(Wx - b)", run.x, sgn(run.x @ W - b))
        whole = np.rint(3 * symmetric(c.n, rng) * c.n**0.5)  # whole numbers and b = ½: |H_i| >= ½, so a flip lowers H by at least 1
        counted = descend(x, whole, np.full(c.n, 0.5), c.sweeps, rng)
        yield at_most("flips, whole-numbered W: at most H(start) - H(end)", counted.flips, counted.energies[0] - counted.energies[-1])

        small, thresholds = np.rint(2 * symmetric(8, rng) * 8**0.5), np.rint(rng.normal(0, 1, 8))
        states = 2.0 * ((np.arange(256)[:, None] >> np.arange(8)) & 1) - 1
        unit = np.eye(8, dtype=bool)[:, None]  # the energies of every state with unit i up, and with unit i down
        up, down = (np.stack([energy(np.where(i, value, states), small, thresholds) for i in unit], axis=1) for value in (1, -1))
        yield at_least("ties among all states of 8 units, whole-numbered W", int(np.sum(up == down)), 1, kind="EXACT")
        by_energy, by_field = np.where(up <= down, 1.0, -1.0), sgn(states @ small - thresholds)
        yield equal("the rule by energies and the rule by fields, ties to +1", by_energy, by_field)
        tied = descend(states, small, thresholds, c.sweeps, rng)
        yield equal("with ties: runs that settle, of all 256 starts", int(tied.settled.sum()), 256)
        self.stored = pictures()
        hebb = self.stored.T @ self.stored / SIDE**2
        np.fill_diagonal(hebb, 0.0)
        self.noisy = self.stored.copy()
        for picture in self.noisy:
            picture[rng.choice(SIDE**2, round(c.corrupted * SIDE**2), replace=False)] *= -1
        self.recalled = descend(self.noisy, hebb, np.zeros(SIDE**2), c.sweeps, rng).x
        yield equal(f"pictures recalled from {c.corrupted:.0%} flipped pixels", self.recalled, self.stored)

    def control(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        n, none = c.n, np.zeros(c.n)
        W, x = np.eye(n) - 1, np.ones((1, n))
        after = sgn(x @ W)
        yield equal("synchronous, W = I - 11ᵀ: all units at once, then the same again", after, sgn(after @ W))
        uneven = x.copy()
        uneven[0, : n // 2 - 1] = -1
        yield at_most("synchronous, W = I - 11ᵀ: ΔH", energy(sgn(uneven @ W), W, none) - energy(uneven, W, none), 1e-12)
        starts = rng.choice([-1.0, 1.0], (min(c.starts, 50), n))
        upper = np.triu(symmetric(n, rng))
        anti = descend(starts, upper - upper.T, none, 10, rng)
        yield close("antisymmetric W: ΔH = 2 x_i H_i", np.diff(anti.energies, axis=0), anti.predicted, 1e-12)
        yield equal("antisymmetric W: runs that settle", int(anti.settled.sum()), len(starts))
        uneven_w = rng.normal(0, n**-0.5, (n, n)) * (1 - np.eye(n))
        yield at_most("W not symmetric: ΔH", np.diff(descend(starts, uneven_w, none, 10, rng).energies, axis=0), 1e-12)
        self.negative = descend(starts, symmetric(n, rng) - 2 * np.eye(n), none, 10, rng)
        yield at_most("diagonal -2: ΔH", np.diff(self.negative.energies, axis=0), 1e-12)

    def plot(self, c: Config, axes: "style.Panels") -> None:
        n = c.n
        for i in range(min(12, c.starts)):
            shown = self.run.energies[: 6 * n, i]
            axes[0].plot(np.arange(shown.size) / n, shown, **style.CURVE | {"linewidth": 1}, label="" if i else "symmetric, zero diagonal")
        shown = self.negative.energies[: 6 * n, 0] - 1.0 * n  # xᵀDx/2 is the same in every state
        axes[0].plot(np.arange(shown.size) / n, shown, **style.CONTROL | {"marker": ""}, label="diagonal -2 (its constant removed)")
        axes[0].set(title="Energy falls until nothing changes", xlabel="sweeps over all units", ylabel="energy H")
        axes[0].set_ylim(top=max(shown.max(), self.run.energies[0].max()) + 0.35 * np.ptp(self.run.energies[:, :12]))
        axes[0].legend(loc="upper right")
        groups = zip(self.stored, self.noisy, self.recalled, strict=True)
        rows = [np.hstack([np.pad(p.reshape(SIDE, SIDE), 1) for p in group]) for group in groups]
        axes[1].imshow(np.vstack(rows), cmap="Greys", vmin=-1, vmax=1, interpolation="nearest")
        centres = (np.arange(3) + 0.5) * (SIDE + 2) - 0.5
        axes[1].set_xticks(centres, ["stored", f"{c.corrupted:.0%} flipped", "recalled"])
        axes[1].set_yticks(centres, ["ring", "cross", "stripes"])
        axes[1].grid(False)
        axes[1].set(title="Recall of pictures", xlabel="state of the network", ylabel="pattern")
