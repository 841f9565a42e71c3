"""The perceptron on data that no line separates."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from headway.core.config import require
from headway.lab import style
from headway.lab.checks import Check, at_least, at_most, equal
from headway.lab.classical.cover_count import separable
from headway.lab.classical.perceptron_walk import cycle, norms, reachable, walk
from headway.lab.old import Experiment

XOR = np.array([[0, 0, 1], [1, 1, 1], [0, -1, -1], [-1, 0, -1]])  # rows y (x₁, x₂, 1) with the labels of notes C: +1, +1, -1, -1
AND = np.array([[0, 0, -1], [1, 1, 1], [0, -1, -1], [-1, 0, -1]])


@dataclass(frozen=True)
class Config:
    epochs: int = 10000  # passes over the four points
    sets: int = 5  # random sets of whole-numbered points that are not separable
    reach: int = 20000  # states after which a search is given up

    def __post_init__(self) -> None:
        require((self.epochs >= 10, "epochs >= 10"), (self.sets >= 1, "sets >= 1"), (self.reach >= 1, "reach >= 1"))


def inseparable(rng: np.random.Generator) -> np.ndarray:
    """Six points with coordinates -2 … 2 and random labels that no line separates, as rows y (x, 1)."""
    while True:
        x, y = rng.integers(-2, 3, (6, 2)), rng.choice([-1, 1], 6)
        z = y[:, None] * np.column_stack([x, np.ones(6, dtype=int)])
        if not separable(z.astype(float)):
            return z


class PerceptronNonseparable(Experiment):
    """On XOR the perceptron never stops, but its weights stay bounded and, on whole-numbered data, come back.

    Perceptron cycling theorem: for every finite set there is M with

        ‖w_t‖ <= ‖w_0‖ + M     for all t and every order of updates,     w <- w + y x where y wᵀx <= 0,

    separable or not. With whole numbers only finitely many states remain, so a cyclic run is periodic. For XOR all states that any order
    can reach are enumerated: their largest norm bounds every run, and each of them has a mistake left, so no order ever stops. The pocket
    variant, which keeps the best weights seen, reaches the optimum of 1 mistake in 4 when the points are drawn independently, as Gallant
    requires; in cyclic passes over XOR, and in 10⁴ shuffled ones that were tried, it stays at 2.
    """

    lecture = "C"
    kinds = ("BOUND",)
    cost = "S"
    source = "Block and Levin 1970, Proceedings of the AMS 26, pp. 229-235; Gallant 1990, https://doi.org/10.1109/72.80230"
    assumptions = ("finitely many points", "updates only at mistakes, y wᵀx <= 0", "periodicity: whole-numbered points and a cyclic order")
    aliases = ("perceptron cycling theorem", "perceptron on XOR", "pocket algorithm")
    panels = 2
    small = {"epochs": 500, "sets": 2}

    def measure(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        yield equal("XOR is separable", separable(XOR.astype(float)), False)
        self.states = reachable(XOR, c.reach)
        yield at_most("states that any order can reach", len(self.states), c.reach, kind="EXACT")
        yield at_least("mistakes left in every one of them", list(self.states.values()), 1, kind="EXACT")
        self.bound = float(norms(list(self.states)).max())
        every = np.tile(np.arange(4), (c.epochs, 1))
        self.runs = {"cyclic": walk(XOR, every), "shuffled": walk(XOR, rng.permuted(every, axis=1))}
        for name, run in self.runs.items():
            yield at_least(f"{name}: updates in each of {c.epochs} epochs", run.updates, 1, kind="EXACT")
            yield at_most(f"{name}: ‖(w, b)‖ after every update", norms(run.states), self.bound)
            yield equal(f"{name}: states that were not enumerated", len(set(run.states) - set(self.states)), 0)
        cyclic = self.runs["cyclic"].ends
        start, period = cycle(cyclic)
        yield at_least("cyclic: period of the weights, in epochs", period, 1, kind="EXACT")
        ends = np.array(cyclic[start - 1 :])
        yield equal("cyclic: the weights one period later", ends[period:], ends[: len(ends) - period])
        without = [separable(np.delete(XOR, i, axis=0).astype(float)) for i in range(4)]
        yield equal("three of the four points are separable, so 1 mistake is the optimum", sum(without), 4)
        yield equal("cyclic passes: mistakes of the pocket", int(self.runs["cyclic"].pocket[-1]), 2)
        self.drawn = walk(XOR, rng.integers(0, 4, (c.epochs, 4)))
        yield equal("points drawn independently: states that were not enumerated", len(set(self.drawn.states) - set(self.states)), 0)
        yield equal("points drawn independently: mistakes of the pocket", int(self.drawn.pocket[-1]), 1)
        sizes, gaps, idle = [], [], []
        for _ in range(c.sets):
            z = inseparable(rng)
            found = reachable(z, c.reach)
            run = walk(z, np.tile(np.arange(6), (200, 1)))
            sizes.append(len(found))
            idle.append(min(found.values()))
            gaps.append(norms(run.states).max() / norms(list(found)).max())
        yield at_most(f"{c.sets} random sets: states that any order can reach", sizes, c.reach, kind="EXACT")
        yield at_least(f"{c.sets} random sets: mistakes left in every state", idle, 1, kind="EXACT")
        yield at_most(f"{c.sets} random sets: largest norm of a run / of the states", gaps, 1.0)

    def control(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        done = walk(AND, np.tile(np.arange(4), (50, 1)))
        yield at_least("AND, which is separable: updates in each of 50 epochs", done.updates, 1)
        yield at_least("AND: mistakes left in every state that can be reached", list(reachable(AND, c.reach).values()), 1)
        yield equal("the pocket reaches 0 mistakes on XOR", int(self.drawn.pocket[-1]), 0)
        always = np.cumsum(np.tile(XOR[1:], (c.epochs, 1)), axis=0)  # three of the points, added whether they are mistakes or not
        yield at_most("updates without mistakes: ‖(w, b)‖", np.linalg.norm(always, axis=1), self.bound)

    def plot(self, c: Config, axes: "style.Panels") -> None:
        for i, (name, run) in enumerate((self.runs | {"drawn": self.drawn}).items()):
            axes[0].plot(norms(run.states[:81]), **style.series(i) | {"markersize": 3}, label=name)
        axes[0].axhline(self.bound, **style.BOUND, label=f"largest of the {len(self.states)} states")
        axes[0].set(title="The weights stay bounded …", xlabel="update", ylabel="‖(w, b)‖", ylim=(-0.2, 1.55 * self.bound))
        axes[0].legend(loc="upper center", ncols=2)
        epochs = np.arange(1, 41)
        for i, (name, run) in enumerate(self.runs.items()):
            axes[1].plot(epochs, run.updates[:40], **style.series(i) | {"markersize": 4}, label=f"updates, {name}")
        axes[1].step(epochs, self.drawn.pocket[:40], where="mid", **style.CURVE | {"color": style.GREEN}, label="pocket, drawn: mistakes")
        axes[1].set(title="… but no epoch is free of mistakes", xlabel="epoch", ylabel="of 4 points", ylim=(-0.2, 6.2), yticks=range(5))
        axes[1].legend(loc="upper center", ncols=2)
