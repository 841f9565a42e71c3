"""Pointing from the command line: train, predict, evaluate, resume, and what goes wrong."""

import re
import shutil
from pathlib import Path

import numpy as np
import pytest

import headway as package
from headway.cli import main
from headway.core.errors import DataError, RunError, UsageError
from headway.core.files import read_json, read_tensors
from headway.data.point_problems import draw
from headway.data.point_sets import PointSets, examine_sets
from headway.report.summary import summarise
from headway.tasks.point_answers import PointAnswers
from headway.tasks.point_corpus import collect_table, read_given
from headway.training.loop import Loop
from headway.training.session import resume

SMALL = "--model.width 16 --training.batch 64 --training.rate 1e-2".split()


def words(out: Path, *more: str, steps: int = 24) -> list[str]:
    return ["train", "points", *more, *SMALL, "--steps", str(steps), "--quiet", "--out", str(out)]


def write_table(path: Path, kind: str, count: int, seed: int, header: str = "set,x,y,order") -> PointSets:
    """Sets of 4 points, their rows mixed."""
    random = np.random.default_rng(seed)
    points, orders = draw(kind, count, 4, random)
    rows = []
    for name, (some, order) in enumerate(zip(points, orders, strict=True)):
        place = {int(p): str(k) for k, p in enumerate(order, 1)}
        rows += [(f"s{name},{','.join(map(str, p.tolist()))},{place.get(i, '')}", name) for i, p in enumerate(some)]
    rows = sorted(rows, key=lambda row: row[1] % 3)  # sets stand between each other, points in their order
    path.write_text("\n".join([header, *(row for row, _ in rows)]) + "\n")
    return PointSets(tuple(points), tuple(orders), tuple(f"s{i}" for i in range(count)), str(path))


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "hull"
    assert main(words(out, "--kind", "convex_hull", "--count", "3..5", steps=60)) == 0
    return out


def test_the_run_keeps_what_it_needs(trained: Path) -> None:
    seen = read_json(trained / "points.json")
    assert (
        seen["every"] is False and seen["largest"] == 5 and seen["scale"]["width"] == pytest.approx(12**-0.5, abs=0.01)
    )
    assert len(read_tensors(trained / "held_out" / "test.safetensors")["sizes"]) == 1000
    run = package.load(trained)
    assert [s.name for s in run.scores] == ["exact", "pointers", "loss", "area covered"]
    judged = run.judge()
    assert [(s.name, s.value) for s in judged.scores] == [(s.name, pytest.approx(s.value)) for s in run.scores]
    assert [p.title for p in judged.panels][-1] == "Exact sequences by the number of points" and len(judged.panels) >= 3
    larger = judged.panels[-1].marks[1]
    assert list(larger.x) == [5, 6, 7, 8, 9, 10], "sizes beyond those of training are tried"
    assert "cross themselves" in judged.notes[0] and "Exact sequences" in (trained / "report.html").read_text("utf-8")


def test_predict_and_evaluate(trained: Path, tmp_path: Path) -> None:
    sets = write_table(tmp_path / "own.csv", "convex_hull", 12, 5)
    run = package.load(trained)
    found = run.predict(table=str(tmp_path / "own.csv"))
    assert found.columns == ("set", "order") and sorted(row[0] for row in found.rows) == sorted(sets.names)
    assert len(found.panels) == 6 and found.panels[0].equal and found.warnings == ()
    chosen = dict(found.rows)
    right = np.mean(
        [chosen[n] == " ".join(str(p + 1) for p in o) for n, o in zip(sets.names, sets.orders, strict=True)]
    )
    judged = run.evaluate(table=str(tmp_path / "own.csv"))
    assert judged.scores[0].value == pytest.approx(right) and judged.sizes == {"given": 12}
    (tmp_path / "new.csv").write_text("set,x,y\n" + "".join(f"a,{i / 7},{i * i % 5}\n" for i in range(7)))
    one = run.predict(table=str(tmp_path / "new.csv"))
    numbers = one.rows[0][1].split()
    assert len(set(numbers)) == len(numbers) >= 1 and "more than 5 points" in one.warnings[0]
    wide = run.predict(table=str(tmp_path / "new.csv"), beam=4)
    assert wide.rows[0][0] == "a"
    with pytest.raises(UsageError, match="which points"):
        run.predict()
    with pytest.raises(UsageError, match="`npz` is nothing that points is given"):
        run.predict(npz="x")


def test_area_and_length_are_counted_by_hand() -> None:
    square = np.array([(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)])
    sets = PointSets((square,) * 3, (np.arange(4),) * 3, ("a", "b", "c"), "")
    found = PointAnswers(sets, ((0, 1, 2, 3), (0, 1, 2), (0, 2, 1, 3)), 1.0, 0.0)
    assert found.areas() == (pytest.approx(0.75), pytest.approx(1 / 3)), (
        "a triangle is half; a crossing way does not count"
    )
    assert found.lengths() == pytest.approx((1 + (2 + 2**0.5) / 4 + (2 + 2 * 2**0.5) / 4) / 3)
    assert found.right.tolist() == [True, False, False]


def test_a_table_of_ones_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Points on a line with other names, every point chosen; and the run needs the table no more."""
    write_table(tmp_path / "sort.csv", "sort", 60, 3, header="group,value,k")
    more = ("--table", str(tmp_path / "sort.csv"), "--set", "group", "--x", "value", "--order", "k")
    assert main(words(tmp_path / "run", *more, steps=8)) == 0
    (tmp_path / "sort.csv").rename(tmp_path / "moved.csv")
    run = package.load(tmp_path / "run")
    assert read_json(tmp_path / "run" / "points.json")["every"] is True and run.task.sizes == {"coordinates": 1}
    assert len(read_tensors(tmp_path / "run" / "held_out" / "validation.safetensors")["sizes"]) == 6
    summarise(run)
    found = run.predict(table=str(tmp_path / "moved.csv"))
    assert all(sorted(order.split()) == ["1", "2", "3", "4"] for _, order in found.rows), (
        "columns of training are known"
    )
    assert run.evaluate(table=str(tmp_path / "moved.csv")).sizes == {"given": 60}
    hull = write_table(tmp_path / "hull.csv", "convex_hull", 12, 3)
    with pytest.raises(DataError, match="has no column `group`"):
        run.evaluate(table=hull.origin)
    with pytest.raises(DataError, match="have 2 coordinates, those of training 1"):
        run.evaluate(table=hull.origin, set="set", x="x", y="y", order="order")
    capsys.readouterr()
    assert main(["data", "check", str(tmp_path / "hull.csv")]) == 0
    text = capsys.readouterr().out
    assert (
        "as data for points" in text and "4 to 4 points in a set, 2 coordinates" in text and "too little data" in text
    )


def test_sets_that_are_also_held_out(tmp_path: Path) -> None:
    """The same points are the same set, in whatever order its rows stand."""
    write_table(tmp_path / "own.csv", "convex_hull", 60, 3)
    header, *rows = (tmp_path / "own.csv").read_text().splitlines()
    copied = [row for row in reversed(rows) if row.split(",")[0] in ("s0", "s9")]
    (tmp_path / "test.csv").write_text("\n".join([header, *copied]) + "\n")
    named = (None, None, None, None)
    corpus = collect_table(str(tmp_path / "own.csv"), named, {"test": str(tmp_path / "test.csv")}, 1)
    assert "2 sets also among the held-out sets (sets 1, 4): will be dropped" in corpus.describe()
    assert corpus.train is not None and corpus.reports[0].kept == 58
    names = {*corpus.train.names, *corpus.held_out["validation"].names}
    assert len(names) == 58 and not {"s0", "s9"} & names
    with pytest.raises(DataError, match="every set is also held out"):
        collect_table(str(tmp_path / "own.csv"), named, {"test": str(tmp_path / "own.csv")}, 1)


def test_points_that_cannot_be_read_are_told(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "own.csv").write_text("set,x,y,order\na,0,0,1\na,1\na,1,0,2\na,0,1,3\n")
    for verb in ("predict", "evaluate"):
        assert main([verb, str(trained), "--table", str(tmp_path / "own.csv")]) == 0
        assert "left out: 1 line that cannot be read (line 3): the points that are left" in capsys.readouterr().out, verb
    report = examine_sets(read_given(str(tmp_path / "own.csv"), (None, None, None, None), ordered=True))
    assert "1 line that cannot be read (line 3): will be dropped" in report.text()


@pytest.mark.parametrize("kind", ["sort", "tsp"])
def test_other_kinds_train(tmp_path: Path, kind: str) -> None:
    more = ("--kind", kind, "--count", "4", "--model.encoder", "multihead", "--model.heads", "2")
    assert main(words(tmp_path / "run", *more, steps=3)) == 0
    names = [s.name for s in package.load(tmp_path / "run").scores]
    assert names == ["exact", "pointers", "loss"] + ["tour length"] * (kind == "tsp")


def test_an_interrupted_run_ends_with_the_same_bits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    more = ("--kind", "sort", "--count", "3..4")
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


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("set,x,y,order\na,1,2,1\na,x,3,2\n", "line 3: `x` is `x`, expected a number"),
        ("set,x,y,order\na,1,2,1\na,2,3,3\n", "set `a`: `order` holds 1, 3, expected each of 1, 2, 3 ... once"),
        ("set,x,y,order\na,1,2,\na,2,3,\n", "set `a`: `order` holds nothing"),
        ("set,x,y,ordre\na,1,2,1\n", "has no column `order`"),
        ("set,x,y,order\n", "holds no rows"),
        ("", "is empty"),
        ("set,x,y,order\na,1,2,1\na,2,3,2\n", "too few different examples"),
    ],
)
def test_wrong_tables_are_explained(
    tmp_path: Path, content: str, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "t.csv").write_text(content)
    assert main(words(tmp_path / "run", "--table", str(tmp_path / "t.csv"), steps=1)) == 2
    message = capsys.readouterr().err
    assert expected in message and "Traceback" not in message and not (tmp_path / "run").exists()
    if "ordre" in content:
        assert "did you mean `ordre`?" in message


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ((), "which points?"),
        (("--kind", "sort", "--count", "many"), "`--count many` should be a number such as 5 or a range such as 5..10"),
        (("--kind", "tsp", "--count", "5..12"), "exact answers of `tsp` are found up to 9 points"),
        (("--kind", "hull"), "convex_hull"),
    ],
)
def test_wrong_options_are_explained(
    tmp_path: Path, more: tuple[str, ...], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words(tmp_path / "run", *more, steps=1)) == 2
    assert expected in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("points.json", b'{"every": true}', "`largest` is missing"),
        ("held_out/test.safetensors", b"xx", "is damaged"),
    ],
)
def test_damage_is_reported(trained: Path, tmp_path: Path, name: str, content: bytes, expected: str) -> None:
    copy = Path(shutil.copytree(trained, tmp_path / "copy"))
    (copy / name).write_bytes(content)
    with pytest.raises(RunError, match=re.escape(expected)) as raised:
        summarise(package.load(copy))
    assert name in raised.value.message


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "count", "steps", "least"), [("sort", "5", "1000", 0.95), ("convex_hull", "5..10", "600", 0.6)]
)
def test_quality(tmp_path: Path, kind: str, count: str, steps: str, least: float) -> None:
    more = ["--kind", kind, "--count", count, "--steps", steps, "--quiet", "--out", str(tmp_path / "run")]
    assert main(["train", "points", *more]) == 0
    exact = next(s for s in package.load(tmp_path / "run").scores if s.name == "exact")
    assert exact.part == "test" and exact.value >= least
