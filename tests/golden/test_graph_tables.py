"""Tables of edges, nodes and graphs: how they are read, and what the doctor finds in them."""

from pathlib import Path

import numpy as np
import pytest

from headway.core.errors import DataError
from headway.data.graph_generators import generate_graphs
from headway.data.graph_tables import Files, read_graphs, recognise_files
from headway.data.graphs import GraphBatches, LabelledGraphs, joined, tidy, undirected
from headway.tasks.graph_drawing import draw_nodes, neighbourhood, spring_layout

NODES = "node,size,label\na,1,x\nb,2,y\nc,3,x\nd,4,\n"


def write(folder: Path, **tables: str) -> dict[str, str]:
    for name, text in tables.items():
        (folder / f"{name}.csv").write_text(text, encoding="utf-8")
    return {name: str(folder / f"{name}.csv") for name in tables}


def links(graphs: LabelledGraphs) -> set[tuple[str, str]]:
    return {(graphs.names[a], graphs.names[b]) for a, b in graphs.edges.T.tolist()}


def test_edges_by_name_number_and_without_a_header(tmp_path: Path) -> None:
    both = {("a", "b"), ("b", "a"), ("b", "c"), ("c", "b")}
    for number, edges in enumerate(
        ("source,target\na,b\nb,c\n", "from,to\na,b\nb,c\n", "weight,target,source\n1,b,a\n2,c,b\n", "a,b\nb,c\n")
    ):
        graphs, _ = read_graphs(Files(**write(tmp_path, edges=edges, nodes=NODES)))
        assert links(graphs) == both, number
        assert graphs.labels == ("x", "y", "x", "") and graphs.attributes == {"size": ("1", "2", "3", "4")}
    numbers = write(tmp_path, edges="0,1\n1,2\n", nodes="node,label\n0,x\n1,y\n2,x\n")
    assert links(read_graphs(Files(**numbers))[0]) == {("0", "1"), ("1", "0"), ("1", "2"), ("2", "1")}
    one_way = Files(**write(tmp_path, edges="source,target\na,b\nb,c\n", nodes=NODES), directed=True)
    assert links(read_graphs(one_way)[0]) == {("a", "b"), ("b", "c")}


def test_what_the_doctor_finds(tmp_path: Path) -> None:
    edges = "source,target\na,b\nb,a\nb,b\na,z\na,b\n"
    graphs, (labels, report) = read_graphs(Files(**write(tmp_path, edges=edges, nodes=NODES)))
    found = {finding.kind: finding for finding in report.findings}
    assert {kind: finding.lines for kind, finding in found.items()} == {
        "unknown-node": (5,),
        "loop": (4,),
        "duplicate": (3, 6),
        "isolated": (),
    }
    assert "a - z" in found["unknown-node"].examples and found["unknown-node"].action == "dropped"
    assert "2 nodes without an edge: `c`, `d`" in found["isolated"].message
    assert (report.total, report.kept) == (5, 1) and links(graphs) == {("a", "b"), ("b", "a")}
    assert "1 node without a class, to be predicted (line 5): kept\n    e.g. d\n" in labels.text() + "\n"
    assert "4 nodes, 1 undirected edge" in report.text()
    assert len(report.left_out) == 3 and report.left_out[0].startswith("left out: 1 edge with a node that is not in")


def test_rows_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    """Of edges and of nodes, with and without classes; and nodes whose graph has no row."""
    files = Files(**write(tmp_path, edges="source,target\na,b\nb\nb,c\n", nodes=NODES + "e,5\n"))
    lost = ("left out: 1 line that cannot be read",)
    _, (labels, edges) = read_graphs(files)
    assert labels.left_out == edges.left_out == lost and (edges.total, edges.kept) == (3, 2)
    assert "line 3 has 1 cell, expected 2" in edges.text()
    _, (nodes, edges) = read_graphs(files, ["size"], with_labels=False)
    assert nodes.left_out == edges.left_out == lost and nodes.origin == files.nodes
    graphs = "graph,label\ng,x\nh,y\nj\n"
    rows = "graph,node\ng,a\ng,b\nh,c\nh,d\ni,e\ng\n"
    files = Files(**write(tmp_path, edges="source,target\na,b\nc,d\n", nodes=rows, graphs=graphs))
    _, (labels, nodes, _) = read_graphs(files)
    assert labels.left_out == lost and (nodes.total, nodes.kept) == (6, 4)
    assert nodes.left_out == (*lost, "left out: 1 node of a graph that is not in the table of graphs")
    _, reports = read_graphs(files, [], with_labels=False)
    assert [report.left_out for report in reports] == [nodes.left_out, lost, ()]


def test_empty_cells_are_told(tmp_path: Path) -> None:
    nodes = "node,size,town,label\na,1,Rome,x\nb,,Rome,y\nc,3,,x\nd,,Bonn,\n"
    _, (labels, _) = read_graphs(Files(**write(tmp_path, edges="source,target\na,b\nb,c\n", nodes=nodes)))
    assert "note: empty: `size` of 2 nodes, `town` of 1 node" in labels.text()


def test_tables_that_are_swapped(tmp_path: Path) -> None:
    tables = write(tmp_path, edges="source,target\na,b\na,c\n", nodes=NODES)
    with pytest.raises(DataError, match="did you swap `--edges` and `--nodes`"):
        read_graphs(Files(tables["nodes"], tables["edges"]))


def test_names_within_graphs(tmp_path: Path) -> None:
    """Nodes of different graphs may have the same name if the edges say which graph they are of."""
    nodes = "graph,node,size\nh,1,5\ng,1,6\ng,2,7\nh,2,8\n"
    tables = {"nodes": nodes, "graphs": "graph,label\ng,x\nh,y\n"}
    graphs, _ = read_graphs(Files(**write(tmp_path, edges="graph,source,target\nh,1,2\n", **tables)))
    assert graphs.graph.tolist() == [0, 0, 1, 1] and graphs.attributes["size"] == ("6", "7", "5", "8")
    assert graphs.edges.tolist() == [[3, 2], [2, 3]] and graphs.labels == ("x", "y") and not graphs.of_nodes
    with pytest.raises(DataError, match="the edges do not say which graph"):
        read_graphs(Files(**write(tmp_path, edges="source,target\n1,2\n", **tables)))


@pytest.mark.parametrize(
    ("tables", "expected"),
    [
        ({"edges": "source,target\np,q\n", "nodes": NODES}, "no edge of .* line 2 names `p`"),
        ({"edges": "source,target\na,b\n", "nodes": NODES + "a,9,y\n"}, "`a` in lines 2 and 6"),
        ({"edges": "source,target\na,b\n", "nodes": "node,size\na,1\nb,2\n"}, "which column .* missing: `--label`"),
        ({"edges": "source,target\na,b\n", "nodes": "node,label\na,\nb,\n"}, "has no node with a class"),
        ({"edges": "", "nodes": NODES}, "empty"),
        ({"edges": "a\nb\n", "nodes": NODES}, "has one column"),
        ({"edges": "a,b\n", "nodes": NODES, "graphs": "graph,label\ng,x\n"}, "has no column `graph`"),
        (
            {"edges": "a,b\n", "nodes": "node,graph\na,g\nb,g\n", "graphs": "graph,label\ng,x\nh,y\n"},
            "graphs without a node",
        ),
    ],
)
def test_wrong_tables_are_explained(tmp_path: Path, tables: dict[str, str], expected: str) -> None:
    with pytest.raises(DataError, match=expected):
        read_graphs(Files(**write(tmp_path, **tables)))


def test_files_are_recognised_in_any_order(tmp_path: Path) -> None:
    files = write(tmp_path, edges="source,target\na,b\n", nodes=NODES, graphs="graph,label\ng,x\n")
    found = recognise_files([files["graphs"], files["nodes"], files["edges"]])
    assert found == Files(files["edges"], files["nodes"], files["graphs"])
    assert recognise_files([files["nodes"], files["nodes"]]) is None and recognise_files([files["edges"]]) is None


# -- arrays --------------------------------------------------------------------------------------------------------------


def test_edges_are_tidied() -> None:
    edges = np.array([[2, 0, 1, 0, 2], [0, 2, 1, 2, 1]])
    assert tidy(edges).tolist() == [[2, 2, 0], [0, 1, 2]]
    assert undirected(edges).tolist() == [[2, 2, 0, 1], [0, 1, 2, 2]]


def test_batches_hold_every_graph_once_and_follow_from_the_seed() -> None:
    graphs = generate_graphs("motifs", 31, 3)
    x = np.arange(len(graphs.graph), dtype=np.float64)[:, None]
    rows = np.arange(5, 31)
    batches = GraphBatches(graphs, x, rows, rows, size=8, seed=4)
    for epoch in range(2):
        seen = [batches[len(batches) * epoch + i] for i in range(len(batches))]
        assert sorted(torch_rows(seen)) == rows.tolist()
        for batch in seen:
            features, edges, graph = batch.inputs
            original = features[:, 0].numpy().astype(int)[edges.numpy()]
            assert set(map(tuple, original.T)) <= set(map(tuple, graphs.edges.T)), (
                "edges lead to the same nodes as before"
            )
            assert (graph[edges[0]] == graph[edges[1]]).all() and (edges[1].diff() >= 0).all()
    assert batches[7].labels.tolist() == GraphBatches(graphs, x, rows, rows, size=8, seed=4)[7].labels.tolist()
    sizes = np.diff(graphs.node_starts)[rows]
    assert len(batches.largest().inputs[0]) == np.sort(sizes)[-len(batches.largest().rows) :].sum()


def torch_rows(batches: list) -> list[int]:  # type: ignore[type-arg]
    return [row for batch in batches for row in batch.labels.tolist()]


def test_joined_graphs_are_the_graphs() -> None:
    graphs = generate_graphs("cycles", 30, 3)
    x = np.arange(len(graphs.graph), dtype=np.float64)[:, None]
    found, edges, graph = joined(graphs, x, [7, 2])
    first = graphs.select([7])
    count = len(first.graph)
    assert graph.tolist() == [0] * count + [1] * (len(found) - count)
    np.testing.assert_array_equal(edges[:, edges[1] < count], first.edges)
    np.testing.assert_array_equal(found[:count, 0], np.flatnonzero(graphs.graph == 7))


# -- generators ----------------------------------------------------------------------------------------------------------


def matrix(graphs: LabelledGraphs) -> np.ndarray:
    a = np.zeros((len(graphs.graph), len(graphs.graph)))
    a[graphs.edges[1], graphs.edges[0]] = 1
    return a


def test_generated_graphs_are_what_their_labels_say() -> None:
    rings = generate_graphs("cycles", 40, 3)
    for i, label in enumerate(rings.labels):
        a = matrix(rings.select([i]))
        parts = len(a) - np.linalg.matrix_rank(np.diag(a.sum(0)) - a)  # the zeros of the Laplacian count the parts
        assert (a.sum(0) == 2).all() and parts == {"one ring": 1, "two rings": 2}[label]
    motifs = generate_graphs("motifs", 40, 3)
    for i, label in enumerate(motifs.labels):
        a = matrix(motifs.select([i]))
        assert (np.trace(a @ a @ a) == 6) == (label == "triangle") and a.sum() / 2 == len(a), "one ring in each"
    groups = generate_graphs("communities", 600, 3)
    known = [
        (groups.labels[a], groups.labels[b])
        for a, b in groups.edges.T.tolist()
        if groups.labels[a] and groups.labels[b]
    ]
    within = np.mean([a == b for a, b in known])
    assert abs(within - 5 / 6) < 0.05, "5 edges within, half a one to each of two others"


# -- drawings ------------------------------------------------------------------------------------------------------------


def test_neighbours_are_drawn_close() -> None:
    graphs = generate_graphs("communities", 200, 3)
    place = spring_layout(graphs.edges, 200)
    apart = np.sqrt(((place[:, None] - place[None]) ** 2).sum(-1))
    near = apart[graphs.edges[0], graphs.edges[1]].mean()
    assert near < 0.7 * apart.mean() and np.isfinite(place).all()
    np.testing.assert_array_equal(place, spring_layout(graphs.edges, 200))


def test_a_large_graph_is_drawn_in_part() -> None:
    graphs = generate_graphs("communities", 700, 3)
    chosen = neighbourhood(graphs, 50)
    assert len(chosen) == 50 and int(np.argmax(graphs.degrees)) in chosen
    plot = draw_nodes("t", graphs, ["k"] * 700, list(graphs.names))
    assert sum(len(mark.x) for mark in plot.marks if mark.kind == "points") == 250
    assert "250 of 700 nodes are drawn." in plot.caption and plot.equal and plot.bare
