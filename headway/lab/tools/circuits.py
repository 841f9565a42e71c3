"""Layered Boolean circuits, as logic, as threshold units and as ReLU nets.

A gate takes values of the level before only; a value that is needed later passes through an AND of one input.
"""

from dataclasses import dataclass

import numpy as np

from headway.lab.relu_net import ReluNet

KINDS = ("not", "and", "or", "threshold")


@dataclass(frozen=True)
class Gate:
    """One gate: its kind, where its inputs are in the level before, and for a threshold 1{⟨w, x⟩ > b} the weights and b."""

    kind: str
    inputs: tuple[int, ...]
    w: tuple[int, ...] = ()
    b: float = 0.5

    def logic(self, values: np.ndarray) -> np.ndarray:
        """By logic and counting, from bits (p, level before)."""
        bits = values[:, list(self.inputs)].astype(bool)
        if self.kind == "not":
            return ~bits[:, 0]
        if self.kind == "threshold":
            return np.asarray(bits @ np.array(self.w) > self.b)
        return np.asarray(bits.all(axis=1) if self.kind == "and" else bits.any(axis=1))

    def threshold(self, values: np.ndarray) -> np.ndarray:
        """By one threshold unit with integer weights and a b that no sum of bits meets; also at values that are not bits."""
        k = len(self.inputs)
        units = {"not": ((-1,), -0.5), "and": ((1,) * k, k - 0.5), "or": ((1,) * k, 0.5), "threshold": (self.w, self.b)}
        w, b = units[self.kind]
        return np.asarray(values[:, list(self.inputs)] @ np.array(w) > b)

    @property
    def relu(self) -> tuple[list[tuple[np.ndarray, float, float]], float]:
        """ReLU units (weights, bias, output weight) and an output bias: one unit for NOT, AND and OR, two for a threshold."""
        one, w = np.ones(len(self.inputs)), np.array(self.w, dtype=float)
        if self.kind == "threshold":
            return [(w, 0.5 - self.b, 1.0), (w, -0.5 - self.b, -1.0)], 0.0
        return {
            "not": ([(-one, 1.0, 1.0)], 0.0),
            "and": ([(one, 1.0 - one.size, 1.0)], 0.0),
            "or": ([(-one, 1.0, -1.0)], 1.0),
        }[self.kind]


Circuit = list[list[Gate]]  # levels


def random_circuit(inputs: int, widths: tuple[int, ...], rng: np.random.Generator) -> Circuit:
    """Gates of all kinds, with up to four inputs, weights up to 3 in modulus and thresholds halfway between integers."""
    levels, before = [], inputs
    for width in widths:
        level = []
        for kind in rng.choice(KINDS, width):
            chosen = rng.choice(before, 1 if kind == "not" else min(int(rng.integers(2, 5)), before), replace=False)
            w = rng.choice([-3, -2, -1, 1, 2, 3], chosen.size)
            b = rng.integers(w[w < 0].sum(), w[w > 0].sum()) + 0.5  # between the least and the largest sum: not constant
            level.append(Gate(str(kind), tuple(chosen.tolist()), tuple(w.tolist()), float(b)))
        levels.append(level)
        before = width
    return levels


def by_logic(circuit: Circuit, x: np.ndarray) -> np.ndarray:
    """Outputs at bits (p, inputs)."""
    for level in circuit:
        x = np.stack([gate.logic(x) for gate in level], axis=1)
    return x.astype(int)


def by_thresholds(circuit: Circuit, x: np.ndarray) -> list[np.ndarray]:
    """The values of all levels."""
    levels = [x]
    for level in circuit:
        levels.append(np.stack([gate.threshold(levels[-1]) for gate in level], axis=1).astype(float))
    return levels[1:]


def to_network(circuit: Circuit, inputs: int) -> ReluNet:
    """A level becomes a hidden layer; the affine map from its units to its gates' values is absorbed by the next level."""
    join, shift, layers = np.eye(inputs), np.zeros(inputs), []
    for level in circuit:
        units = [(i, gate, *unit) for i, gate in enumerate(level) for unit in gate.relu[0]]
        W, bias, out = np.zeros((len(units), len(join))), np.zeros(len(units)), np.zeros((len(level), len(units)))
        for row, (i, gate, w, b, weight) in enumerate(units):
            W[row, list(gate.inputs)], bias[row], out[i, row] = w, b, weight
        layers.append((W @ join, W @ shift + bias))
        join, shift = out, np.array([gate.relu[1] for gate in level])
    return ReluNet((*layers, (join, shift)))


def jacobian(net: ReluNet, x: np.ndarray) -> np.ndarray:
    """∂ outputs / ∂ inputs at points (p, inputs), of shape (p, outputs, inputs): W_D diag(z > 0) … W_1."""
    h, made = x, np.broadcast_to(np.eye(net.inputs), (len(x), net.inputs, net.inputs))
    for w, b in net.layers[:-1]:
        z = h @ w.T + b
        h, made = np.maximum(z, 0), (z > 0)[:, :, None] * (w @ made)
    return net.layers[-1][0] @ made
