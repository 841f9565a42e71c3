"""Functions of sets from the command line: train, predict, evaluate, resume, and what goes wrong."""

import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import mean_squared_error, r2_score

import headway as package
from headway.cli import main
from headway.core.errors import DataError, RunError
from headway.core.files import read_json, read_tensors
from headway.data.set_generators import FUNCTIONS, KINDS, generate_sets
from headway.data.set_tables import are_numbers, read_sets
from headway.data.sets import ElementScale, LabelledSets, SetBatches
from headway.report.summary import summarise
from headway.tasks.panels import Plot
from headway.tasks.set_parts import collect_sets
from headway.training.loop import Loop
from headway.training.session import resume

SMALL = "--model.width 24 --training.batch 32 --training.rate 1e-2".split()


def write_table(path: Path, sets: LabelledSets, targets: tuple[str, ...] | None = None) -> Path:
    """One row for each element, the rows of a set one after the other."""
    lines = [",".join(("set", *sets.columns, *(("target",) if targets != () else ())))]
    for i, name in enumerate(sets.names):
        for element in sets.elements_of(i):
            cells = [name, *(f"{x:.6f}" for x in element)] + ([(targets or sets.targets)[i]] if targets != () else [])
            lines.append(",".join(cells))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def sums(count: int, largest: int, part: str) -> LabelledSets:
    """Sets whose target is 5 more than their sum: far enough from 0 that a forgotten mean shows."""
    sets = generate_sets("sum", count, largest, 3, part)
    return replace(sets, targets=tuple(repr(float(y) + 5) for y in sets.targets))


def words(out: Path, *more: str, steps: int = 24) -> list[str]:
    return ["train", "sets", *more, *SMALL, "--steps", str(steps), "--quiet", "--out", str(out)]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of numbers whose table has moved away."""
    root = tmp_path_factory.mktemp("sets")
    table = write_table(root / "own.csv", sums(500, 6, "train"))
    assert main(words(root / "run", "--table", str(table), steps=150)) == 0
    table.unlink()
    return root / "run"


def test_the_run_keeps_what_it_needs(trained: Path) -> None:
    parts = {p.stem: read_tensors(p) for p in (trained / "held_out").iterdir()}
    assert {name: len(part["counts"]) for name, part in parts.items()} == {"validation": 50, "test": 50}
    assert read_json(trained / "elements.json")["columns"] == ["value"]
    report = (trained / "report.html").read_text(encoding="utf-8")
    assert "Error and size of the sets" in report and "Predicted and true" in report and "RMSE" in report


def test_what_is_left_out_is_told(trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = write_table(tmp_path / "new.csv", sums(3, 20, "new"))
    table.write_text(table.read_text(encoding="utf-8") + "s,many,1\n", encoding="utf-8")
    for verb in ("predict", "evaluate"):
        assert main([verb, str(trained), "--table", str(table)]) == 0
        out = capsys.readouterr().out
        assert "left out: 1 row with something else than a number in `value`" in out, verb
    assert main(["predict", str(trained)]) == 2
    assert "Hint: `headway predict --help` explains it." in capsys.readouterr().err


def test_numbers_are_predicted_in_any_order_of_rows(trained: Path, tmp_path: Path) -> None:
    new = sums(40, 6, "new")
    table = write_table(tmp_path / "new.csv", new, ())
    run = package.load(trained)
    found = run.predict(table=str(table))
    assert found.columns == ("set", "elements", "predicted") and [row[0] for row in found.rows] == list(new.names)
    true = np.array([float(y) for y in new.targets])
    assert r2_score(true, [float(row[2]) for row in found.rows]) > 0.95
    header, *rows = table.read_text(encoding="utf-8").splitlines()
    mixed = np.random.default_rng(1).permutation(rows).tolist()
    table.write_text("\n".join([header, *mixed]) + "\n", encoding="utf-8")
    other = {row[0]: row for row in run.predict(table=str(table)).rows}
    for name, count, value in found.rows:
        assert other[name][1] == count and float(other[name][2]) == pytest.approx(float(value), abs=1e-4)


def test_scores_are_those_of_scikit_learn(trained: Path, tmp_path: Path) -> None:
    new = sums(60, 12, "new")
    table = write_table(tmp_path / "new.csv", new)
    run = package.load(trained)
    scores = {score.name: score for score in run.evaluate(table=str(table)).scores}
    found, true = (
        np.array([float(r[2]) for r in run.predict(table=str(table)).rows]),
        np.array(new.targets, dtype=float),
    )
    assert scores["RMSE"].value == pytest.approx(mean_squared_error(true, found) ** 0.5, rel=1e-3)
    assert scores["RMSE"].low < scores["RMSE"].value < scores["RMSE"].high  # type: ignore[operator]
    assert scores["R2"].value == pytest.approx(r2_score(true, found), abs=1e-4)
    large = new.counts > 6
    assert scores["RMSE of larger sets"].value == pytest.approx(
        mean_squared_error(true[large], found[large]) ** 0.5, rel=1e-3
    )
    assert any("larger than any set of training (6 elements)" in w for w in run.predict(table=str(table)).warnings)


def test_classes(tmp_path: Path) -> None:
    """Whether the largest element is above a half: found to be classes by their names."""
    sets = generate_sets("max", 450, 4, 3, "train")
    labels = tuple("high" if float(y) > 0.5 else "low" for y in sets.targets)
    table = write_table(tmp_path / "own.csv", sets, labels)
    assert main(words(tmp_path / "run", "--table", str(table), "--model.pooling", "max", steps=100)) == 0
    run = package.load(tmp_path / "run")
    found = run.predict(table=str(table))
    assert found.columns == ("set", "elements", "predicted", "probability")
    assert np.mean([row[2] == label for row, label in zip(found.rows, labels, strict=True)]) > 0.9
    titles = [panel.title for panel in run.judge().panels]
    assert titles == ["Confusion matrix", "Calibration", "Error and size of the sets"]


def test_what_is_a_number_and_what_is_a_class() -> None:
    assert are_numbers(["0.5", "1", "2"]) and are_numbers([str(i) for i in range(30)])
    assert not are_numbers(["0", "1", "1"]) and not are_numbers(["1.5", "high"]) and not are_numbers(["nan", "1.5"])


@pytest.mark.parametrize("model", ["deep_sets", "set_transformer"])
def test_an_interrupted_run_ends_with_the_same_bits(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = ("--kind", "max", "--sets", "120", "--model", model)
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


def test_a_run_begins_with_another(trained: Path, tmp_path: Path) -> None:
    table = write_table(tmp_path / "own.csv", generate_sets("sum", 100, 9, 5, "train"))
    more = ("--table", str(table), "--from", str(trained), "--training.rate", "1e-9")
    assert main(["train", "sets", *more, "--steps", "1", "--quiet", "--out", str(tmp_path / "on")]) == 0
    for name in ("elements.json", "target.json"):
        assert read_json(tmp_path / "on" / name) == read_json(trained / name)
    before, now = (read_tensors(run / "weights.safetensors") for run in (trained, tmp_path / "on"))
    assert all(np.allclose(now[name], tensor, atol=1e-6) for name, tensor in before.items())


# -- data ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_generated_sets_are_what_they_say(kind: str) -> None:
    train, test = (generate_sets(kind, 30, 4, 3, part) for part in ("train", "test"))  # type: ignore[arg-type]
    assert train.counts.max() <= 4 < test.counts.max() <= 12
    if kind != "digits":
        expected = [FUNCTIONS[kind](train.elements_of(i)[:, 0]) for i in range(30)]  # type: ignore[index]
        np.testing.assert_allclose([float(y) for y in train.targets], expected)
        return
    pictures = {element.tobytes() for element in train.elements}
    assert not pictures & {element.tobytes() for element in test.elements}, "held-out pictures are new"
    assert all(
        float(y).is_integer() and 0 <= float(y) <= 9 * n for y, n in zip(train.targets, train.counts, strict=True)
    )


def test_batches_hold_every_set_once_and_follow_from_the_seed() -> None:
    sets = generate_sets("sum", 23, 5, 3, "train")
    scale, wanted = ElementScale.of(sets), np.arange(23)
    batches = SetBatches(sets, wanted, rows=6, seed=4, scale=scale)
    for epoch in range(2):
        seen = [batches[len(batches) * epoch + i] for i in range(len(batches))]
        assert sorted(row for batch in seen for row in batch.labels.tolist()) == list(range(23))
        for batch in seen:
            elements, keep = batch.inputs
            for place, row in enumerate(batch.labels.tolist()):
                back = elements[place, keep[place]].double().numpy() * scale.deviation + scale.mean
                np.testing.assert_allclose(back, sets.elements_of(row), atol=1e-6)
            assert not elements[~keep].any() and keep.any(1).all()
    assert batches[9].labels.tolist() == SetBatches(sets, wanted, rows=6, seed=4, scale=scale)[9].labels.tolist()
    assert batches.largest().inputs[1].sum() == np.sort(sets.counts)[-6:].sum()


def test_tables_are_examined(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("id,x,colour,y\np,1,red,0.5\nq,2,red,1.5\np,,red,0.5\np,4,blue,0.5\nr,5,red,\n", encoding="utf-8")
    sets, report = read_sets(str(path), None, None)
    assert sets.names == ("p", "q") and sets.counts.tolist() == [2, 1] and sets.targets == ("0.5", "1.5")
    np.testing.assert_array_equal(sets.elements[:, 0], [1, 4, 2])
    found = {finding.kind: finding.lines for finding in report.findings}
    assert found["missing-number"] == (4,) and found["empty-target"] == (6,) and "not-read" in found
    path.write_text("id,x,y\np,1,0.5\np,2,0.7\nq,3,1\n", encoding="utf-8")
    with pytest.raises(DataError, match="set `p` has `0.5` in line 2, `0.7` in line 3"):
        read_sets(str(path), None, None)


def test_sets_that_are_also_held_out(tmp_path: Path) -> None:
    own = sums(60, 6, "train")
    table = str(write_table(tmp_path / "own.csv", own))
    test = str(write_table(tmp_path / "test.csv", own.select([9, 4])))
    corpus = collect_sets(table, None, None, {"test": test}, 1)
    assert "2 sets also among the held-out sets (sets 5, 10): will be dropped" in corpus.describe()
    names = {*corpus.train.names, *corpus.held_out["validation"].names}
    assert len(names) == 58 and not {own.names[4], own.names[9]} & names
    assert corpus.reports[0].kept == own.counts.sum() - own.counts[[4, 9]].sum()
    with pytest.raises(DataError, match="every set is also held out"):
        collect_sets(table, None, None, {"validation": table}, 1)


def test_wrong_input_is_explained(trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words(tmp_path / "x", steps=1)) == 2
    assert "which sets?" in capsys.readouterr().err
    table = write_table(tmp_path / "own.csv", generate_sets("sum", 60, 4, 3, "train"))
    assert main(words(tmp_path / "x", "--table", str(table), "--target", "targt", steps=1)) == 2
    assert "did you mean `target`?" in capsys.readouterr().err and not (tmp_path / "x").exists()
    assert main(words(tmp_path / "x", "--table", str(table), "--kind", "sum", steps=1)) == 2
    assert "exclude each other" in capsys.readouterr().err
    same = write_table(tmp_path / "same.csv", generate_sets("sum", 60, 4, 3, "train"), ("3.5",) * 60)
    assert main(words(tmp_path / "x", "--table", str(same), steps=1)) == 2
    assert "every set has the target `3.5`: nothing to learn" in capsys.readouterr().err
    (tmp_path / "empty.csv").write_text("", encoding="utf-8")
    assert main(words(tmp_path / "x", "--table", str(tmp_path / "empty.csv"), steps=1)) == 2
    assert "empty" in capsys.readouterr().err
    table.write_text("set,other\np,1\n", encoding="utf-8")
    with pytest.raises(DataError, match="has no column `value`"):
        package.load(trained).predict(table=str(table))
    assert main(["data", "check", str(same)]) == 1
    assert "as data for sets" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("target.json", b'{"mean": 1.0}', "`deviation` is missing"),
        ("elements.json", b'{"columns": []}', "`mean` is missing"),
        (
            "elements.json",
            b'{"columns": ["value"], "mean": [], "deviation": [1.0], "largest": 3, "median": 2}',
            "every column needs a mean",
        ),
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
def test_a_sum_goes_on_beyond_the_sizes_of_training(tmp_path: Path) -> None:
    """Sums of up to 10 numbers are learned; on sets of up to 30 a sum over elements is right, a mean is not."""
    errors = {}
    for pooling in ("sum", "mean"):
        command = ["train", "sets", "--kind", "sum", "--model.pooling", pooling, "--steps", "600", "--quiet"]
        assert main([*command, "--out", str(tmp_path / pooling)]) == 0
        run = package.load(tmp_path / pooling)
        errors[pooling] = next(s.value for s in run.scores if s.name == "RMSE of larger sets")
        panel = next(p for p in run.judge().panels if p.title == "Error and size of the sets")
        assert isinstance(panel, Plot) and max(panel.marks[-1].x) > 25
    assert errors["sum"] < 0.1 and errors["mean"] > 10 * errors["sum"]
