from dataclasses import replace

from headway.lab.kit import (
    Checks,
    Experiment,
    Generator,
    Panel,
    at_most,
    because,
    equal,
    headline,
    math,
    np,
    param,
    share_is,
)
from headway.lab.relu_net import ReluNet
from headway.lab.tools.bits import cube
from headway.lab.tools.circuits import Gate, by_logic, by_thresholds, jacobian, random_circuit, to_network

STEP = 1e-7  # of the central differences


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
    width = param(8, "gates of a level", least=2, most=40)
    depth = param(6, "levels D", least=2, most=12)
    circuits = param(12, "random circuits", least=1, most=200, small=6)
    points = param(200, "random places inside of the cube where derivatives are taken", least=50, most=5000)

    def measure(self, rng: Generator) -> Checks:
        x, inside, s = cube(self.inputs), rng.random((self.points, self.inputs)), self.width * self.depth
        net_wrong, unit_wrong, nodes, hidden, flat, slopes = [], [], [], [], [], []
        for _ in range(self.circuits):
            circuit = random_circuit(self.inputs, (self.width,) * self.depth, rng)
            net, truth = to_network(circuit, self.inputs), by_logic(circuit, x)
            net_wrong.append(int(np.sum(net(x) != truth)))
            unit_wrong.append(int(np.sum(by_thresholds(circuit, x)[-1] != truth)))
            nodes.append(net.nodes)
            hidden.append(len(net.widths))
            moves = STEP * np.eye(self.inputs)[:, None]
            around = by_thresholds(circuit, np.concatenate([inside + moves, inside - moves]).reshape(-1, self.inputs))
            flat.append(sum(int(np.sum(np.split(v, 2)[0] != np.split(v, 2)[1])) for v in around))
            parts = [jacobian(to_network(circuit[: level + 1], self.inputs), inside) for level in range(self.depth)]
            slopes.append(np.mean(np.concatenate(parts, axis=1) != 0, axis=0))  # gates of all levels, inputs
        zero = np.zeros(self.circuits, dtype=int)
        self.share = np.reshape(slopes, (self.circuits, self.depth, -1)).mean(axis=2)  # by level
        self.picture = slopes[-1]
        yield headline(equal(f"values of net and logic that differ, all {len(x)} inputs", np.array(net_wrong), zero))
        yield equal("values of threshold units and logic that differ", np.array(unit_wrong), zero)
        yield at_most("units, 2s", nodes, 2 * s, kind="EXACT")
        yield equal("hidden layers, D", np.array(hidden), zero + self.depth)
        yield equal("threshold units: derivatives that are not 0, all levels", np.array(flat), zero)

    def sample(self, rng: Generator) -> Checks:
        x = rng.random((20 * self.points, 4))
        pair = [[Gate("and", (0, 1)), Gate("and", (2, 3))], [Gate("and", (0, 1))]]
        for name, k, circuit in (
            ("AND of 2", 2, [[Gate("and", (0, 1))]]),
            ("AND of 3", 3, [[Gate("and", (0, 1, 2))]]),
            ("OR of 3", 3, [[Gate("or", (0, 1, 2))]]),
            ("AND of two ANDs", 4, pair),
        ):
            alive = jacobian(to_network(circuit, 4), x).any(axis=(1, 2))
            yield share_is(
                f"{name}: share of the cube with a slope, 1/{k}!", alive.sum(), alive.size, 1 / math.factorial(k)
            )

    def control(self, rng: Generator) -> Checks:
        x, gates = cube(self.inputs), random_circuit(self.inputs, (20,), rng)[0]
        whole = [[replace(gate, kind="threshold", b=gate.b - 0.5) for gate in gates]]
        wrong = int(np.sum(to_network(whole, self.inputs)(x) != by_logic(whole, x)))
        yield because("thresholds are integers, and sums meet them", equal("values that differ", wrong, 0))
        inside = rng.random((self.points, self.inputs))
        gap = np.abs(to_network([gates], self.inputs)(inside) - by_thresholds([gates], inside)[-1]).max()
        yield because(
            "inputs are not bits",
            at_most("net and threshold units inside of the cube, difference", gap, 0.0, kind="EXACT"),
        )

    def resolution(self, rng: Generator) -> Checks:
        circuit, x = random_circuit(self.inputs, (20,), rng), cube(self.inputs)
        (w, b), last = to_network(circuit, self.inputs).layers
        yield equal(
            "values that differ, every bias smaller by 1",
            int(np.sum(ReluNet(((w, b - 1), last))(x) != by_logic(circuit, x))),
            0,
        )

    def plots(self) -> list[Panel]:
        z = np.linspace(-1.5, 1.5, 601)
        unit = Panel("A threshold is two ReLUs", "z = ⟨w, x⟩ - b", "value of the gate")
        unit.curve(z, np.clip(z + 0.5, 0, 1), "two ReLUs").bound(z, (z > 0).astype(float), "threshold")
        unit.mark(-0.5).mark(0.5)
        level = np.arange(1, self.depth + 1)
        alive = Panel("Only the net has slopes", "level", "share of ∂ gate/∂ input ≠ 0")
        alive.series(level, self.share.mean(axis=0), "ReLU net").control(level, 0 * level, "threshold units")
        heat = Panel("Slopes of one circuit", "input", "gate, by level").image(self.picture, scale="share of points")
        return [unit, alive, heat]
