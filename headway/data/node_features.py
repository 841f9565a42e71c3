"""The features of nodes: columns of numbers, standardised, and columns of names as one number for each name.

    number     z = (x - mean) / deviation, 0 where the cell is empty
    name       1 where the node has this name, otherwise 0 (a name that training did not have gives zeros only)

A graph without any such column has the logarithm of the degree, standardised, and the constant 1.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from headway.data.cells import to_number
from headway.data.graphs import LabelledGraphs
from headway.data.messages import count_noun, list_names
from headway.data.set_tables import is_numeric

MOST_NAMES = 20  # different names of a column that is read; one with more seems to name the nodes, not to describe them


@dataclass(frozen=True)
class NodeFeatures:
    """For each feature: its column, the name it stands for (empty: the number itself), and its scale."""

    columns: tuple[str, ...]
    values: tuple[str, ...]
    mean: tuple[float, ...]
    deviation: tuple[float, ...]

    @classmethod
    def of(cls, graphs: LabelledGraphs) -> "NodeFeatures":
        found: list[tuple[str, str, float, float]] = []
        for column in readable(graphs.attributes):
            cells = graphs.attributes[column]
            if is_numeric(cells):
                found.append((column, "", *scale_of(np.array([to_number(cell) for cell in cells]))))
            else:
                found += [(column, name, 0.0, 1.0) for name in sorted({cell for cell in cells if cell.strip()})]
        if not found:
            # (0 - (-1)) / 1 is the constant
            found = [
                ("", "", *scale_of(np.log1p(graphs.degrees))),
                ("", "", -1.0, 1.0),
            ]
        return cls(*zip(*found, strict=True))

    def __len__(self) -> int:
        return len(self.columns)

    @property
    def wanted(self) -> tuple[str, ...]:
        """The columns that a table of nodes must have."""
        return tuple(dict.fromkeys(column for column in self.columns if column))

    def describe(self) -> str:
        names = count_noun(len(self), "feature")
        return f"{names} per node" if self.wanted else f"no columns of features: {names} per node from its degree"

    def apply(self, graphs: LabelledGraphs) -> Float[np.ndarray, "n c"]:
        if not self.wanted:
            raw = np.stack((np.log1p(graphs.degrees), np.zeros(len(graphs.graph))), 1)
        else:
            raw = np.stack(
                [self._column(graphs.attributes[c], v) for c, v in zip(self.columns, self.values, strict=True)], 1
            )
        scaled = (raw - np.array(self.mean)) / np.array(self.deviation)
        return np.nan_to_num(scaled, nan=0.0)

    def warnings(self, graphs: LabelledGraphs) -> tuple[str, ...]:
        """Which cells say nothing to the model: no number where it expects one, or a name that training did not have."""
        found = []
        for column in self.wanted:
            names = {value for c, value in zip(self.columns, self.values, strict=True) if c == column}
            cells = graphs.attributes[column]
            if names == {""}:
                empty = sum(bool(np.isnan(to_number(cell))) for cell in cells)
                found += [f"`{column}` is no number for {count_noun(empty, 'node')}: read as the mean"] * bool(empty)
            elif other := [name for name in dict.fromkeys(cells) if name not in names]:
                found.append(f"`{column}` has names that training had not: {list_names(other[:5])}")
        return tuple(found)

    def _column(self, cells: Sequence[str], value: str) -> Float[np.ndarray, "n"]:
        return np.array([float(cell == value) if value else to_number(cell) for cell in cells])


def readable(attributes: Mapping[str, Sequence[str]]) -> list[str]:
    """The columns that hold numbers, or a few names."""
    names = {column: Counter(cell for cell in cells if cell.strip()) for column, cells in attributes.items()}
    return [c for c, cells in attributes.items() if is_numeric(cells) or 1 < len(names[c]) <= MOST_NAMES]


def scale_of(values: Float[np.ndarray, "n"]) -> tuple[float, float]:
    """Mean and standard deviation of the numbers that are there; a deviation of nothing is 1."""
    filled = values[~np.isnan(values)]
    deviation = float(filled.std())
    return float(filled.mean()), deviation if deviation > 1e-12 else 1.0
