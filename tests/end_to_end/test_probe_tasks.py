"""Runs of every other task can be probed, on what they keep and on data of one's own."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from headway.cli import main
from headway.data.grammar.corpus import generate
from tests.end_to_end.letter_tasks import write_tasks
from tests.end_to_end.tagged_grammar import passages, role_sentences, write_rows

SMALL = "--model.width 16 --steps 2 --quiet".split()
Make = Callable[[Path], list[str]]


def texts(root: Path) -> list[str]:
    lines = [pair.source for pair in generate(400, "train", 3)]
    (root / "own.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return ["--text", str(root / "own.txt")]


def labelled(root: Path) -> list[str]:
    rows = [f"{pair.source}\t{'long' if len(pair.source) > 40 else 'short'}" for pair in generate(400, "train", 3)]
    (root / "own.tsv").write_text("text\tlabel\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return ["--table", str(root / "own.tsv")]


def numbers(root: Path) -> list[str]:
    x = np.random.default_rng(1).standard_normal((400, 3)).round(4)
    rows = [f"{a},{b},{c},{a + 2 * b:.4f}" for a, b, c in x.tolist()]
    (root / "own.csv").write_text("a,b,c,y\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return ["--table", str(root / "own.csv"), "--target", "y"]


def sets(root: Path) -> list[str]:
    x = np.random.default_rng(1).standard_normal((300, 4)).round(4)
    rows = [f"s{i},{v},{row.sum():.4f}" for i, row in enumerate(x) for v in row.tolist()]
    (root / "own.csv").write_text("set,x,target\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return ["--table", str(root / "own.csv"), "--set", "set", "--target", "target"]


def tagged(root: Path) -> list[str]:
    pairs = zip(*role_sentences(200), strict=True)
    blocks = ("".join(f"{w} {t}\n" for w, t in zip(words, tags, strict=True)) for words, tags in pairs)
    (root / "own.conll").write_text("\n".join(blocks), encoding="utf-8")
    return ["--conll", str(root / "own.conll")]


def questions(root: Path) -> list[str]:
    return ["--jsonl", str(write_rows(root / "own.jsonl", passages(200)))]


def graph(root: Path) -> list[str]:
    draw = np.random.default_rng(1)
    edges = {(i, int(j)) for i in range(120) for j in draw.integers(0, 120, 3) if i != j}
    (root / "edges.csv").write_text("source,target\n" + "".join(f"n{a},n{b}\n" for a, b in sorted(edges)), encoding="utf-8")
    nodes = (f"n{i},{v:.3f},{'up' if v > 0 else 'down'}\n" for i, v in enumerate(draw.standard_normal(120)))
    (root / "nodes.csv").write_text("node,x,label\n" + "".join(nodes), encoding="utf-8")
    return ["--edges", str(root / "edges.csv"), "--nodes", str(root / "nodes.csv"), "--label", "label"]


MADE: dict[str, tuple[Make, tuple[str, ...]]] = {  # data, and what of its options `evaluate` takes
    "language": (texts, ("--text",)),
    "masked": (texts, ("--text",)),
    "classification": (labelled, ("--table",)),
    "table": (numbers, ("--table",)),
    "forecasting": (numbers, ("--table",)),
    "sets": (sets, ("--table",)),
    "tagging": (tagged, ("--conll",)),
    "spans": (questions, ("--jsonl",)),
    "graphs": (graph, ("--edges", "--nodes")),
    "text_to_text": (lambda root: ["--tasks", str(write_tasks(root / "letters", 60))], ("--tasks",)),
    "points": (lambda root: ["--kind", "sort"], ()),
}


@pytest.mark.slow
@pytest.mark.parametrize("task", MADE)
def test_a_run_of_every_task_can_be_probed(task: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make, kept = MADE[task]
    files, run = make(tmp_path), str(tmp_path / "run")
    assert main(["train", task, *files, *SMALL, "--out", run]) == 0, capsys.readouterr().err
    own = [word for name in kept for word in (name, files[files.index(name) + 1])]
    for words in ([], own) if own else ([],):
        capsys.readouterr()
        assert main(["lab", "probe", run, *words, "--examples", "24", "--json"]) == 0, capsys.readouterr().err
        found = json.loads(capsys.readouterr().out)
        assert not [f for f in found["left_out"] if "could not be computed" in f["reason"]]
        assert {"Trajectory length", "Sharpness", "Gradients through depth"} <= {f["probe"] for f in found["findings"]}
        assert found["examples"] >= 2 and (not words) == (found["data"] == "the validation part that the run keeps")
