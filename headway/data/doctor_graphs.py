"""The doctor of graphs: do edges lead to nodes that exist, and are there classes to learn?

Dropped, reported:  rows that cannot be read; nodes of a graph that is not in the table of graphs; edges that name an unknown node; edges
                    between two graphs; loops (a model sees each node itself anyway); edges that were there before.
Kept, reported:     nodes without an edge; nodes or graphs without a class, which are to be predicted; columns that are not read.
An error:           no edge is left; one class only.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Int

from headway.core.errors import DataError, nearest
from headway.data.doctor_labels import describe_classes, examine_balance
from headway.data.findings import Examination, Report
from headway.data.graphs import LabelledGraphs
from headway.data.messages import count_noun, display_name, excerpt, list_names
from headway.data.node_features import readable
from headway.data.rows import Problem
from headway.data.table import Table

FEW = 50  # nodes or graphs with a class, with which a model learns little


@dataclass(frozen=True)
class Edge:
    """The two ends of an edge, each by its graph and its name, and the line it stands in."""

    line: int
    source: tuple[str, str]
    target: tuple[str, str]

    def describe(self) -> str:
        return f"{excerpt(self.source[1], 30)} - {excerpt(self.target[1], 30)}"


def examine_edges(
    listed: Sequence[Edge],
    problems: Sequence[Problem],
    index: Mapping[tuple[str, str], int],
    keys: Sequence[tuple[str, str]],
    path: str,
    directed: bool,
) -> tuple[Int[np.ndarray, "2 e"], Report]:
    """The edges between known nodes, and what was found.

    problems   rows that could not be read
    index      the number of each node
    keys       the nodes in the order of these numbers
    """
    seen = Examination([edge.line for edge in listed], "edge", lambda i: listed[i].describe())
    seen.report_unreadable(problems)
    unknown = np.array([edge.source not in index or edge.target not in index for edge in listed], dtype=bool)
    if unknown.all():
        first = listed[0]
        lost = first.source[1] if first.source not in index else first.target[1]
        guess = nearest(lost, (name for _, name in keys))
        words = f"no edge of {display_name(path)} leads from a known node to another; line {first.line} names `{excerpt(lost, 30)}`"
        hint = (
            f"did you mean `{guess}`? " if guess else ""
        ) + f"the nodes are {list_names([n for _, n in keys[:5]])} ..."
        raise DataError(words, hint)
    seen.drop("unknown-node", unknown, "with a node that is not in the table of nodes")
    across = np.array([edge.source[0] != edge.target[0] for edge in listed], dtype=bool)
    seen.drop("between-graphs", across, "between two graphs")
    seen.drop("loop", np.array([edge.source == edge.target for edge in listed], dtype=bool), "from a node to itself")
    pairs = [(edge.source, edge.target) if directed else tuple(sorted((edge.source, edge.target))) for edge in listed]
    before, again = set(), np.zeros(len(listed), dtype=bool)
    for i in np.flatnonzero(seen.alive).tolist():
        again[i] = pairs[i] in before
        before.add(pairs[i])
    seen.drop("duplicate", again, "named before" + ("" if directed else ", in this or the other direction"))
    kept = [listed[i] for i in np.flatnonzero(seen.alive).tolist()]
    ends = np.array([(index[edge.source], index[edge.target]) for edge in kept], dtype=np.int64).reshape(-1, 2).T
    alone = np.setdiff1d(np.arange(len(keys)), ends)
    if len(alone):
        message = f"{count_noun(len(alone), 'node')} without an edge: {list_names([keys[i][1] for i in alone[:5]])}"
        seen.report_all("isolated", "note", message + (" ..." if len(alone) > 5 else ""), len(alone))
    degrees = np.bincount(ends.ravel(), minlength=len(keys))
    spread = f"edges per node: median {np.median(degrees):.0f}, at most {degrees.max():,}"
    kind = "directed" if directed else "undirected"
    summary = (f"{count_noun(len(keys), 'node')}, {count_noun(len(kept), f'{kind} edge')}", spread)
    statistics = {"nodes": len(keys), "edges": len(kept), "directed": directed, "isolated": len(alone)}
    total = len(listed) + len(problems)
    return ends, Report(path, total, len(kept), seen.finish(), statistics, "edge", summary)


def examine_unlabelled(table: Table, unit: str, names: Sequence[str], outside: Bool[np.ndarray, "n"]) -> Report:
    """What is dropped of a table whose rows have no class.

    unit, names   what a row is, and what each is called
    outside       which of them are nodes of an unknown graph
    """
    seen = Examination(table.lines, unit, lambda i: excerpt(names[i], 30))
    seen.report_unreadable(table.problems)
    seen.drop("no-graph", outside, "of a graph that is not in the table of graphs")
    total, kept = len(table) + len(table.problems), int(seen.alive.sum())
    return Report(table.origin, total, kept, seen.finish(), {f"{unit}s": kept}, unit)


def examine_labelled(
    table: Table, names: Sequence[str], labels: Sequence[str], graphs: LabelledGraphs, with_columns: bool
) -> Report:
    """The classes of nodes or graphs, whichever have them, and which columns are read.

    names, labels   of the rows of the table
    """
    unit = graphs.unit.removesuffix("s")
    seen = Examination(table.lines, unit, lambda i: excerpt(labels[i], 30))
    seen.report_unreadable(table.problems)
    known = [i for i, label in enumerate(labels) if label]
    if not known:
        hint = "write the classes that are known into the column; leave the others empty."
        raise DataError(f"{display_name(table.origin)} has no {unit} with a class", hint)
    open_ = [i for i, label in enumerate(labels) if not label]
    message = f"{count_noun(len(open_), unit)} without a class, to be predicted"
    seen.report("without-class", open_, "note", message, examples=[excerpt(names[i], 30) for i in open_])
    counts = Counter(labels[i] for i in known)
    examine_balance(seen, counts, tuple(labels), known)
    if with_columns and (left := [c for c in graphs.attributes if c not in readable(graphs.attributes)]):
        message = f"columns that are not read, since they hold neither numbers nor a few names: {list_names(left)}"
        seen.report_all("not-read", "note", message, len(left))
    empty = {c: sum(not cell.strip() for cell in graphs.attributes[c]) for c in readable(graphs.attributes)}
    if with_columns and any(empty.values()):
        counted = ", ".join(f"`{c}` of {count_noun(n, 'node')}" for c, n in empty.items() if n)
        seen.report_all("empty-cells", "note", f"empty: {counted}; a number is read as the mean, a name as none", 1)
    if len(known) < FEW:
        message = f"too little data: {count_noun(len(known), unit)} with a class; a model needs at least about {FEW}"
        seen.report_all("little-data", "warning", message, len(known))
    statistics = {graphs.unit: len(labels), "labelled": len(known), "classes": dict(counts.most_common())}
    total = len(table) + len(table.problems)
    return Report(table.origin, total, len(table), seen.finish(), statistics, unit, (describe_classes(counts),))
