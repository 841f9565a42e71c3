"""Layered Boolean circuits, as logic, as threshold units and as ReLU nets.

Furniture of `circuit-to-network`. A gate takes values of the level before only; a value that is needed later passes through an AND of one.
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

    def logic(self, v: np.ndarray) -> np.ndarray:
        """The value by logic and counting, from bits (p, level before)."""
        bits = v[:, list(self.inputs)].astype(bool)
        if self.kind == "not":
            return ~bits[:, 0]
        if self.kind == "and":
            return bits.all(axis=1)
        if self.kind == "or":
            return bits.any(axis=1)
        return bits @ np.array(self.w) > self.b

    def unit(self) -> tuple[tuple[int, ...], float]:
        """The same gate as a threshold unit: integer weights and a b that no sum of bits meets."""
        k = len(self.inputs)
        return {"not": ((-1,), -0.5), "and": ((1,) * k, k - 0.5), "or": ((1,) * k, 0.5), "threshold": (self.w, self.b)}[self.kind]

    def relu(self) -> tuple[list[tuple[np.ndarray, float]], list[float], float]:
        """Units (weights, bias), output weights and constant: one unit for NOT, AND and OR, two for a threshold."""
        k, one = len(self.inputs), np.ones(len(self.inputs))
        if self.kind == "not":
            return [(-one, 1.0)], [1.0], 0.0
        if self.kind == "and":
            return [(one, 1.0 - k)], [1.0], 0.0
        if self.kind == "or":
            return [(-one, 1.0)], [-1.0], 1.0
        w = np.array(self.w, dtype=float)
        return [(w, 0.5 - self.b), (w, -0.5 - self.b)], [1.0, -1.0], 0.0


Circuit = list[list[Gate]]  # levels


def random_circuit(inputs: int, widths: tuple[int, ...], rng: np.random.Generator) -> Circuit:
    levels, before = [], inputs
    for width in widths:
        level = []
        for _ in range(width):
            kind = KINDS[rng.integers(4)]
            chosen = rng.choice(before, 1 if kind == "not" else min(int(rng.integers(2, 5)), before), replace=False)
            w = tuple(int(i) for i in rng.choice([-3, -2, -1, 1, 2, 3], chosen.size)) if kind == "threshold" else ()
            low, high = sum(i for i in w if i < 0), sum(i for i in w if i > 0)
            level.append(Gate(kind, tuple(int(i) for i in chosen), w, float(rng.integers(low, max(high, low + 1))) + 0.5))
        levels.append(level)
        before = width
    return levels


def by_logic(circuit: Circuit, x: np.ndarray) -> np.ndarray:
    for level in circuit:
        x = np.stack([gate.logic(x) for gate in level], axis=1)
    return x.astype(int)


def by_thresholds(circuit: Circuit, x: np.ndarray) -> list[np.ndarray]:
    """All levels of the circuit of threshold units, also at inputs that are not bits."""
    levels, v = [], x
    for level in circuit:
        units = [gate.unit() for gate in level]
        v = np.stack([(v[:, list(g.inputs)] @ np.array(w) > b).astype(float) for g, (w, b) in zip(level, units, strict=True)], axis=1)
        levels.append(v)
    return levels


def to_network(circuit: Circuit, inputs: int) -> ReluNet:
    """A level becomes a hidden layer; the affine map from its units to its gates' values is absorbed by the next level."""
    join, shift, layers = np.eye(inputs), np.zeros(inputs), []
    for level in circuit:
        rows, biases, out, constants = [], [], [], []
        for gate in level:
            units, weights, constant = gate.relu()
            for w, bias in units:
                row = np.zeros(len(join))
                row[list(gate.inputs)] = w
                rows.append(row)
                biases.append(bias)
            out.append(weights)
            constants.append(constant)
        W = np.array(rows)
        layers.append((W @ join, W @ shift + np.array(biases)))
        join, shift, column = np.zeros((len(level), len(rows))), np.array(constants), 0
        for i, weights in enumerate(out):
            join[i, column : column + len(weights)] = weights
            column += len(weights)
    return ReluNet((*layers, (join, shift)))
