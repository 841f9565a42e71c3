"""XOR with one hidden layer."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from headway.core.config import require
from headway.core.errors import ConfigError
from headway.lab import style
from headway.lab.checks import Check, at_least, at_most, close, equal
from headway.lab.old import Experiment
from headway.lab.relu_net import ReluNet, affine

X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
XOR = np.array([0.0, 1.0, 1.0, 0.0])
NET = ReluNet((([[1, 1], [-1, -1]], [-1.5, 0.5]), ([[-2, -2]], [1])))  # W¹, b¹ and W², b² of the exercise


@dataclass(frozen=True)
class Config:
    trials: int = 2000  # random lines, none of which may separate XOR

    def __post_init__(self) -> None:
        require((self.trials >= 1, "trials >= 1"))


def solvable(A: np.ndarray, b: np.ndarray) -> bool:
    """Is there v with A v >= b? Least squares with λ >= 0 finds v, or Farkas' λ with Aᵀλ = 0, bᵀλ > 0 (Lawson and Hanson 1974, ch. 23)."""
    from scipy.optimize import nnls

    E = np.vstack([A.T, b])
    _, residual = nnls(E, np.append(np.zeros(A.shape[1]), 1.0))
    return bool(residual > 1e-9)


def line(points: np.ndarray, labels: np.ndarray) -> int:
    """The status of the linear program y_i (w·x_i + b) >= 1: 0 is solved, 2 is infeasible (proved by HiGHS)."""
    from scipy.optimize import linprog

    z = (2 * labels - 1)[:, None] * np.column_stack([points, np.ones(len(points))])
    return int(linprog(np.zeros(3), -z, -np.ones(len(points)), bounds=(None, None)).status)


def one_unit(labels: np.ndarray, exact: bool) -> list[bool]:
    """Which of the 16 patterns of active inputs and both signs allow f = ±relu(w·x + b) + c; the unknowns are (w_1, w_2, b, c).

    |v| goes into w and b, so v = ±1 is all. `exact`: f = labels. Otherwise a threshold suffices; it goes into c, and a margin is free.
    """
    z, found = np.column_stack([X, np.ones(4), np.zeros(4)]), []
    for active, v in product(product((0, 1), repeat=4), (1, -1)):
        on = np.array(active)[:, None]
        pattern, f = (2 * on - 1) * z, v * on * z + np.array([0, 0, 0, 1])  # on its pattern f is linear in the unknowns
        rows = np.vstack([f, -f]) if exact else (2 * labels - 1)[:, None] * f
        found.append(solvable(np.vstack([pattern, rows]), np.concatenate([np.zeros(4), *((labels, -labels) if exact else (np.ones(4),))])))
    return found


class XorRelu(Experiment):
    """XOR is not linearly separable; two ReLU units and a linear output compute it exactly, one unit does not.

    (a) A line would need b <= 0, w_1 + w_2 + b <= 0, w_2 + b > 0, w_1 + b > 0; the sum of the first two contradicts that of the others.
    With z_i = y_i (x_i, 1) this is a certificate of Farkas with all multipliers 1: Σ z_i = 0. (b) The two units

        a_1 = relu(x_1 + x_2 - 1.5),     a_2 = relu(-x_1 - x_2 + 0.5)

    map (0, 0) to (0, ½), (1, 1) to (½, 0) and the other two to (0, 0), where a line separates. (c) f = 1 - 2 a_1 - 2 a_2 is exactly XOR.
    """

    lecture = "C, D"
    kinds = ("EXACT",)
    cost = "S"
    source = "Minsky and Papert 1969, Perceptrons; notes D, exercise 10.1"
    assumptions = ("inputs are 0 or 1", "a unit is separable in the strict sense: no input on the line")
    aliases = ("XOR problem", "the expressive power of depth: XOR")
    panels = 2
    small = {"trials": 200}

    def measure(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        from scipy.linalg import null_space

        yield equal("(a) linear program for a line: status (2 is infeasible)", line(X, XOR), 2)
        z = (2 * XOR - 1)[:, None] * np.column_stack([X, np.ones(4)])
        yield equal("(a) Farkas: Σ z_i with multipliers 1", z.sum(axis=0), np.zeros(3))
        kernel = null_space(z.T)
        yield equal("(a) certificates, up to a factor", kernel.shape[1], 1)
        yield close("(a) scipy's certificate, scaled", kernel[:, 0] / kernel[0, 0], np.ones(4))
        lines = rng.normal(size=(c.trials, 3))
        right = np.sum(lines @ z.T > 0, axis=1)
        yield at_most("(a) inputs that random lines get right", right, 3, kind="EXACT")
        hidden = ReluNet((NET.layers[0], (np.eye(2), np.zeros(2))))
        self.features = hidden(X)
        yield equal("(b) features", self.features, np.array([[0, 0.5], [0, 0], [0, 0], [0.5, 0]]))
        yield equal("(b) linear program in the features: status (0 is solved)", line(self.features, XOR), 0)
        yield equal("(b) the line a₁ + a₂ = ¼", (self.features.sum(axis=1) < 0.25).astype(float), XOR)
        yield equal("(c) outputs", NET(X)[:, 0], XOR)
        yield equal("(c) outputs with a threshold at ½", (NET(X)[:, 0] > 0.5).astype(float), XOR)
        yield equal("hidden units", NET.nodes, 2)
        yield equal("weights and biases", NET.weights, 9)
        for exact, name in ((True, "exactly"), (False, "with a threshold")):
            yield equal(f"one ReLU unit {name}: patterns and signs that can, of 32", sum(one_unit(XOR, exact)), 0)
            yield at_least(f"the same search finds AND {name}", sum(one_unit(np.array([0.0, 0, 0, 1]), exact)), 1, kind="EXACT")

    def examine(self, network: ReluNet, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        if (network.inputs, network.outputs) != (2, 1):
            shape = f"{network.inputs} inputs and {network.outputs} outputs"
            raise ConfigError(f"the network has {shape}, expected 2 and 1", "XOR is a function of two bits.")
        yield equal("your net with a threshold at ½", (network(X)[:, 0] > 0.5).astype(float), XOR)

    def control(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        (W, b), (V, d) = NET.layers
        yield equal("a line separates XOR: status", line(X, XOR), 0)
        yield equal("the same weights without ReLU", affine(V @ W, V @ b + d)(X)[:, 0], XOR)
        yield equal("one of the two units removed", ReluNet(((W[:1], b[:1]), (V[:, :1], d)))(X)[:, 0], XOR)

    def plot(self, c: Config, axes: "style.Panels") -> None:
        t = np.linspace(-0.4, 2.4, 300)
        value = NET(np.stack(np.meshgrid(t, t), axis=-1))[..., 0]
        axes[0].contourf(t, t, value > 0.5, levels=[0.5, 1.5], colors=[style.BLUE], alpha=0.15)
        for level, text in ((0.25, "f = ½"), (1.75, None)):
            axes[0].plot(t, level - t, **style.BOUND, label=text)
        axes[1].fill_between([-0.1, 0.35], [0.35, -0.1], -0.1, color=style.BLUE, alpha=0.15, linewidth=0)
        axes[1].plot([-0.1, 0.35], [0.35, -0.1], **style.BOUND, label="a₁ + a₂ = ¼")
        for points, panel in ((X, axes[0]), (self.features, axes[1])):
            for value, look in ((1, style.series(0)), (0, style.series(1))):
                panel.plot(*points[value == XOR].T, **look | {"linestyle": "none", "markersize": 10}, label=f"XOR = {value}")
        names = [("(0,0)", self.features[0]), ("(1,1)", self.features[3]), ("(0,1), (1,0)", self.features[1])]
        for text, at in names:
            axes[1].annotate(text, at, xytext=(9, 7), textcoords="offset points")
        axes[0].set(title="No line in the input plane …", xlabel="x₁", ylabel="x₂", xticks=[0, 1], yticks=[0, 1])
        axes[0].set(xlim=(-0.4, 2.4), ylim=(-0.4, 1.8))
        axes[1].set(title="… but one in the features", xlabel="a₁", ylabel="a₂", xlim=(-0.1, 0.75), ylim=(-0.1, 0.8))
        axes[0].legend(loc="upper right")
        axes[1].legend()
