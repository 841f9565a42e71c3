"""Graphs from tables: a row for each edge, a row for each node, and for the classes of whole graphs a row for each graph.

edges    columns `source` and `target` (or `from` and `to`, or the first two), the nodes by name or number; with a column `graph`
         the names hold within that graph. A list of edges without a header is recognised by its first row, which names two nodes
nodes    a column `node`, `id` or `name` (or the first), the class of each node (empty where it is to be predicted), and columns of
         numbers or of a few names that describe the node; a column `graph`, if there are many graphs
graphs   a column `graph` and the class of each graph
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from headway.core.errors import DataError, raise_all
from headway.data.doctor_graphs import Edge, examine_edges, examine_labelled, examine_unlabelled
from headway.data.findings import Report
from headway.data.graphs import LabelledGraphs, tidy, undirected
from headway.data.messages import display_name, excerpt, list_names
from headway.data.rows import Problem
from headway.data.set_tables import choose_column
from headway.data.table import Table, glance, read_table

NODE, GRAPH, LABEL = ("node", "id", "name"), "graph", ("label", "class", "target")
ENDS = (("source", "target"), ("from", "to"), ("src", "dst"), ("u", "v"), ("node1", "node2"))
Key = tuple[str, str]  # the graph (empty if there is one) and the name of a node


@dataclass(frozen=True)
class Files:
    """Where graphs are: tables of edges, of nodes and, if graphs have classes, of graphs."""

    edges: str
    nodes: str
    graphs: str | None = None
    label: str | None = None  # the column of the classes
    directed: bool = False  # whether edges go one way


def read_graphs(
    files: Files, columns: Sequence[str] | None = None, with_labels: bool = True
) -> tuple[LabelledGraphs, tuple[Report, ...]]:
    """The graphs of these tables, and what was found in each.

    columns       those that describe a node, if they are known; otherwise all that are neither name, graph nor class
    with_labels   whether there must be classes; without them all labels are empty
    """
    nodes = read_table(files.nodes, [])
    name, of_nodes = node_column(nodes), files.graphs is None
    many = GRAPH in nodes.columns
    if not of_nodes and not many:
        words = f"{display_name(files.nodes)} has no column `{GRAPH}`, so its nodes belong to no graph of {display_name(str(files.graphs))}"
        raise DataError(words, "write the graph of each node into a column `graph`.")
    graph_cells = nodes.column(GRAPH) if many else ("",) * len(nodes)
    keys: list[Key] = list(zip(graph_cells, nodes.column(name), strict=True))
    require_once(keys, nodes)
    titles = tuple(dict.fromkeys(graph_cells))
    if files.graphs is not None:
        titles, labels, labelled = read_titles(files.graphs, files.label, titles, with_labels)
        require_nodes(titles, graph_cells, files)
        used = (name, GRAPH)
    else:
        column = choose_column(nodes, files.label, LABEL, "--label") if with_labels else None
        labels = tuple(cell.strip() for cell in nodes.column(column)) if column else ("",) * len(nodes)
        labelled, used = nodes, (name, GRAPH, *((column,) if column else ()))
    number = {title: i for i, title in enumerate(titles)}
    inside = [i for i, title in enumerate(graph_cells) if title in number]  # a graph without a row has no class
    order = np.array(sorted(inside, key=lambda i: number[graph_cells[i]]), dtype=np.int64)
    index = {keys[i]: place for place, i in enumerate(order.tolist())}
    listed = read_edges(files.edges, many, index)
    edges, report = examine_edges(*listed, index, [keys[i] for i in order], files.edges, files.directed)
    wanted = list(columns) if columns is not None else [c for c in nodes.columns if c not in used]
    cells = {c: nodes.column(c) for c in wanted}
    graphs = LabelledGraphs(
        (tidy if files.directed else undirected)(edges),
        np.array([number[graph_cells[i]] for i in order], dtype=np.int64),
        tuple(keys[i][1] for i in order),
        titles,
        tuple(labels[i] for i in order) if of_nodes else labels,
        of_nodes,
        {c: tuple(cells[c][i] for i in order) for c in wanted},
        files.nodes,
    )
    names = nodes.column(name) if of_nodes else titles
    found = [examine_labelled(labelled, names, labels, graphs, columns is None)] if with_labels else []
    outside = np.array([title not in number for title in graph_cells], dtype=bool)
    others = [examine_unlabelled(nodes, "node", nodes.column(name), outside)] if not (of_nodes and with_labels) else []
    if not of_nodes and not with_labels:
        others.append(examine_unlabelled(labelled, "graph", titles, np.zeros(len(titles), dtype=bool)))
    return graphs, (*found, *(other for other in others if other.findings), report)


def node_column(nodes: Table) -> str:
    return next((c for c in NODE if c in nodes.columns), next(iter(nodes.columns)))


def require_once(keys: Sequence[Key], nodes: Table) -> None:
    first: dict[Key, int] = {}
    again = []
    for line, key in zip(nodes.lines, keys, strict=True):
        if key in first:
            where = f" of graph `{excerpt(key[0], 30)}`" if key[0] else ""
            again.append(f"`{excerpt(key[1], 30)}`{where} in lines {first[key]} and {line}")
        first.setdefault(key, line)
    edges = any({a, b} <= set(nodes.columns) for a, b in ENDS)
    hint = (
        "this looks like a table of edges: did you swap `--edges` and `--nodes`?"
        if edges
        else "every node has one row."
    )
    raise_all(again, DataError, f"{display_name(nodes.origin)} names nodes more than once", hint)


def read_titles(
    path: str, label: str | None, known: Sequence[str], with_labels: bool
) -> tuple[tuple[str, ...], tuple[str, ...], Table]:
    """The names and the classes of graphs, in the order of their table."""
    table = read_table(path, [GRAPH])
    column = choose_column(table, label, LABEL, "--label") if with_labels else None
    titles = table.column(GRAPH)
    twice = (
        [title for title in dict.fromkeys(titles) if titles.count(title) > 1] if len(set(titles)) < len(titles) else []
    )
    if twice:
        raise DataError(f"{display_name(path)} names graphs more than once: {list_names(twice[:5])}", "one row each.")
    return titles, tuple(c.strip() for c in table.column(column)) if column else ("",) * len(titles), table


def require_nodes(titles: Sequence[str], cells: Sequence[str], files: Files) -> None:
    """A graph without a node cannot be named."""
    known = set(cells)
    if empty := [title for title in titles if title not in known]:
        words = f"{display_name(str(files.graphs))} has graphs without a node in {display_name(files.nodes)}: {list_names(empty[:5])}"
        raise DataError(words, "every graph needs at least one node; is the column `graph` the same in both files?")


def read_edges(path: str, many: bool, index: dict[Key, int]) -> tuple[list[Edge], tuple[Problem, ...]]:
    """The two ends of each edge, with the line it stands in, and the rows that cannot be read."""
    table = read_table(path, [])
    names = list(table.columns)
    if len(names) < 2:
        hint = "write two columns, `source` and `target`."
        raise DataError(f"{display_name(path)} has one column, expected the two ends of each edge", hint)
    by_name = {name.lower(): name for name in names}
    pair = next(((by_name[a], by_name[b]) for a, b in ENDS if a in by_name and b in by_name), None)
    first, second = pair or [name for name in names if name != GRAPH][:2]
    within = table.column(GRAPH) if many and GRAPH in names else None
    if within is None and many:  # the names hold for all graphs, so a name tells its graph
        home = {name: graph for graph, name in index}
        if len(home) < len(index):
            hint = f"add a column `graph` to {display_name(path)}, or give every node a name of its own."
            raise DataError(
                "nodes of different graphs have the same name, and the edges do not say which graph they are of", hint
            )
    else:
        home = {}
    rows = list(zip(table.lines, table.column(first), table.column(second), within or ("",) * len(table), strict=True))
    if pair is None and {first, second} <= {name for _, name in index}:
        rows.insert(0, (1, first, second, ""))  # the first row is an edge, not a header
    edges = [Edge(line, (graph or home.get(a, ""), a), (graph or home.get(b, ""), b)) for line, a, b, graph in rows]
    return edges, table.problems


def recognise_files(paths: Sequence[str]) -> Files | None:
    """Tables of edges and of nodes, and of graphs if there are three, by the names of their columns; in whatever order."""
    columns = {path: set(glance(path)) for path in paths} if 2 <= len(paths) <= 3 else {}
    edges = [path for path, names in columns.items() if any({a, b} <= names for a, b in ENDS)]
    nodes = [path for path, names in columns.items() if names & set(NODE) and path not in edges]
    rest = [path for path, names in columns.items() if GRAPH in names and path not in (*edges, *nodes)]
    if len(edges) != 1 or len(nodes) != 1 or len(rest) != len(columns) - 2:
        return None
    return Files(edges[0], nodes[0], rest[0] if rest else None)
