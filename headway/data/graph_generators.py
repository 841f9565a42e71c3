"""Graphs to learn from, made at random.

communities   one graph of three groups whose nodes have more edges within than between (the stochastic block model; Holland,
              Laskey, Leinhardt 1983). Each node has 8 numbers that say little of its group; name the group
cycles        a ring, or two rings of half the size. All nodes look alike, and so do both kinds of graphs to the test of Weisfeiler
              and Leman: no model whose nodes look at their neighbours does better than guessing (Xu et al. 2019)
motifs        a random tree with one edge more, which closes a triangle or a longer ring
"""

from typing import Literal

import numpy as np

from headway.core.seeds import derive
from headway.data.graphs import LabelledGraphs, undirected

Kind = Literal["communities", "cycles", "motifs"]
GROUPS, FEATURES, SHIFT = 3, 8, 0.35  # SHIFT: how far the means of two groups are apart in each feature, about
WITHIN, BETWEEN = 5.0, 0.5  # expected edges of a node within its group, and to each other group
NAMED = 0.5  # share of the nodes whose group is known


def generate_graphs(kind: Kind, size: int, seed: int) -> LabelledGraphs:
    """`size` nodes of communities, or so many graphs."""
    random = np.random.default_rng(derive(seed, "graphs", kind))
    return communities(random, size) if kind == "communities" else many(random, kind, size)


def communities(random: np.random.Generator, nodes: int) -> LabelledGraphs:
    group = random.integers(0, GROUPS, nodes)
    same = group[:, None] == group
    chance = np.where(same, WITHIN, BETWEEN) * GROUPS / nodes
    ends = np.stack(np.nonzero(np.triu(random.random((nodes, nodes)) < chance, 1)))
    means = SHIFT * random.standard_normal((GROUPS, FEATURES))
    x = means[group] + random.standard_normal((nodes, FEATURES))
    known = random.random(nodes) < NAMED
    labels = tuple("abc"[g] if k else "" for g, k in zip(group, known, strict=True))
    attributes = {f"x{i}": tuple(f"{value:.4f}" for value in column) for i, column in enumerate(x.T, 1)}
    names = tuple(f"n{i}" for i in range(nodes))
    zeros = np.zeros(nodes, dtype=np.int64)
    return LabelledGraphs(undirected(ends), zeros, names, ("",), labels, True, attributes, "generated communities")


def many(random: np.random.Generator, kind: Kind, count: int) -> LabelledGraphs:
    """Graphs of two classes, as many of each."""
    edges, labels = [], []
    graph: list[int] = []
    for number in range(count):
        one, size = number % 2 == 0, int(random.integers(4, 9))
        if kind == "cycles":
            found = ring(2 * size) if one else np.concatenate((ring(size), ring(size) + size), 1)
            labels.append("one ring" if one else "two rings")
            nodes = 2 * size
        else:
            nodes = 2 * size
            found = tree_with_ring(random, nodes, triangle=one)
            labels.append("triangle" if one else "none")
        order = random.permutation(nodes)
        edges.append(order[found] + len(graph))
        graph += [number] * nodes
    names = tuple(f"n{i}" for i in range(len(graph)))
    titles = tuple(f"g{i}" for i in range(count))
    whole = undirected(np.concatenate(edges, 1))
    return LabelledGraphs(whole, np.array(graph), names, titles, tuple(labels), False, {}, f"generated {kind}")


def ring(nodes: int) -> np.ndarray:
    return np.stack((np.arange(nodes), (np.arange(nodes) + 1) % nodes))


def tree_with_ring(random: np.random.Generator, nodes: int, triangle: bool) -> np.ndarray:
    """A path of five nodes to which the others are hung at random; one edge more closes a ring of three, or of five."""
    parents = [max(0, child - 1) if child < 5 else int(random.integers(0, child)) for child in range(1, nodes)]
    ends = np.array([parents, range(1, nodes)])
    extra = (1, 3) if triangle else (0, 4)
    return np.concatenate((ends, np.array(extra)[:, None]), 1)
