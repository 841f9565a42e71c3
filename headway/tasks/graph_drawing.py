"""Graphs as drawings: nodes that are neighbours come close, all others keep their distance.

    force between two nodes at distance r:  k^2 / r apart;  between neighbours also r^2 / k together;  k = 1 / sqrt(n)

Each step moves a node along its force, by at most a temperature that falls to zero (Fruchterman & Reingold 1991, "Graph drawing by
force-directed placement"). A weak pull towards the middle keeps parts without an edge between them on the page.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int

from headway.data.graphs import LabelledGraphs
from headway.tasks.panels import Mark, Plot

MOST_NODES, SAMPLE = 500, 250  # of a drawing; of a larger graph so many nodes are drawn
MOST_GRAPHS = 12
STEPS, PULL = 80, 0.5


def spring_layout(edges: Int[np.ndarray, "2 e"], nodes: int, seed: int = 0) -> Float[np.ndarray, "n 2"]:
    """Places in the plane, around the origin."""
    place = np.random.default_rng(seed).uniform(-0.5, 0.5, (nodes, 2))
    k = 1 / np.sqrt(max(1, nodes))
    joined = np.zeros((nodes, nodes))
    joined[edges[0], edges[1]] = joined[edges[1], edges[0]] = 1.0
    for step in range(STEPS):
        apart = place[:, None] - place[None]
        distance = np.sqrt((apart**2).sum(-1)) + 1e-6
        strength = k**2 / distance**2 - joined * distance / k  # of the unit vector, divided by the distance
        force = (strength[..., None] * apart).sum(1) - PULL * k * place
        length = np.sqrt((force**2).sum(-1, keepdims=True)) + 1e-12
        place += force / length * np.minimum(length, 0.1 * (1 - step / STEPS))
    return place - place.mean(0)


def neighbourhood(graphs: LabelledGraphs, most: int) -> Int[np.ndarray, "m"]:
    """At most so many nodes: those that are found first from the node with the most edges, step by step."""
    start = int(np.argmax(graphs.degrees))
    found, frontier = {start: None}, [start]
    while frontier and len(found) < most:
        around = graphs.edges[1][np.isin(graphs.edges[0], frontier)]
        frontier = [node for node in dict.fromkeys(around.tolist()) if node not in found]
        found.update(dict.fromkeys(frontier[: most - len(found)]))
    return np.sort(np.array(list(found)))


def draw_nodes(
    title: str, graphs: LabelledGraphs, classes: Sequence[str], labels: Sequence[str], caption: str = ""
) -> Plot:
    """One graph, its nodes coloured by their classes.

    labels   what the pointer shows at each node
    """
    count = len(graphs.graph)
    chosen = np.arange(count) if count <= MOST_NODES else neighbourhood(graphs, SAMPLE)
    inside = np.full(count, -1)
    inside[chosen] = np.arange(len(chosen))
    edges = inside[graphs.edges]
    edges = edges[:, (edges >= 0).all(0) & (edges[0] < edges[1])]
    if len(chosen) < count:
        caption += f" {len(chosen):,} of {count:,} nodes are drawn."
    picked = [classes[i] for i in chosen.tolist()], [labels[i] for i in chosen.tolist()]
    return plot(title, spring_layout(edges, len(chosen)), edges, *picked, caption.strip())


def draw_graphs(
    title: str,
    graphs: LabelledGraphs,
    rows: Sequence[int],
    classes: Sequence[str],
    labels: Sequence[str],
    caption: str = "",
) -> Plot:
    """Some graphs side by side, each in the colour of its class.

    rows      which graphs
    classes   of these graphs
    labels    what the pointer shows at each of them
    """
    rows = list(rows)[:MOST_GRAPHS]
    across = int(np.ceil(np.sqrt(1.5 * max(1, len(rows)))))
    places, parts, names, texts, first = [], [], [], [], 0
    for number, row in enumerate(rows):
        one = graphs.select([row])
        place = spring_layout(one.edges, len(one.graph))
        place /= max(1e-6, float(np.abs(place).max())) * 2.5  # each in a square of 1, with room between them
        places.append(place + np.array([number % across, -(number // across)]))
        parts.append(one.edges[:, one.edges[0] < one.edges[1]] + first)
        names += [classes[number]] * len(place)
        texts += [labels[number]] * len(place)
        first += len(place)
    return plot(title, np.concatenate(places), np.concatenate(parts, 1), names, texts, caption)


def plot(
    title: str,
    place: Float[np.ndarray, "n 2"],
    edges: Int[np.ndarray, "2 e"],
    classes: Sequence[str],
    labels: Sequence[str],
    caption: str,
) -> Plot:
    """Edges thin and grey below the nodes, which have the colour of their class."""
    a, b = place[edges[0]], place[edges[1]]
    marks = [Mark("segments", a[:, 0], a[:, 1], high=b[:, 1], x_end=b[:, 0], soft=True)]
    for name in sorted(set(classes)):
        of = [i for i, c in enumerate(classes) if c == name]
        marks.append(Mark("points", place[of, 0], place[of, 1], name, labels=[labels[i] for i in of]))
    return Plot(title, tuple(marks), caption=caption, equal=True, bare=True)
