r"""A random order of n things without a list of them: a Feistel network with cycle walking.

    L_{i+1} = R_i,   R_{i+1} = L_i xor F(k_i, R_i)                    Luby & Rackoff 1988, https://doi.org/10.1137/0217022

A number of 2w bits is cut into halves L and R. Whatever F is, a round can be undone, so the rounds together are a
bijection of all numbers of 2w bits. w is the least with 4^w >= n. A number that falls outside of 0 .. n - 1 goes through
the rounds again until it falls inside: following a cycle of a bijection from inside comes back inside, so this is a
bijection of 0 .. n - 1 (Black & Rogaway 2002, https://doi.org/10.1007/3-540-45760-7_9). As 4^w < 4 n, it takes fewer than
four passes on average. Memory does not depend on n, and any stretch of the order is computed by itself.
"""

import numpy as np
from jaxtyping import Int

ROUNDS = 8
# The multipliers of splitmix64 (Steele, Lea & Flood 2014, https://doi.org/10.1145/2660193.2660195).
FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


class Permutation:
    """A permutation of 0 .. count - 1 that follows from the seed alone."""

    def __init__(self, count: int, seed: int) -> None:
        self.count = count
        self.half = np.uint64(max(1, ((count - 1).bit_length() + 1) // 2))  # w
        self.low = (np.uint64(1) << self.half) - np.uint64(1)  # w ones
        self.keys = np.random.default_rng(seed).integers(1 << 63, size=ROUNDS, dtype=np.uint64)

    def __call__(self, places: Int[np.ndarray, "n"]) -> Int[np.ndarray, "n"]:
        """What stands at these places of the order."""
        found = self._rounds(places.astype(np.uint64))
        while (outside := found >= self.count).any():
            found[outside] = self._rounds(found[outside])
        return found.astype(np.int64)

    def _rounds(self, x: np.ndarray) -> np.ndarray:
        left, right = x >> self.half, x & self.low
        for key in self.keys:
            left, right = right, left ^ self._mixed(right + key)
        return left << self.half | right

    def _mixed(self, z: np.ndarray) -> np.ndarray:
        """F: every bit of z changes every bit of the result with a probability of about one half."""
        z = (z ^ z >> np.uint64(30)) * FIRST
        z = (z ^ z >> np.uint64(27)) * SECOND
        return (z ^ z >> np.uint64(31)) & self.low
