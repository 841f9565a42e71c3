import math
from dataclasses import replace

from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, equal, headline, np, param, share_is
from headway.lab.tools.bits import cube
from headway.lab.tools.circuits import Gate, by_logic, by_thresholds, jacobian, random_circuit, to_network

STEP = 1e-12  # of the central differences: in ten million runs one meets a threshold
PAIR, TRIPLE, EITHER = Gate("and", (0, 1)), Gate("and", (0, 1, 2)), Gate("or", (0, 1, 2))
FEW = {"AND of 2": [[PAIR]], "AND of 3": [[TRIPLE]], "OR of 3": [[EITHER]]}
FEW["AND of two ANDs"] = [[PAIR, Gate("and", (2, 3))], [PAIR]]


class CircuitToNetwork(Experiment):
    """A Boolean circuit of s gates and depth D is a ReLU net with at most 2s units and D hidden layers, and with gradients.

    On bits, with σ = ReLU and integer weights w,

        NOT x = σ(1 - x),     AND = σ(Σx - (k - 1)),     OR = 1 - σ(1 - Σx),
        1{<w, x> > b} = σ(z + ½) - σ(z - ½),     z = <w, x> - b

    for b halfway between integers, because |z| >= ½ then. An affine map behind a layer is absorbed by the next. Threshold units are
    constant around almost every point, so their derivatives are 0. The net has others: an AND or OR of k inputs is not flat on 1/k! of
    the cube (where the sum is above k - 1, or below 1). Derivatives are taken inside of the cube: on bits a ReLU net has its kinks.

    Notes: E. Source: Muroga 1971, Threshold Logic and Its Applications; Arora et al. 2018, https://arxiv.org/abs/1611.01491
    Assumes: inputs are 0 or 1; weights are integers and thresholds halfway between integers; a gate takes values of the level before.
    Also: circuits are ReLU networks; Boolean circuits by neural networks.
    """

    inputs = param(10, "bits; all 2^inputs rows are tried", least=4, most=14, small=6)
    width = param(8, "gates of a level", least=2, most=20)
    depth = param(6, "levels D", least=2, most=10)
    circuits = param(12, "random circuits", least=1, most=50, small=6)
    points = param(200, "random places inside of the cube where derivatives are taken", least=50, most=1000)

    def measure(self, rng: Generator) -> Checks:
        x, inside = cube(self.inputs), rng.random((self.points, self.inputs))
        moves = STEP * np.eye(self.inputs)[:, None]
        near = np.concatenate([inside + moves, inside - moves]).reshape(-1, self.inputs)
        circuits = [random_circuit(self.inputs, (self.width,) * self.depth, rng) for _ in range(self.circuits)]
        nets, truth = [to_network(c, self.inputs) for c in circuits], np.array([by_logic(c, x) for c in circuits])
        yield headline(equal(f"values of net and logic, all {len(x)} inputs", [net(x) for net in nets], truth))
        yield equal("values of threshold units and logic", [by_thresholds(c, x)[-1] for c in circuits], truth)
        yield at_most("units, 2s", [net.nodes for net in nets], 2 * self.width * self.depth, kind="EXACT")
        yield equal("hidden layers, D", [len(net.widths) for net in nets], self.depth)
        steps = [[np.subtract(*np.split(v, 2)) for v in by_thresholds(c, near)] for c in circuits]
        yield equal("threshold units: differences that are not 0, all levels", np.array(steps), 0.0)
        first = [[to_network(c[: level + 1], self.inputs) for level in range(self.depth)] for c in circuits]
        self.slopes = np.array([[np.mean(jacobian(net, inside) != 0, axis=0) for net in part] for part in first])

    def sample(self, rng: Generator) -> Checks:
        x = rng.random((20 * self.points, 4))
        for (name, circuit), k in zip(FEW.items(), (2, 3, 3, 4), strict=True):
            alive = int(jacobian(to_network(circuit, 4), x).any(axis=(1, 2)).sum())
            yield share_is(f"{name}: share of the cube with a slope, 1/{k}!", alive, len(x), 1 / math.factorial(k))

    def control(self, rng: Generator) -> Checks:
        x, gates = cube(self.inputs), random_circuit(self.inputs, (20,), rng)[0]
        whole = [[replace(gate, kind="threshold", b=gate.b - 0.5) for gate in gates]]
        check = equal("values of net and logic", to_network(whole, self.inputs)(x), by_logic(whole, x))
        yield because("thresholds are integers, and sums meet them", check)
        inside, net = rng.random((self.points, self.inputs)), to_network([gates], self.inputs)
        check = equal("values of net and threshold units", net(inside), by_thresholds([gates], inside)[-1])
        yield because("inputs are not bits", check)

    def plots(self) -> list[Panel]:
        z, level = np.linspace(-1.5, 1.5, 601), np.arange(1, self.depth + 1)
        unit = Panel("Two ReLUs", "z = ⟨w, x⟩ - b", "value of the gate").mark(-0.5).mark(0.5)
        unit.curve(z, np.clip(z + 0.5, 0, 1), "two ReLUs").bound(z, (z > 0).astype(float), "threshold")
        alive = Panel("Only the net has slopes", "level", "share of ∂ gate/∂ input ≠ 0")
        alive.series(level, self.slopes.mean(axis=(0, 2, 3)), "ReLU net").control(level, 0 * level, "threshold units")
        heat = Panel("Slopes of one circuit", "input", "gate, by level")
        return [unit, alive, heat.image(np.concatenate(self.slopes[-1]), scale="share of points")]
