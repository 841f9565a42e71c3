"""Logic from McCulloch-Pitts units with weights ±1, and circuits of them."""

from collections.abc import Sequence

import numpy as np

from headway.lab.tools.bits import cube
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


def literals(x: np.ndarray, sigma: np.ndarray) -> np.ndarray:
    """The truth values of those literals, by Boolean logic and without arithmetic."""
    return np.where(sigma > 0, x == 1, x == 0)[:, sigma != 0]


def circuit(x: np.ndarray, gates: list[Gate]) -> np.ndarray:
    """All wires: the inputs, then the value of each gate, which reads the wires it names (a wire may be named twice)."""
    wires = list(x.T)
    for unit, reads in gates:
        wires.append(unit(np.stack([wires[i] for i in reads], axis=1)))
    return np.stack(wires, axis=1)


def conjunction(false: np.ndarray) -> list[Gate]:
    """A circuit that is 0 at these inputs only: the AND of one clause for each, which is 0 there and nowhere else."""
    count, n = false.shape
    clauses = [(clause(1 - 2 * x), list(range(n))) for x in false]
    return [*clauses, (at_least_k(count, count), list(range(n, n + count)))]


def adder(bits: int) -> list[Gate]:
    """a + b, low bit first: carry = 2 of (a, b, c), digit = 1{a + b + c - 2 carry >= 1}. Two units for each bit; inputs a, b and a 0."""
    gates: list[Gate] = []
    carry, free = 2 * bits, 2 * bits + 1
    for i in range(bits):
        gates.append((at_least_k(3, 2), [i, bits + i, carry]))
        gates.append((unit([1, 1, 1, -1, -1], 1), [i, bits + i, carry, free, free]))
        carry, free = free, free + 2
    return gates


def total(bits: int) -> np.ndarray:
    """What `adder` makes of all pairs of numbers, the rows of `cube(2 bits)`: its digits, and the last carry, as whole numbers."""
    wires = circuit(np.pad(cube(2 * bits), ((0, 0), (0, 1))), adder(bits))
    return np.column_stack([wires[:, 2 * bits + 2 :: 2], wires[:, -2]]) @ 2 ** np.arange(bits + 1)
