"""Logic from threshold units."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from headway.core.config import require
from headway.lab import style
from headway.lab.checks import Check, at_least, equal
from headway.lab.classical.threshold_unit import ThresholdUnit, adder, at_least_k, circuit, clause, cube, term
from headway.lab.old import Experiment


@dataclass(frozen=True)
class Config:
    n: int = 10  # the truth tables are complete for 1 … n inputs
    clauses: int = 200  # random clauses, and as many random terms
    bits: int = 4  # of the two numbers that a circuit of units adds

    def __post_init__(self) -> None:
        require((3 <= self.n <= 14, "n is 3 to 14, because 2^n inputs are tried"), (self.clauses >= 1, "clauses >= 1"))
        require((1 <= self.bits <= 7, "bits is 1 to 7"))


def literals(x: np.ndarray, sigma: np.ndarray) -> np.ndarray:
    """The truth values of the literals that are present, as Boolean logic says and without arithmetic."""
    return np.where(sigma > 0, x == 1, x == 0)[:, sigma != 0]


class MpGates(Experiment):
    """A threshold unit with weights ±1 computes AND, OR, NOT, k-of-n and every clause and term; circuits of them compute everything.

        f(x) = 1{σᵀx >= θ},    σ ∈ {-1, +1}^n

    AND is θ = n, OR is θ = 1, k-of-n is θ = k (σ = 1); NOT is σ = -1, θ = 0. A clause with q negated literals has θ = 1 - q, since
    x_1 ∨ ¬x_2 ∨ x_3 means x_1 + (1 - x_2) + x_3 >= 1; a term with n literals has θ = n - q. In the strict form ⟨w, x⟩ > b take b = θ - ½.
    """

    lecture = "C, E"
    kinds = ("EXACT",)
    cost = "S"
    source = "McCulloch and Pitts 1943, https://doi.org/10.1007/BF02478259"
    assumptions = ("inputs are 0 or 1", "a variable that a clause does not mention is not connected (weight 0)")
    aliases = ("McCulloch-Pitts neuron", "logic gates from threshold units")
    panels = 2
    small = {"n": 6, "clauses": 40, "bits": 3}

    def measure(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        for name, threshold, truth in (("AND", lambda n: n, np.all), ("OR", lambda n: 1, np.any)):
            wrong = sum(int(np.sum(at_least_k(n, threshold(n))(cube(n)) != truth(cube(n) == 1, axis=1))) for n in range(1, c.n + 1))
            yield equal(f"{name} of 1 … {c.n} inputs: wrong rows", wrong, 0)
        yield equal("NOT", ThresholdUnit(np.array([-1]), 0)(cube(1)), np.array([1, 0]))
        x = cube(c.n)
        for k in (1, 2, c.n // 2, c.n):  # k-of-n as logic: some k of the inputs are all 1
            truth = np.any([x[:, list(s)].all(axis=1) for s in combinations(range(c.n), k)], axis=0)
            yield equal(f"{k} of {c.n}", at_least_k(c.n, k)(x), truth)
        self.example = clause(np.array([1, -1, 1]))
        yield equal("θ of x₁ ∨ ¬x₂ ∨ x₃", self.example.theta, 0)
        signs = [s for s in rng.integers(-1, 2, (4 * c.clauses, c.n)) if s.any()][: c.clauses]
        for name, make, truth in (("clauses", clause, np.any), ("terms", term, np.all)):
            values = np.array([make(s)(x) for s in signs])
            yield equal(f"{len(signs)} random {name}", values, np.array([truth(literals(x, s), axis=1) for s in signs]))
            yield equal(f"{len(signs)} random {name}, strict form", np.array([make(s).strict(x) for s in signs]), values)
        yield at_least("clauses with a negated literal among them", sum(bool((s < 0).any()) for s in signs), 1, kind="EXACT")

        n, negate = c.n, ThresholdUnit(np.array([-1]), 0)
        nots, every = [(negate, [i]) for i in range(n)], list(range(n, 2 * n))
        for name, inner, outer in (("¬AND = OR of ¬", n, 1), ("¬OR = AND of ¬", 1, n)):
            left = circuit(x, [(at_least_k(n, inner), list(range(n))), (negate, [n])])[:, -1]
            yield equal(f"De Morgan: {name}", left, circuit(x, [*nots, (at_least_k(n, outer), every)])[:, -1])
        cnf = [(clause(s), list(range(n))) for s in signs[:8]]
        value = circuit(x, [*cnf, (at_least_k(len(cnf), len(cnf)), list(range(n, n + len(cnf))))])[:, -1]
        yield equal("a conjunction of 8 clauses", value, np.all([literals(x, s).any(axis=1) for s in signs[:8]], axis=0))
        both = [(at_least_k(2, 1), [0, 1]), (ThresholdUnit(np.array([-1, -1]), -1), [0, 1]), (at_least_k(2, 2), [2, 3])]
        yield equal("XOR from three units", circuit(cube(2), both)[:, -1], np.array([0, 1, 1, 0]))
        ab, gates = np.pad(cube(2 * c.bits), ((0, 0), (0, 1))), adder(c.bits)
        wires, powers = circuit(ab, gates), 2 ** np.arange(c.bits)
        total = wires[:, 2 * c.bits + 2 :: 2] @ powers + wires[:, -2] * 2**c.bits
        yield equal(f"adding all numbers of {c.bits} bits with {len(gates)} units", total, ab[:, : 2 * c.bits] @ np.tile(powers, 2))

    def control(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        x, sigma = cube(3), np.array([1, -1, 1])
        truth = literals(x, sigma).any(axis=1)
        yield equal("x₁ ∨ ¬x₂ ∨ x₃ with θ = 1, the negation not counted", ThresholdUnit(sigma, 1)(x), truth)
        yield equal("x₁ ∨ ¬x₂ ∨ x₃ in the strict form with b = θ", x @ sigma > clause(sigma).theta, truth)
        units = [ThresholdUnit(np.array(s), t) for s in ((1, 1), (1, -1), (-1, 1), (-1, -1)) for t in range(-2, 4)]
        yield equal("rows of XOR that the best single unit gets right", max(int(np.sum(u(cube(2)) == [0, 1, 1, 0])) for u in units), 4)

    def plot(self, c: Config, axes: "style.Panels") -> None:
        from matplotlib.colors import ListedColormap

        x = cube(3)
        rows = {"AND  θ = 3": at_least_k(3, 3), "2 of 3  θ = 2": at_least_k(3, 2), "OR  θ = 1": at_least_k(3, 1)}
        rows |= {"x₁ ∨ ¬x₂ ∨ x₃  θ = 0": self.example, "x₁ ∧ ¬x₂ ∧ x₃  θ = 2": term(self.example.sigma)}
        rows |= {"¬x₁ ∨ ¬x₂ ∨ ¬x₃  θ = -2": clause(-np.ones(3, dtype=int))}
        axes[0].pcolormesh([u(x) for u in rows.values()], cmap=ListedColormap([style.LINE, style.BLUE]), edgecolors="white", linewidth=2)
        axes[0].set_yticks(np.arange(len(rows)) + 0.5, list(rows))
        axes[0].set_xticks(np.arange(8) + 0.5, ["".join(map(str, row)) for row in x])
        axes[0].invert_yaxis()
        axes[0].grid(False)
        axes[0].set(title="Truth tables (blue: 1)", xlabel="inputs x₁x₂x₃", ylabel="unit")
        look = np.array([[1.0, 0.0], [0.45, 0.38], [0.0, 1.0]])  # the cube seen from the side: where each axis goes on paper
        for i, j in combinations(range(8), 2):
            if np.abs(x[i] - x[j]).sum() == 1:
                axes[1].plot(*(np.array([x[i], x[j]]) @ look).T, color=style.SOFT, linewidth=0.9)
        cut = np.array([[0, 0.5, 0], [0.5, 1, 0], [0, 1, 0.5]]) @ look  # where σᵀx = θ - ½ = -½ meets the edges
        axes[1].fill(*cut.T, color=style.ORANGE, alpha=0.5, label="x₁ - x₂ + x₃ = -½")
        for value, colour, name in ((1, style.BLUE, "true"), (0, style.VERMILION, "false: only 010")):
            at = x[self.example(x) == value] @ look
            axes[1].plot(*at.T, "o" if value else "X", color=colour, markersize=9, label=name)
        for corner in x:
            near, up = (0, corner[2]) if corner[1] == 0 else (1, 1)  # labels of the front keep clear of the edges
            shift, side = ((7, 5), "left") if near else ((-7, 5), "right") if up else ((0, -17), "center")
            axes[1].annotate("".join(map(str, corner)), corner @ look, xytext=shift, ha=side, textcoords="offset points", fontsize=9)
        axes[1].set(title="x₁ ∨ ¬x₂ ∨ x₃ cuts off one corner", xlabel="x₁ (x₂ goes to the back)", ylabel="x₃")
        axes[1].set(xlim=(-0.25, 1.75), ylim=(-0.22, 2.0), xticks=[0, 1], yticks=[0, 1])
        axes[1].grid(False)
        axes[1].legend(loc="upper left", ncols=2)
