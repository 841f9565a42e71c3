"""Sets of Boolean functions, as codes of truth tables: symmetry classes, what units with small weights compute, and what one ReLU does."""

from itertools import combinations_with_replacement, permutations, product

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from headway.lab.tools.bits import codes, cube, tables
from headway.lab.tools.programs import feasible


def classes(n: int) -> tuple[np.ndarray, np.ndarray]:
    """The code of one function of each symmetry class, and the sizes: connected parts under swaps and one negation of inputs, and ¬f."""
    f, x, here = tables(n), cube(n), np.arange(2 ** (2**n))
    moved = [x[:, [*range(i), i + 1, i, *range(i + 2, n)]] for i in range(n - 1)] + [x ^ (np.arange(n) == 0)]
    images = [codes(f[:, y @ (1 << np.arange(n))]) for y in moved] + [here[::-1]]
    edges = (np.tile(here, len(images)), np.concatenate(images))
    graph = coo_array((np.ones(edges[0].size), edges), shape=(here.size, here.size))
    _, label = connected_components(graph, directed=False)
    _, first, sizes = np.unique(label, return_index=True, return_counts=True)
    return first, sizes


def by_signs(n: int) -> np.ndarray:
    """The codes of 1{σᵀx >= θ} for all σ of ±1 and half-integer θ: McCulloch-Pitts units with every input connected."""
    sums = cube(n) @ np.array(list(product((-1, 1), repeat=n))).T
    return np.unique(codes((sums[None] >= np.arange(-n, n + 2)[:, None, None] - 0.5).transpose(0, 2, 1)))


def by_weights(n: int, largest: int) -> np.ndarray:
    """The codes of 1{wᵀx >= θ} for integer weights |w_i| <= largest: sorted w >= 0 first, then all permutations and negations of inputs."""
    x = cube(n)
    sorted_ = np.array(list(combinations_with_replacement(range(largest + 1), n)))
    thresholds = np.arange(n * largest + 2)
    found = np.unique(((x @ sorted_.T).T[:, None] >= thresholds[:, None]).reshape(-1, 2**n), axis=0)
    reach = np.array([x[:, p] @ (1 << np.arange(n)) for p in permutations(range(n))])
    moves = np.unique((reach[:, None, :] ^ np.arange(2**n)[:, None]).reshape(-1, 2**n), axis=0)
    return np.unique(np.concatenate([codes(f[moves]) for f in found]))


def one_relu(f: np.ndarray, exact: bool) -> int:
    """In how many ways f of two inputs is ±relu(w·x + b) + c: of 16 patterns of active inputs and 2 signs; unknown are (w_1, w_2, b, c).

    A factor of relu goes into w and b, so its sign is all. `exact`: it equals f. Otherwise a threshold, which goes into c, suffices.
    """
    z, found = np.column_stack([cube(2), np.ones(4), np.zeros(4)]), 0
    for active, v in product(product((0, 1), repeat=4), (1, -1)):
        on = np.array(active)[:, None]
        pattern, value = (2 * on - 1) * z, v * on * z + np.array([0, 0, 0, 1])  # on its pattern the unit is linear in the unknowns
        rows = np.vstack([value, -value]) if exact else (2 * f - 1)[:, None] * value
        least = np.concatenate([np.zeros(4), *((f, -f) if exact else (np.ones(4),))])
        found += feasible(np.vstack([pattern, rows]), least) is not None
    return found
