from dataclasses import dataclass

import numpy as np
from jaxtyping import Int
from numpy.typing import ArrayLike


@dataclass(frozen=True)
class McCullochPitts:
    """McCulloch-Pitts neuron: a threshold unit with weights that nobody learns, and the gates that it can be.

        y = 1 if w . x >= theta else 0

    One unit is AND, OR, NOT, NOR or the majority; no unit is XOR, two layers are. McCulloch & Pitts 1943,
    https://doi.org/10.1007/BF02478259; lecture C, chapter 1.

    weights     one for each input
    threshold   theta
    """

    weights: tuple[float, ...]
    threshold: float

    aliases = ("McCulloch-Pitts unit", "threshold unit", "linear threshold gate")

    def __call__(self, x: ArrayLike) -> Int[np.ndarray, "n"]:
        """0 or 1 for each row."""
        return (np.asarray(x) @ np.array(self.weights) >= self.threshold).astype(np.int64)

    @classmethod
    def conjunction(cls, inputs: int) -> "McCullochPitts":
        """AND: all inputs are 1."""
        return cls((1.0,) * inputs, float(inputs))

    @classmethod
    def disjunction(cls, inputs: int) -> "McCullochPitts":
        """OR: some input is 1."""
        return cls((1.0,) * inputs, 1.0)

    @classmethod
    def negation(cls) -> "McCullochPitts":
        """NOT, of one input."""
        return cls((-1.0,), 0.0)

    @classmethod
    def majority(cls, inputs: int) -> "McCullochPitts":
        """More than half of the inputs are 1."""
        return cls((1.0,) * inputs, inputs // 2 + 1.0)
