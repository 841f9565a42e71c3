"""Small graphs, and how many weights a linear map of sets or graphs has that does not know the order of the nodes."""

import numpy as np
from scipy.sparse.csgraph import shortest_path

HEXAGON = np.array([[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 0]])
TRIANGLES = np.array([[0, 1], [1, 2], [2, 0], [3, 4], [4, 5], [5, 3]])  # with the hexagon's degrees, in two parts


def both_ways(pairs: np.ndarray) -> np.ndarray:
    """Undirected edges "e 2" as the models read them: "2 2e", each in both directions."""
    return np.concatenate([pairs, pairs[:, ::-1]]).T.copy()


def random_graph(nodes: int, probability: float, rng: np.random.Generator) -> np.ndarray:
    """Every pair is an edge with that probability, independently of the others (Erdős and Rényi)."""
    pairs = np.array([(i, j) for i in range(nodes) for j in range(i)])
    return pairs[rng.random(len(pairs)) < probability]


def shortest(edges: np.ndarray) -> int:
    """How many edges lead from the first node to the last; edges[t, s] goes from s to t. 0 where there is no way."""
    length = shortest_path(np.ascontiguousarray(edges.T, dtype=float), unweighted=True)[0, -1]
    return int(length) if np.isfinite(length) else 0


def patterns(n: int, k: int) -> np.ndarray:
    """For each of the n^k tuples of indices the number of its pattern: which of the k indices are equal."""
    tuples = np.stack(np.unravel_index(np.arange(n**k), (n,) * k), 1)
    first = np.argmax(tuples[:, :, None] == tuples[:, None, :], axis=2)  # where the same index stands first
    return np.unique(first, axis=0, return_inverse=True)[1].ravel()


def fixed_dimension(n: int, k: int) -> int:
    """The dimension of what P ⊗ ... ⊗ P (k times) leaves alone, for a swap and a cycle, which generate all permutations."""
    swap, cycle = np.eye(n)[[1, 0, *range(2, n)]], np.roll(np.eye(n), 1, 0)
    equations = []
    for P in (swap, cycle):
        power: np.ndarray = P
        for _ in range(k - 1):
            power = np.kron(power, P)
        equations.append(power - np.eye(n**k))
    return n**k - int(np.linalg.matrix_rank(np.vstack(equations)))
