from scipy.linalg import null_space

from headway.core.errors import ConfigError
from headway.lab import style
from headway.lab.kit import Checks, Experiment, Generator, Panel, at_least, because, close, counts, equal, headline, np, param
from headway.lab.relu_net import ReluNet, affine
from headway.lab.tools.bits import cube
from headway.lab.tools.boolean_functions import one_relu
from headway.lab.tools.programs import augmented, feasible

X, XOR, AND = cube(2).astype(float), np.array([0.0, 1.0, 1.0, 0.0]), np.array([0.0, 0.0, 0.0, 1.0])
NET = ReluNet((([[1, 1], [-1, -1]], [-1.5, 0.5]), ([[-2, -2]], [1])))  # W¹, b¹ and W², b² of the exercise


class XorRelu(Experiment):
    """XOR is not linearly separable; two ReLU units and a linear output compute it exactly, one unit does not.

    (a) A line would need b <= 0, w_1 + w_2 + b <= 0, w_2 + b > 0, w_1 + b > 0; the sum of the first two contradicts that of the others.
    With z_i = y_i (x_i, 1) this is a certificate of Farkas with all multipliers 1: Σ z_i = 0. (b) The two units

        a_1 = relu(x_1 + x_2 - 1.5),     a_2 = relu(-x_1 - x_2 + 0.5)

    map (0, 0) to (0, ½), (1, 1) to (½, 0) and the other two to (0, 0), where a line separates. (c) f = 1 - 2 a_1 - 2 a_2 is exactly XOR.

    Notes: C, D. Source: Minsky and Papert 1969, Perceptrons; notes D, exercise 10.1
    Assumes: inputs are 0 or 1, nothing else is seen; no input is on the line. Also: XOR problem; the expressive power of depth: XOR.
    """

    shift = param(0.25, "a₁ + a₂ where the line in the plane of features is put", least=0.01, most=0.49)

    def measure(self, rng: Generator) -> Checks:
        z = augmented(X, XOR)
        yield headline(equal("(c) outputs", NET(X)[:, 0], XOR))
        yield headline(equal("(a) a linear program finds a line", feasible(z, np.ones(4)) is not None, False))
        kernel = null_space(z.T)
        yield close("(a) scipy's only certificate, scaled", kernel / kernel[0, 0], np.ones((4, 1)))
        self.features = ReluNet((NET.layers[0], (np.eye(2), np.zeros(2))))(X)
        yield equal("(b) features", self.features, np.array([[0, 0.5], [0, 0], [0, 0], [0.5, 0]]))
        below = self.features.sum(axis=1) < self.shift
        yield equal(f"(b) below the line a₁ + a₂ = {self.shift:g}", below, XOR == 1)
        yield from counts("the net", NET, nodes=2, weights=9)
        ways = one_relu(XOR, True) + one_relu(XOR, False)
        yield equal("one ReLU unit: ways to have XOR, exactly or with a threshold", ways, 0)
        yield at_least("the same search finds AND", min(one_relu(AND, True), one_relu(AND, False)), 1, kind="EXACT")

    def examine(self, network: ReluNet, rng: Generator) -> Checks:
        if (network.inputs, network.outputs) != (2, 1):
            shape = f"{network.inputs} inputs and {network.outputs} outputs"
            raise ConfigError(f"the network has {shape}, expected 2 and 1", "XOR is a function of two bits.")
        yield headline(equal("your net with a threshold at ½", (network(X)[:, 0] > 0.5).astype(float), XOR))

    def control(self, rng: Generator) -> Checks:
        (W, b), (V, d) = NET.layers
        lifted = feasible(augmented(np.column_stack([X, X.prod(axis=1)]), XOR), np.ones(4)) is not None
        yield because("the product x₁x₂ is seen as well", equal("(a) a linear program finds a plane", lifted, False))
        linear = affine(V @ W, V @ b + d)(X)[:, 0]
        yield because("ReLU is left out, so the net is linear", equal("(c) outputs", linear, XOR))
        single = ReluNet(((W[:1], b[:1]), (V[:, :1], d)))
        yield because("one of the two units is removed", equal("(c) outputs of one unit", single(X)[:, 0], XOR))

    def plots(self) -> list[Panel]:
        t = np.linspace(-0.4, 1.6, 300)
        inside = NET(np.stack(np.meshgrid(t, t), axis=-1))[..., 0] > 0.5
        left = Panel("No line in the input plane …", "x₁", "x₂").bound(t, 1.75 - t, "f = ½").bound(t, 0.25 - t)
        left.custom(lambda axes: axes.contourf(t, t, inside, levels=[0.5, 1.5], colors=[style.BLUE], alpha=0.15))
        right = Panel("… but one in the features", "a₁", "a₂").bound(t, self.shift - t, f"a₁ + a₂ = {self.shift:g}")
        for panel, x in ((left, X), (right, self.features)):
            panel.points(x[1:3, 0], x[1:3, 1], "XOR = 1", style.BLUE, 90)
            panel.points(x[::3, 0], x[::3, 1], "XOR = 0", style.ORANGE, 90)
        for text, i in (("(0, 0)", 0), ("(1, 1)", 3), ("(0, 1), (1, 0)", 1)):
            right.note(self.features[i][0] - 0.05, self.features[i][1] - 0.06, text)
        left.limits((-0.4, 1.6), (-0.4, 1.6)).ticks({0: "0", 1: "1"}, {0: "0", 1: "1"})
        return [left, right.limits((-0.1, 0.65), (-0.1, 0.65))]
