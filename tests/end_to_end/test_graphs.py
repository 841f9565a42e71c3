"""Classes of nodes and of graphs from the command line: train, predict, evaluate, resume, and what goes wrong."""

import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.neural_network import MLPClassifier

import headway as package
from headway.cli import main
from headway.core.errors import DataError, RunError, UsageError
from headway.core.files import read_json, read_tensors
from headway.data.graph_generators import communities, generate_graphs
from headway.data.graphs import LabelledGraphs
from headway.data.node_features import NodeFeatures
from headway.report.summary import summarise
from headway.tasks.graph_parts import split_graphs
from headway.tasks.graphs import Data, Graphs
from headway.tasks.panels import Plot
from headway.training.loop import Loop
from headway.training.session import resume

SMALL = "--model.width 16 --training.rate 1e-2".split()


def write_tables(folder: Path, graphs: LabelledGraphs) -> dict[str, str]:
    """The graphs as a person would bring them."""
    folder.mkdir(parents=True, exist_ok=True)
    pairs = [(graphs.names[a], graphs.names[b]) for a, b in graphs.edges.T.tolist() if a < b]
    (folder / "edges.csv").write_text("source,target\n" + "".join(f"{a},{b}\n" for a, b in pairs), encoding="utf-8")
    columns = {"node": graphs.names, **graphs.attributes}
    if graphs.of_nodes:
        columns["label"] = graphs.labels
    else:
        columns["graph"] = tuple(graphs.graph_names[g] for g in graphs.graph)
        rows = zip(graphs.graph_names, graphs.labels, strict=True)
        (folder / "graphs.csv").write_text("graph,label\n" + "".join(f"{a},{b}\n" for a, b in rows), encoding="utf-8")
    lines = [",".join(columns), *(",".join(row) for row in zip(*columns.values(), strict=True))]
    (folder / "nodes.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    names = ("edges", "nodes") if graphs.of_nodes else ("edges", "nodes", "graphs")
    return {name: str(folder / f"{name}.csv") for name in names}


def options(files: dict[str, str]) -> list[str]:
    return [word for name, path in files.items() for word in (f"--{name}", path)]


def words(out: Path, *more: str, steps: int = 24) -> list[str]:
    return ["train", "graphs", *more, *SMALL, "--steps", str(steps), "--quiet", "--out", str(out)]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose tables have moved away."""
    root = tmp_path_factory.mktemp("nodes")
    files = write_tables(root / "own", generate_graphs("communities", 300, 5))
    assert main(words(root / "run", *options(files), steps=150)) == 0
    shutil.rmtree(root / "own")
    return root / "run"


def test_the_run_keeps_what_it_needs(trained: Path) -> None:
    kept = read_tensors(trained / "held_out" / "graphs.safetensors")
    assert kept["x"].shape == (300, 8) and {"rows/validation", "edges", "graph"} <= set(kept)
    assert read_json(trained / "classes.json")["names"] == ["a", "b", "c"]
    report = (trained / "report.html").read_text(encoding="utf-8")
    assert "The graph and its predicted classes" in report and "Confusion matrix" in report
    assert "to be predicted" in report, "nodes without a class are in the doctor's report"


def test_new_graphs_are_predicted(trained: Path, tmp_path: Path) -> None:
    """The nodes of the training graph, and those of a part of it under other names: what is learned does not depend on names."""
    new = generate_graphs("communities", 300, 5)
    files = write_tables(tmp_path / "all", new)
    found = package.load(trained).predict(**files)
    assert found.columns == ("node", "predicted", "probability") and len(found.rows) == 300
    assert [row[0] for row in found.rows] == list(new.names), "every node, with and without a class"
    known = [(row[1], label) for row, label in zip(found.rows, new.labels, strict=True) if label]
    assert np.mean([a == b for a, b in known]) > 0.75
    (panel,) = found.panels
    assert isinstance(panel, Plot) and panel.bare and {mark.name for mark in panel.marks} == {"", "a", "b", "c"}
    assert sum(len(mark.x) for mark in panel.marks if mark.kind == "points") == 300
    half = LabelledGraphs(
        new.edges[:, (new.edges < 150).all(0)], new.graph[:150], tuple(f"other{i}" for i in range(150)), ("",),
        new.labels[:150], True, {name: cells[:150] for name, cells in new.attributes.items()}, "",
    )  # fmt: skip
    found = package.load(trained).predict(**write_tables(tmp_path / "half", half))
    known = [(row[1], label) for row, label in zip(found.rows, half.labels, strict=True) if label]
    assert found.rows[7][0] == "other7" and np.mean([a == b for a, b in known]) > 0.6, "a graph it has never seen"


def test_evaluate_counts_nodes_with_a_class(trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graphs = generate_graphs("communities", 300, 5)
    files = write_tables(tmp_path / "own", graphs)
    assert main(["evaluate", str(trained), *options(files)]) == 0
    assert f"{sum(map(bool, graphs.labels)):,} nodes (given)" in capsys.readouterr().out
    judged = package.load(trained).evaluate(**files)
    found = package.load(trained).predict(**files)
    right = [row[1] == label for row, label in zip(found.rows, graphs.labels, strict=True) if label]
    assert judged.scores[0].value == pytest.approx(np.mean(right))


def test_what_says_nothing_to_the_model_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of tables for training and for a prediction: what is left out, what is filled in, and how many nodes a step learns from."""
    rows = [f"n{i},{i % 7},{'Rome' if i % 3 else 'Bonn'},{'xy'[i % 2]}" for i in range(60)]
    pairs = [f"n{i},n{i + 2}" for i in range(58)]
    (tmp_path / "nodes.csv").write_text("\n".join(["node,size,town,label", *rows]), encoding="utf-8")
    (tmp_path / "edges.csv").write_text("\n".join(["source,target", *pairs]), encoding="utf-8")
    files = {name: str(tmp_path / f"{name}.csv") for name in ("edges", "nodes")}
    assert main(["train", "graphs", *options(files), "--steps", "2", "--out", str(tmp_path / "run")]) == 0
    out = capsys.readouterr().out
    assert "plan: 2 steps of 54 examples = 2.0 epochs" in out, "nodes are learned from all at once"
    assert f"predict {tmp_path / 'run'} --edges {files['edges']} --nodes {files['nodes']}" in out
    (tmp_path / "nodes.csv").write_text("node,size,town,label\na,1,Rome,x\nb,,Oslo,y\n", encoding="utf-8")
    (tmp_path / "edges.csv").write_text("source,target\na,b\na,z\n", encoding="utf-8")
    told = ("left out: 1 edge with a node", "`size` is no number for 1 node", "`town` has names that training had not: `Oslo`")
    for verb in ("predict", "evaluate"):
        assert main([verb, str(tmp_path / "run"), *options(files)]) == 0
        out = capsys.readouterr().out
        assert all(words in out for words in told), verb
    assert main(["predict", str(tmp_path / "run"), "--edges", files["edges"]]) == 2
    assert "`headway predict --help` explains them" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["communities", "motifs"])
def test_an_interrupted_run_ends_with_the_same_bits(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    more = ("--kind", kind, "--size", "100", "--model", "gin")
    assert main(words(tmp_path / "whole", *more)) == 0
    advance = Loop._advance

    def interrupted(self: Loop[object], progress: object) -> None:
        advance(self, progress)  # type: ignore[arg-type]
        self.interrupted = self.state.step == 13

    monkeypatch.setattr(Loop, "_advance", interrupted)
    assert main(words(tmp_path / "parts", *more)) == 130
    monkeypatch.setattr(Loop, "_advance", advance)
    assert resume(tmp_path / "parts")
    for name in ("weights.safetensors", "checkpoint.safetensors"):
        assert (tmp_path / "parts" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_whole_graphs(tmp_path: Path) -> None:
    """Graphs with classes, and the same from tables as from the generator."""
    graphs = generate_graphs("motifs", 120, 3)
    files = write_tables(tmp_path / "own", graphs)
    assert main(words(tmp_path / "run", *options(files), "--model", "gin")) == 0
    run = package.load(tmp_path / "run")
    found = run.predict(**files)
    assert found.columns == ("graph", "predicted", "probability") and [row[0] for row in found.rows] == list(
        graphs.graph_names
    )
    assert {row[1] for row in found.rows} <= {"triangle", "none"}
    kept = read_tensors(tmp_path / "run" / "held_out" / "graphs.safetensors")
    assert int(kept["graph"].max()) + 1 == len(kept["rows/validation"]) == 12, "only held-out graphs are kept"
    with pytest.raises(UsageError, match="trained for the classes of whole graphs"):
        run.predict(edges=files["edges"], nodes=files["nodes"])


@pytest.mark.parametrize(("kind", "model"), [("communities", "gcn"), ("motifs", "gin")])
def test_the_default_model_is_printed(kind: str, model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "graphs", "--kind", kind, "--size", "100", "--steps", "2", "--out", str(tmp_path / "run")]) == 0
    assert f"model: {model} " in capsys.readouterr().out and package.load(tmp_path / "run").plan.model.name == model


def test_features_of_nodes() -> None:
    graphs = LabelledGraphs(
        np.array([[0, 1, 1, 2], [1, 0, 2, 1]]), np.zeros(3, dtype=np.int64), ("p", "q", "r"), ("",), ("", "", ""), True,
        {"size": ("1", "", "3"), "atom": ("C", "N", "C"), "remark": ("", "", "")}, "",
    )  # fmt: skip
    found = NodeFeatures.of(graphs)
    assert found.columns == ("size", "atom", "atom") and found.values == ("", "C", "N")
    np.testing.assert_allclose(found.apply(graphs), [[-1, 1, 0], [0, 0, 1], [1, 1, 0]])
    bare = LabelledGraphs(graphs.edges, graphs.graph, graphs.names, ("",), ("", "", ""), True, {}, "")
    x = NodeFeatures.of(bare).apply(bare)
    np.testing.assert_allclose(x[:, 1], 1)
    np.testing.assert_allclose(x[:, 0].mean(), 0, atol=1e-12)
    assert x[1, 0] > x[0, 0] == x[2, 0], "the middle node has two edges"


def test_features_are_measured_on_the_graphs_of_training() -> None:
    """Numbers and names of held-out graphs are not looked at."""
    corpus = split_graphs(generate_graphs("motifs", 120, 3), (), 1)
    held = np.isin(corpus.graphs.graph, corpus.parts["validation"])
    size = np.where(held, 1000.0, np.arange(len(held)) % 5)
    atom = tuple("X" if h else "CN"[i % 2] for i, h in enumerate(held))
    graphs = replace(corpus.graphs, attributes={"size": tuple(map(str, size)), "atom": atom})
    features = Graphs.fit(Data(), replace(corpus, graphs=graphs), None).learned.features
    assert features.values == ("", "C", "N")
    assert (features.mean[0], features.deviation[0]) == pytest.approx((size[~held].mean(), size[~held].std()))


def test_recognised_by_data_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = write_tables(tmp_path, generate_graphs("communities", 100, 5))
    assert main(["data", "check", files["nodes"], files["edges"]]) == 0
    assert "as data for graphs" in (text := capsys.readouterr().out) and "3 classes" in text
    files = write_tables(tmp_path / "many", generate_graphs("cycles", 60, 5))
    assert main(["data", "check", files["graphs"], files["edges"], files["nodes"]]) == 0
    assert "60 graphs" in capsys.readouterr().out


def test_wrong_input_is_explained(trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words(tmp_path / "x", steps=1)) == 2
    assert "which graphs? `--edges` and `--nodes` missing" in capsys.readouterr().err
    assert main(words(tmp_path / "x", "--kind", "motif", steps=1)) == 2
    assert "did you mean `motifs`?" in capsys.readouterr().err
    files = write_tables(tmp_path / "own", generate_graphs("communities", 100, 5))
    assert main(words(tmp_path / "x", *options(files), "--label", "labl", steps=1)) == 2
    assert "did you mean `label`?" in capsys.readouterr().err and not (tmp_path / "x").exists()
    nodes = Path(files["nodes"])
    text = nodes.read_text(encoding="utf-8")
    nodes.write_text(re.sub(r",[abc]\n", ",a\n", text), encoding="utf-8")
    assert main(words(tmp_path / "x", *options(files), steps=1)) == 2
    assert "every node has the label `a`: nothing to learn" in capsys.readouterr().err
    nodes.write_text(text.replace("x3", "other"), encoding="utf-8")
    with pytest.raises(DataError, match="has no column `x3`"):
        package.load(trained).predict(**files)


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("classes.json", b'{"names": ["a", "a"], "counts": [3, 4]}', "every class needs one name and one count"),
        ("features.json", b'{"of_nodes": true}', "`features` is missing"),
        (
            "features.json",
            b'{"of_nodes": true, "features": {"columns": ["x1"], "values": [], "mean": [0], "deviation": [1]}}',
            "every feature needs a column and a scale",
        ),
        ("held_out/graphs.safetensors", b"xx", "is damaged"),
    ],
)
def test_damage_is_reported(trained: Path, tmp_path: Path, name: str, content: bytes, expected: str) -> None:
    copy = Path(shutil.copytree(trained, tmp_path / "copy"))
    (copy / name).write_bytes(content)
    with pytest.raises(RunError, match=re.escape(expected)) as raised:
        summarise(package.load(copy))
    assert name in raised.value.message


@pytest.mark.slow
def test_gcn_beats_a_network_that_sees_features_alone(tmp_path: Path) -> None:
    """On communities, on the same split: the neighbours tell what a node's own numbers do not."""
    graphs = communities(np.random.default_rng(7), 1000)
    files = write_tables(tmp_path / "own", graphs)
    assert main(["train", "graphs", *options(files), "--steps", "200", "--quiet", "--out", str(tmp_path / "run")]) == 0
    kept = read_tensors(tmp_path / "run" / "held_out" / "graphs.safetensors")
    x, test = kept["x"].numpy(), kept["rows/test"].numpy()
    held = set(test.tolist()) | set(kept["rows/validation"].tolist())
    train = [row for row, label in enumerate(graphs.labels) if label and row not in held]
    labels = np.array(graphs.labels)
    alone = MLPClassifier((64,), alpha=0.1, max_iter=400, random_state=0).fit(x[train], labels[train])
    accuracy = next(s for s in package.load(tmp_path / "run").scores if s.name == "accuracy")
    assert accuracy.part == "test" and accuracy.value > alone.score(x[test], labels[test]) + 0.1
