"""`headway tune`: what is proposed, folds that cover everything once, a search that was killed, wrong search texts."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import StratifiedKFold

from headway.cli import main
from headway.core.config import Choice, Value
from headway.core.errors import DataError, RunError
from headway.core.files import read_json, read_tensors
from headway.core.folds import Split, fold_numbers, reading_fold, take_fold
from headway.runs.run import Run
from headway.tasks.images import Data, Images
from headway.tasks.recipe import Recipe, Training
from headway.training import cross_validation, search
from headway.training.loop import Loop
from headway.training.progress import Progress
from headway.training.search import Trial, best_trial, read_trials, suggest
from headway.training.search_space import Choices, Range, Space

SPACE: Space = {"model.width": Range(4, 32), "training.rate": Range(1e-3, 1e-1, True), "model.activation": Choices(("relu", "tanh"))}
TEXT = "model.width=4..32 training.rate=1e-3..1e-1:log model.activation=relu|tanh"


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "digits.npz"
    found = load_digits()
    np.savez(path, images=(found.images * 15.9).astype(np.uint8)[:500], labels=found.target[:500])
    return path


def tune(digits: Path, out: Path, *more: str, text: str = TEXT) -> int:
    words = ["tune", "images", "--npz", str(digits), "--model", "mlp", "--steps", "12", "--training.batch", "32"]
    return main([*words, "--search", text, "--out", str(out), *more])


@pytest.fixture(scope="module")
def whole(digits: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "whole"
    assert tune(digits, out, "--trials", "4", "--quiet") == 0
    return out


def test_the_best_trial_is_the_run(whole: Path, digits: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = read_trials(whole)
    assert [trial.number for trial in done] == [1, 2, 3, 4] and (whole / "trials" / "004").is_dir()
    best = best_trial(done)
    assert best.score == max(trial.score or 0 for trial in done)
    run, trial = Run(whole), Run(whole / "trials" / f"{best.number:03d}")
    assert run.plan.model.options["width"] == best.values["model.width"]
    assert run.plan.training.rate == best.values["training.rate"]
    assert all(torch.equal(a, b) for a, b in zip(run.model.parameters(), trial.model.parameters(), strict=True))
    assert main(["evaluate", str(whole), "--npz", str(digits)]) == 0
    page = (whole / "search.html").read_text(encoding="utf-8")
    assert "Score over trials" in page and all(f"Score against {name}" in page for name in SPACE)
    assert (whole / "report.html").exists() and "accuracy" in capsys.readouterr().out


def test_a_killed_search_goes_on_and_ends_the_same(
    digits: Path, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plain, runs = Loop.run, []

    def killed_in_the_third(self: Loop[object], progress: object = None) -> bool:
        runs.append(self)
        if len(runs) < 3:
            return plain(self, progress)  # type: ignore[arg-type]
        plain(self, progress, lambda step: step == 7)  # type: ignore[arg-type]
        raise KeyboardInterrupt

    out = tmp_path / "cut"
    monkeypatch.setattr(Loop, "run", killed_in_the_third)
    assert tune(digits, out, "--trials", "4", "--quiet") == 130
    assert len(read_trials(out)) == 2 and (out / "trials" / "003" / "checkpoint.safetensors").exists()
    monkeypatch.setattr(Loop, "run", plain)
    capsys.readouterr()
    assert tune(digits, out, "--trials", "4") == 0
    text = capsys.readouterr().out
    assert "continuing at step" in text and "4 trials; the best:" in text
    assert (out / "trials.jsonl").read_text() == (whole / "trials.jsonl").read_text()
    one, other = (read_tensors(folder / "weights.safetensors") for folder in (whole, out))
    assert all(torch.equal(one[name], other[name]) for name in one)
    assert tune(digits, out, "--trials", "5", "--quiet") == 0 and len(read_trials(out)) == 5, "more trials go on"
    assert tune(digits, out, "--trials", "5", text=TEXT.replace("32", "64")) == 2
    assert "holds another search" in capsys.readouterr().err


def test_proposals_follow_from_the_seed_and_the_finished_trials() -> None:
    def finished(count: int, seed: int = 1) -> list[Trial]:
        done: list[Trial] = []
        for number in range(1, count + 1):
            values = suggest(SPACE, done, seed)
            width, rate = values["model.width"], values["training.rate"]
            assert isinstance(width, int) and 4 <= width <= 32 and isinstance(rate, float) and 1e-3 <= rate <= 1e-1
            score = -((width - 25) ** 2) / 100 - (np.log10(rate) + 2) ** 2 + (values["model.activation"] == "tanh")
            done.append(Trial(number, values, None if number == 4 else float(score), problem="diverged" * (number == 4)))
        return done

    done = finished(40)
    assert done[:15] == finished(15) and done[:5] != finished(5, seed=2)
    early, late = done[:10], done[-10:]
    assert np.mean([t.score or 0 for t in late]) > np.mean([t.score or 0 for t in early]), "it learns where good trials are"
    assert best_trial(done).values["model.activation"] == "tanh"


def test_folds_are_disjoint_cover_everything_and_keep_the_shares() -> None:
    labels = [int(x) for x in load_digits().target[:503]]
    numbers = fold_numbers(range(503), labels, 5, 1)
    assert sorted(Counter(numbers).values()) == [100, 100, 101, 101, 101]
    reference = StratifiedKFold(5)
    largest = max(len(part) for _, part in reference.split(np.zeros(503), labels))
    assert max(Counter(numbers).values()) <= largest
    for label in set(labels):
        shares = Counter(n for n, x in zip(numbers, labels, strict=True) if x == label)
        assert max(shares.values()) - min(shares.values()) <= 1
    copies = fold_numbers([0, 1, 0, 2, 0, 3, 1], [0] * 7, 2, 1)
    assert copies[0] == copies[2] == copies[4] and copies[1] == copies[6], "copies stay together"
    thrice = set(zip([i % 10 for i in range(30)], fold_numbers([i % 10 for i in range(30)], [0] * 30, 2, 1), strict=True))
    assert Counter(fold for _, fold in thrice) == {1: 5, 2: 5}, "copies count once"
    assert fold_numbers(range(503), labels, 5, 2) != numbers


def test_a_class_of_one_example_is_learned_from_in_every_fold() -> None:
    """It cannot be judged by what has never seen it: the run of that fold would stop."""
    labels, keys = ["a"] * 10 + ["b", "c", "c"], [*range(11), 20, 20]  # both `c` are the same example
    parts = [take_fold(range(13), keys, labels, Split(1, fold, 5)) for fold in range(1, 6)]
    assert all({10, 11, 12} <= set(rest) for rest, _ in parts)
    assert sorted(row for _, chosen in parts for row in chosen) == list(range(10))
    assert all(sorted([*rest, *chosen]) == list(range(13)) for rest, chosen in parts)
    with pytest.raises(DataError, match="fold 1 of 2 has only classes that training would not have"):
        take_fold(range(2), [0, 1], ["a", "b"], Split(1, 1, 2))


def test_folds_of_a_task_leave_the_test_part_alone(digits: Path) -> None:
    usual = Images.collect(Data(npz=str(digits)), 1)
    parts = []
    for fold in (1, 2, 3):
        with reading_fold(Split(1, fold, 3), "images"):
            corpus = Images.collect(Data(npz=str(digits)), 1)
        assert corpus.held_out["test"].fingerprint == usual.held_out["test"].fingerprint
        assert len(corpus.train) + len(corpus.held_out["validation"]) + len(corpus.held_out["test"]) == 500
        parts.append({image.tobytes() for image in corpus.held_out["validation"].images})
        assert not parts[-1] & {image.tobytes() for image in corpus.train.images}
    assert not parts[0] & parts[1] and not parts[1] & parts[2] and not parts[0] & parts[2]
    everything = {image.tobytes() for part in (usual.train, usual.held_out["validation"]) for image in part.images}
    assert parts[0] | parts[1] | parts[2] == everything


def test_a_search_with_folds(digits: Path, tmp_path: Path) -> None:
    out = tmp_path / "folds"
    assert tune(digits, out, "--trials", "2", "--folds", "3", "--quiet", text="training.rate=1e-3|1e-1") == 0
    for trial in read_trials(out):
        assert len(trial.folds) == 3 and trial.score == pytest.approx(sum(trial.folds) / 3)
    plans = [read_json(out / "trials" / "001" / f"fold-{i}" / "plan.json") for i in (1, 2, 3)]
    assert len({plan["fingerprint"]["validation"] for plan in plans}) == 3, "each fold validates on another part"
    best = best_trial(read_trials(out))
    assert (out / "trials" / f"{best.number:03d}" / "whole").is_dir() and Run(out).plan.training.rate == best.values["training.rate"]


def test_impossible_values_are_failed_trials(digits: Path, tmp_path: Path) -> None:
    out = tmp_path / "failed"
    assert tune(digits, out, "--trials", "4", "--quiet", text="model.dropout=0.5|0.95") == 2, "one end is impossible at once"
    values: Space = {"model.dropout": Choices((0.5, 0.95))}
    made = search.Search(_recipe_of(digits), values, 6)
    assert made.run(out, Progress(quiet=True))
    large = search.Search(_recipe_of(digits), {"model.width": Choices((16, 1_000_000))}, 4)
    assert large.run(tmp_path / "large", Progress(quiet=True))
    problems = {trial.values["model.width"]: trial.problem for trial in read_trials(tmp_path / "large")}
    assert not problems[16] and "of memory" in problems[1_000_000]
    done = read_trials(out)
    failed = [trial for trial in done if trial.score is None]
    assert failed and all(trial.values["model.dropout"] == 0.95 and "dropout" in trial.problem for trial in failed)
    assert best_trial(done).values["model.dropout"] == 0.5


def _recipe_of(digits: Path) -> Callable[[dict[str, Value]], Recipe[object]]:
    def recipe(values: dict[str, Value]) -> Recipe[object]:
        options = {name.removeprefix("model."): value for name, value in values.items()}
        return Recipe("images", Data(npz=str(digits)), Choice("mlp", options), Training(steps=2, batch=32))

    return recipe


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("model.widht=4..8", "unknown option to search: `model.widht`\nHint: did you mean `model.width`?"),
        ("training.rat=1..2", "unknown option to search: `training.rat`\nHint: did you mean `training.rate`?"),
        ("model.width=8..4", "`model.width=8..4` in `--search` is an empty range: 8 is not below 4"),
        ("model.width=8..8", "`model.width=8..8` in `--search` is an empty range"),
        ("model.width=1.5..8", "`model.width=1.5..8` in `--search`: `model.width` takes whole numbers"),
        ("model.width=few..many", "`model.width=few..many` in `--search`: the ends of a range must be numbers"),
        ("training.rate=0..1:log", "`training.rate=0..1:log` in `--search`: a logarithmic range must begin above 0"),
        ("training.rate=1..2:sqrt", "`training.rate=1..2:sqrt` in `--search`: `sqrt` is no scale"),
        ("training.optimizer=1..2", "`training.optimizer=1..2` in `--search`: `training.optimizer` is not a number"),
        ("training.optimizer=adamv|sgd", "`training.optimizer` must be the name of a registered optimizer, not `adamv`"),
        ("model.width=8", "`model.width=8` in `--search` leaves no choice"),
        ("model.width", "`model.width` in `--search` gives no values"),
        ("model.width=4..8 model.width=2..3", "`model.width` is in `--search` twice"),
        ("model.activation=relu|tanhh", "did you mean `tanh`"),
        ("model.width=0..8", "`width`, `depth` and `widths` must be at least 1"),
        (" ", "`--search` names no option"),
    ],
)
def test_wrong_search_texts(digits: Path, tmp_path: Path, text: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert tune(digits, tmp_path / "x", text=text) == 2
    assert message in capsys.readouterr().err and not (tmp_path / "x").exists()


def test_other_mistakes(digits: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = tmp_path / "text.txt"
    text.write_text("a text that cannot be cut into folds. " * 50, encoding="utf-8")
    words = ["tune", "language", "--text", str(text), "--search", "training.rate=1e-3..1e-2", "--steps", "1", "--folds"]
    assert main([*words, "3", "--out", str(tmp_path / "x")]) == 2
    assert "the language data cannot be split into folds\nHint: leave out `--folds`" in capsys.readouterr().err
    assert main([*words, "1", "--out", str(tmp_path / "y")]) == 2 and "`--folds 1` should be at least 2" in capsys.readouterr().err
    (tmp_path / "z").mkdir()
    (tmp_path / "z" / "note").write_text("mine")
    assert tune(digits, tmp_path / "z") == 2 and "is not an empty directory" in capsys.readouterr().err
    words = ["tune", "images", "--model", "mlp", "--search", "model.width=4..8", "--steps", "1", "--out", str(tmp_path / "v")]
    assert main(words) == 2 and "which pictures?" in capsys.readouterr().err
    assert main([*words, "--npz", str(digits), "--trials", "1", "--quiet"]) == 0, "a search that never began is in nobody's way"
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / "trials.jsonl").write_text(json.dumps({"number": 1}) + "\n{")
    with pytest.raises(RunError, match="is damaged"):
        read_trials(tmp_path / "w")


def test_a_figure_that_one_fold_lacks(monkeypatch: pytest.MonkeyPatch, digits: Path, tmp_path: Path) -> None:
    found = iter([cross_validation.Validated(1.0, {"loss": 2.0, "AP50": 0.5}), cross_validation.Validated(3.0, {"loss": 4.0})])
    monkeypatch.setattr(cross_validation, "validate_once", lambda *_: next(found))
    mean = cross_validation.cross_validate(_recipe_of(digits)({}), 2, tmp_path, Progress(quiet=True))
    assert mean == cross_validation.Validated(2.0, {"loss": 3.0}, (1.0, 3.0))
