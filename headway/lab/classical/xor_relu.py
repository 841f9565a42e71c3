from itertools import product

from headway.core.errors import ConfigError
from headway.lab import style
from headway.lab.kit import (
    Checks, Experiment, Generator, Panel, at_least, because, close, counts, equal, headline, np, param,
)
from headway.lab.relu_net import ReluNet, affine
from headway.lab.tools.bits import cube
from headway.lab.tools.programs import feasible

X, XOR, AND = cube(2).astype(float), np.array([0.0, 1.0, 1.0, 0.0]), np.array([0.0, 0.0, 0.0, 1.0])
NET = ReluNet((([[1, 1], [-1, -1]], [-1.5, 0.5]), ([[-2, -2]], [1])))  # W¹, b¹ and W², b² of the exercise


def has_line(points: np.ndarray, labels: np.ndarray) -> bool:
    """Whether a linear program finds y_i (w·x_i + b) >= 1; if not, HiGHS has proved that there is none."""
    z = (2 * labels - 1)[:, None] * np.column_stack([points, np.ones(len(points))])
    return feasible(z, np.ones(len(z))) is not None


def one_unit(labels: np.ndarray, exact: bool) -> int:
    """How many of the 16 patterns of active inputs and both signs allow f = ±relu(w·x + b) + c; the unknowns are (w_1, w_2, b, c).

    |v| goes into w and b, so v = ±1 is all. `exact`: f = labels. Otherwise a threshold suffices; it goes into c, and a margin is free.
    """
    z, found = np.column_stack([X, np.ones(4), np.zeros(4)]), 0
    for active, v in product(product((0, 1), repeat=4), (1, -1)):
        on = np.array(active)[:, None]
        pattern, f = (2 * on - 1) * z, v * on * z + np.array([0, 0, 0, 1])  # on its pattern f is linear in the unknowns
        rows = np.vstack([f, -f]) if exact else (2 * labels - 1)[:, None] * f
        least = np.concatenate([np.zeros(4), *((labels, -labels) if exact else (np.ones(4),))])
        found += feasible(np.vstack([pattern, rows]), least) is not None
    return found


class XorRelu(Experiment):
    """XOR is not linearly separable; two ReLU units and a linear output compute it exactly, one unit does not.

    (a) A line would need b <= 0, w_1 + w_2 + b <= 0, w_2 + b > 0, w_1 + b > 0; the sum of the first two contradicts that of the others.
    With z_i = y_i (x_i, 1) this is a certificate of Farkas with all multipliers 1: Σ z_i = 0. (b) The two units

        a_1 = relu(x_1 + x_2 - 1.5),     a_2 = relu(-x_1 - x_2 + 0.5)

    map (0, 0) to (0, ½), (1, 1) to (½, 0) and the other two to (0, 0), where a line separates. (c) f = 1 - 2 a_1 - 2 a_2 is exactly XOR.

    Notes: C, D. Source: Minsky and Papert 1969, Perceptrons; notes D, exercise 10.1
    Assumes: inputs are 0 or 1, and nothing else is seen; separable in the strict sense, no input on the line.
    Also: XOR problem; the expressive power of depth: XOR.
    """

    shift = param(0.25, "a₁ + a₂ where the line in the plane of features is put", least=0.01, most=0.49)

    def measure(self, rng: Generator) -> Checks:
        from scipy.linalg import null_space

        yield headline(equal("(c) outputs", NET(X)[:, 0], XOR))
        yield headline(equal("(a) a linear program finds a line", has_line(X, XOR), False))
        kernel = null_space(((2 * XOR - 1)[:, None] * np.column_stack([X, np.ones(4)])).T)
        yield close("(a) scipy's only certificate, scaled", kernel / kernel[0, 0], np.ones((4, 1)))
        self.features = ReluNet((NET.layers[0], (np.eye(2), np.zeros(2))))(X)
        yield equal("(b) features", self.features, np.array([[0, 0.5], [0, 0], [0, 0], [0.5, 0]]))
        yield equal("(b) a linear program finds a line in the features", has_line(self.features, XOR), True)
        below = self.features.sum(axis=1) < self.shift
        yield equal(f"(b) below the line a₁ + a₂ = {self.shift:g}", below, XOR == 1)
        yield from counts("the net", NET, nodes=2, weights=9)
        ways = one_unit(XOR, True) + one_unit(XOR, False)
        yield equal("one ReLU unit: ways to have XOR, exactly or with a threshold", ways, 0)
        yield at_least("the same search finds AND", min(one_unit(AND, True), one_unit(AND, False)), 1, kind="EXACT")

    def examine(self, network: ReluNet, rng: Generator) -> Checks:
        if (network.inputs, network.outputs) != (2, 1):
            shape = f"{network.inputs} inputs and {network.outputs} outputs"
            raise ConfigError(f"the network has {shape}, expected 2 and 1", "XOR is a function of two bits.")
        yield headline(equal("your net with a threshold at ½", (network(X)[:, 0] > 0.5).astype(float), XOR))

    def control(self, rng: Generator) -> Checks:
        (W, b), (V, d) = NET.layers
        lifted = has_line(np.column_stack([X, X.prod(axis=1)]), XOR)
        yield because("the product x₁x₂ is seen as well", equal("(a) a linear program finds a plane", lifted, False))
        linear = affine(V @ W, V @ b + d)(X)[:, 0]
        yield because("ReLU is left out, so the net is linear", equal("(c) outputs", linear, XOR))
        single = ReluNet(((W[:1], b[:1]), (V[:, :1], d)))
        yield because("one of the two units is removed", equal("(c) outputs of one unit", single(X)[:, 0], XOR))

    def plots(self) -> list[Panel]:
        t = np.linspace(-0.4, 1.6, 300)
        inside = NET(np.stack(np.meshgrid(t, t), axis=-1))[..., 0] > 0.5
        left = Panel("No line in the input plane …", "x₁", "x₂").bound(t, 0.25 - t, "f = ½").bound(t, 1.75 - t)
        left.custom(lambda axes: axes.contourf(t, t, inside, levels=[0.5, 1.5], colors=[style.BLUE], alpha=0.15))
        right = Panel("… but one in the features", "a₁", "a₂").bound(t, self.shift - t, f"a₁ + a₂ = {self.shift:g}")
        for panel, points in ((left, X), (right, self.features)):
            panel.points(points[1:3, 0], points[1:3, 1], "XOR = 1", style.BLUE, 90)
            panel.points(points[::3, 0], points[::3, 1], "XOR = 0", style.ORANGE, 90)
        for text, i in (("(0, 0)", 0), ("(1, 1)", 3), ("(0, 1), (1, 0)", 1)):
            right.note(self.features[i][0] - 0.05, self.features[i][1] - 0.06, text)
        left.limits((-0.4, 1.6), (-0.4, 1.6)).ticks({0: "0", 1: "1"}, {0: "0", 1: "1"})
        return [left, right.limits((-0.1, 0.65), (-0.1, 0.65))]
