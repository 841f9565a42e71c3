"""Logic from McCulloch-Pitts units with weights ±1, and circuits of them."""

from collections.abc import Sequence

import numpy as np

from headway.models.classical.mcculloch_pitts import McCullochPitts

Gate = tuple[McCullochPitts, list[int]]  # a unit and the wires it reads


def unit(sigma: Sequence[int] | np.ndarray, theta: int) -> McCullochPitts:
    """1{σᵀx >= θ}."""
    return McCullochPitts(tuple(float(s) for s in sigma), float(theta))


def at_least_k(n: int, k: int) -> McCullochPitts:
    """k of n: θ = k. AND is k = n, OR is k = 1."""
    return unit([1] * n, k)


def clause(sigma: np.ndarray) -> McCullochPitts:
    """The disjunction of x_i (σ_i = 1) and ¬x_i (σ_i = -1): θ = 1 - q with q negated literals; σ_i = 0 is not connected."""
    return unit(sigma, 1 - int(np.sum(sigma < 0)))


def term(sigma: np.ndarray) -> McCullochPitts:
    """The conjunction of the same literals: θ = (number of literals) - q."""
    return unit(sigma, int(np.sum(sigma > 0)))


def circuit(x: np.ndarray, gates: list[Gate]) -> np.ndarray:
    """All wires: the inputs, then the value of each gate, which reads the wires it names (a wire may be named twice)."""
    wires = list(x.T)
    for unit, reads in gates:
        wires.append(unit(np.stack([wires[i] for i in reads], axis=1)))
    return np.stack(wires, axis=1)


def adder(bits: int) -> list[Gate]:
    """a + b, low bit first: carry = 2 of (a, b, c), digit = 1{a + b + c - 2 carry >= 1}. Two units for each bit; inputs a, b and a 0."""
    gates: list[Gate] = []
    carry, free = 2 * bits, 2 * bits + 1
    for i in range(bits):
        gates.append((at_least_k(3, 2), [i, bits + i, carry]))
        gates.append((unit([1, 1, 1, -1, -1], 1), [i, bits + i, carry, free, free]))
        carry, free = free, free + 2
    return gates
