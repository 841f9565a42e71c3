"""Threshold units with weights ±1, the gates they make, and circuits of gates."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class ThresholdUnit:
    """1{σᵀx >= θ} with weights +1 and -1; an input that is not connected has weight 0."""

    sigma: np.ndarray
    theta: int

    def __call__(self, x: np.ndarray) -> np.ndarray:
        return (x @ self.sigma >= self.theta).astype(int)

    def strict(self, x: np.ndarray) -> np.ndarray:
        """The same unit written as 1{⟨w, x⟩ > b}, b = θ - ½."""
        return (x @ self.sigma > self.theta - 0.5).astype(int)


def clause(sigma: np.ndarray) -> ThresholdUnit:
    """The disjunction of x_i (σ_i = 1) and ¬x_i (σ_i = -1): θ = 1 - q with q negated literals."""
    return ThresholdUnit(sigma, 1 - int(np.sum(sigma < 0)))


def term(sigma: np.ndarray) -> ThresholdUnit:
    """The conjunction of the same literals: θ = (number of literals) - q."""
    return ThresholdUnit(sigma, int(np.sum(sigma != 0)) - int(np.sum(sigma < 0)))


def at_least_k(n: int, k: int) -> ThresholdUnit:
    return ThresholdUnit(np.ones(n, dtype=int), k)


def circuit(x: np.ndarray, gates: list[tuple[ThresholdUnit, list[int]]]) -> np.ndarray:
    """All wires: the inputs, then the value of each gate, which reads the wires it names (a wire may be named twice)."""
    wires = list(x.T)
    for unit, reads in gates:
        wires.append(unit(np.stack([wires[i] for i in reads], axis=1)))
    return np.stack(wires, axis=1)


def adder(bits: int) -> list[tuple[ThresholdUnit, list[int]]]:
    """a + b, low bit first: carry = 2 of (a, b, c), digit = 1{a + b + c - 2 carry >= 1}. Two units for each bit; inputs a, b and a 0."""
    gates: list[tuple[ThresholdUnit, list[int]]] = []
    carry, free = 2 * bits, 2 * bits + 1
    for i in range(bits):
        gates.append((at_least_k(3, 2), [i, bits + i, carry]))
        gates.append((ThresholdUnit(np.array([1, 1, 1, -1, -1]), 1), [i, bits + i, carry, free, free]))
        carry, free = free, free + 2
    return gates


def cube(n: int) -> np.ndarray:
    """All 2^n inputs, one in each row."""
    return (np.arange(2**n)[:, None] >> np.arange(n)) & 1
