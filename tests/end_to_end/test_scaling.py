"""`headway lab sweep` and `headway lab scaling`: the runs, the law, the page, what is refused, a sweep that was killed."""

import json
import re
import shutil
from pathlib import Path

import pytest
import torch

from headway.cli import main
from headway.compare import sweep as sweeping
from headway.compare.child import train_and_measure
from headway.compare.scaling.points import count_distinct, find_runs, read_points
from headway.compare.sweep import nearest_width
from headway.core.errors import UsageError
from headway.data.grammar.corpus import generate
from headway.inspect.cost import run_cost
from headway.runs.run import Run
from headway.tasks.recipe import Recipe
from headway.training.checkpoint import FILE, read_header
from headway.training.loop import Loop
from headway.verbs.counts import parse_counts

SMALL = "--tokens characters --context 16 --training.batch 64 --training.validate 8 --model.depth 1".split()
SWEPT = ["--parameters", "1.5k,4k,9k", "--lengths", "1280,2560,5120"]


def in_this_process(name: str, recipe: Recipe[object], folder: Path, quiet: bool, anyway: bool) -> None:
    """Without a process for each run, which `test_compare.py` has: nine of them take long to start."""
    if not train_and_measure(name, recipe, folder, quiet, anyway):
        raise KeyboardInterrupt


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "text.txt"
    path.write_text("\n".join(pair.source for pair in generate(400, "train", 1)), encoding="utf-8")
    return path


def sweep(text: Path, out: Path, *more: str) -> int:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sweeping, "train_in_child", in_this_process)
        for name in ("headway.tasks.language.SHORT", "headway.tasks.language.SAMPLE", "headway.compare.outcome.WRITTEN"):
            patch.setattr(name, 4)  # samples take longer than training
        return main(["lab", "sweep", "language", "--text", str(text), *SMALL, *SWEPT, "--quiet", "--out", str(out), *more])


@pytest.fixture(scope="module")
def swept(text: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "sweep"
    assert sweep(text, out) == 0
    return out


def test_a_sweep_is_runs_of_every_size_and_length_and_their_law(swept: Path) -> None:
    found = read_points(find_runs([str(swept)]))
    assert len(found.each) == 9 and found.unit == "tokens" and found.loss.startswith("nats per token, validation of")
    assert count_distinct(p.parameters for p in found.each) == count_distinct(p.units for p in found.each) == 3
    assert {p.units for p in found.each} == {1280, 2560, 5120}
    last = found.each[-1]
    run = Run(last.folder)
    assert last.parameters == run.parameters and last.loss == run.scores[0].value
    assert last.flops == pytest.approx(run_cost(run).training * 5120)
    assert last.embeddings == 2 * run.task.sizes["vocabulary"] * int(str(run.plan.model.options["width"]))  # of inputs and outputs
    page = (swept / "scaling.html").read_text(encoding="utf-8")
    assert all(f"Loss against {name}" in page for name in ("parameters", "tokens", "FLOPs")) and "held-back run" in page
    assert "L(N, D) = E + A N<sup>-α</sup> + B D<sup>-β</sup>" in page and re.search(r"C = [\d.]+ N<sup>[\d.]+</sup> D<", page)
    assert "^" not in re.sub(r"<(style|script).*?</\1>", "", page, flags=re.DOTALL), "every equation is typeset"


def test_the_command_prints_a_table_or_json(swept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "scaling.html"
    assert main(["lab", "scaling", str(swept), "--parameters", "1M", "--out", str(page)]) == 0
    out = capsys.readouterr().out
    assert "L(N, D) = E + A N^(-α) + B D^(-β)" in out and "α (parameters)" in out
    assert "twice the tokens" in out and "is predicted from the others" in out
    assert "as asked: too far" in out and page.exists() and max(map(len, out.replace(str(page), "").split("\n"))) <= 100
    assert main(["lab", "scaling", *(str(path) for path in sorted(swept.glob("width*"))), "--json"]) == 0
    numbers = json.loads(capsys.readouterr().out)
    assert len(numbers["runs"]) == 9 and numbers["held_back"]["folder"].endswith("-5120")
    law, largest = numbers["coefficients"], numbers["runs"][-1]
    powers = [law[v] * largest[v] ** -numbers["exponents"][v]["value"] for v in ("parameters", "units")]
    assert numbers["irreducible"]["value"] + sum(powers) == pytest.approx(largest["loss"], rel=0.1)


def test_a_killed_sweep_goes_on_in_the_middle_of_a_run(swept: Path, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = Loop.run
    runs: list[list[int]] = []  # of each the steps that it made

    def killed_in_the_second(self: Loop[object], progress: object = None) -> bool:
        steps: list[int] = []
        runs.append(steps)
        cut = len(runs) == 2

        def stop(step: int) -> bool:
            steps.append(step)
            return cut and step == 7

        whole = plain(self, progress, stop)  # type: ignore[arg-type]
        if cut:
            raise KeyboardInterrupt
        return whole

    out = tmp_path / "cut"
    monkeypatch.setattr(Loop, "run", killed_in_the_second)
    few = ["--parameters", "1.5k,4k", "--lengths", "1280,2560"]
    assert sweep(text, out, *few) == 130
    done = sorted(path.parent.name for path in out.glob("*/outcome.json"))
    times = {name: (out / name / "outcome.json").stat().st_mtime_ns for name in done}
    (half,) = (path for path in out.glob("width*") if path.name not in done)
    saved = read_header(half / FILE)[0].step
    assert len(done) == 1 and 5 <= saved <= 7
    assert sweep(text, out, *few) == 0
    assert len(runs) == 5 and min(runs[2]) == saved + 1 and min(runs[3]) == 1  # the run went on where it was
    assert {(out / name / "outcome.json").stat().st_mtime_ns for name in done} == set(times.values())
    for folder in (swept / path.parent.name for path in out.glob("*/outcome.json")):  # as if it had not been killed
        one, other = Run(folder), Run(out / folder.name)
        assert all(torch.equal(a, b) for a, b in zip(one.model.parameters(), other.model.parameters(), strict=True))


def change(folder: Path, edit: str, to: object) -> None:
    """Write another value into the plan of a run: `data.context`."""
    path = folder / "plan.json"
    plan = json.loads(path.read_text(encoding="utf-8"))
    *inner, last = edit.split(".")
    part = plan
    for name in inner:
        part = part[name]
    assert part[last] != to
    part[last] = to
    path.write_text(json.dumps(plan), encoding="utf-8")


@pytest.mark.parametrize(
    ("edit", "to", "message"),
    [
        ("fingerprint.train", "other", "were trained on different data: `train` differs"),
        ("data.context", 8, "read the data in different ways: .*context.*16 -> 8"),
    ],
)
def test_runs_that_cannot_be_compared(swept: Path, tmp_path: Path, edit: str, to: object, message: str) -> None:
    folders = [Path(shutil.copytree(path, tmp_path / path.name)) for path in sorted(swept.glob("width*"))[:4]]
    change(folders[-1], edit, to)
    with pytest.raises(UsageError, match=message):
        read_points(folders)


def test_too_few_unfinished_and_alike(swept: Path, tmp_path: Path, trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def refused(*words: object) -> str:
        assert main(["lab", "scaling", *map(str, words)]) == 2
        return capsys.readouterr().err

    paths = sorted(swept.glob("width*"))
    sizes = {path.name.partition("-")[0]: [p for p in paths if p.name.partition("-")[0] == path.name.partition("-")[0]] for path in paths}
    assert "3 runs are too few" in refused(*paths[:3]) and "which runs?" in refused()
    one = next(iter(sizes.values()))
    again = Path(shutil.copytree(one[0], tmp_path / "again"))
    assert "all runs have one size" in refused(*one, again)
    assert "different tasks: language, translation" in refused(*paths[:4], trained)
    cut = Path(shutil.copytree(paths[0], tmp_path / "cut"))
    (cut / "scores.json").unlink()
    assert f"these runs are not finished: `{cut}`" in refused(*paths, cut)
    scores = Path(shutil.copytree(paths[0], tmp_path / "scores")) / "scores.json"
    scores.write_text(scores.read_text(encoding="utf-8").replace("nats per token", "bits per token"), encoding="utf-8")
    assert "not of one kind" in refused(*paths, scores.parent)
    (again / "members").mkdir()
    assert "an ensemble is not one model" in refused(*paths, again)
    assert "there is no directory" in refused(*paths, tmp_path / "none")
    assert "should be one number" in refused(*paths, "--parameters", "1M,2M")


def test_what_a_sweep_refuses_and_offers(text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def refused(*words: str) -> str:
        assert sweep(text, tmp_path / "none", *words) == 2
        return capsys.readouterr().err

    assert "unknown option `--minutes`" in refused("--minutes", "3")
    assert "unknown option `--training.patience`" in refused("--training.patience", "3")
    assert "is what the sweep varies" in refused("--model.width", "32")
    assert "at least 2 sizes and 4 runs" in refused("--parameters", "4k")
    assert "two of the sizes have the same width" in refused("--parameters", "4000,4001")
    assert "ask for at least 20 steps" in refused("--lengths", "100,5000")
    with pytest.raises(SystemExit):
        main(["lab", "sweep", "language", "--help"])
    shown = capsys.readouterr().out
    assert "--lengths" in shown and "--training.rate" in shown
    assert not any(word in shown for word in ("--minutes", "--steps", "--epochs", "--training.patience"))


def test_numbers_with_letters() -> None:
    assert parse_counts("20k,1.5M,7", "--lengths") == [20_000, 1_500_000, 7]
    for wrong in ("20k,", "a", "0", "5,5", "inf", "nan"):
        with pytest.raises(UsageError, match=r"`--lengths .*should be"):
            parse_counts(wrong, "--lengths")


def test_the_nearest_width_in_ratio() -> None:
    assert nearest_width(1000, lambda width: width**2) == 32 and nearest_width(1, lambda width: width**2) == 8
