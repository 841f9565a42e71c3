"""Learning from preferences from the command line: dpo, ipo and policy gradient; resume, damage, and what goes wrong."""

import json
import math
import shutil
from pathlib import Path

import numpy as np
import pytest

import headway as package
from headway.cli import main
from headway.core.errors import RunError
from headway.core.files import read_tensors
from headway.data.made_preferences import main as write_made
from headway.data.preference_batches import PreferenceBatch
from headway.training.session import resume

from .preference_runs import train_chat, train_reward, write_rows
from .test_reward import Stopped, stop_after

METHODS = ["dpo", "ipo", "policy"]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("preferences")
    train_reward(folder, train_chat(folder))
    return folder


def words(runs: Path, method: str, out: Path, *more: str, steps: int = 8) -> list[str]:
    files = ["--preferences", str(runs / "pairs.jsonl"), "--reward", str(runs / "reward"), "--from", str(runs / "chat")]
    training = ["--steps", str(steps), "--training.batch", "16", "--training.validate", "4", "--quiet"]
    return ["train", "preferences", *files, "--method", method, "--truth", "made", *training, "--out", str(out), *more]


@pytest.fixture(scope="module")
def tuned(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Runs of every method; the runs that they came from have moved away."""
    folder = tmp_path_factory.mktemp("tuned")
    shutil.copytree(runs, folder / "before")
    for method in METHODS:
        assert main(words(folder / "before", method, folder / method)) == 0
    shutil.rmtree(folder / "before")
    return {method: folder / method for method in METHODS}


@pytest.mark.parametrize("method", METHODS)
def test_a_run_needs_nothing_but_its_directory(tuned: dict[str, Path], method: str) -> None:
    run = package.load(tuned[method])
    scores = {score.name: score for score in run.judge().scores}
    assert {"win rate", "KL", "rating", "true reward", "perplexity", "pair accuracy"} == set(scores)
    assert scores["win rate"].low < scores["win rate"].value < scores["win rate"].high
    assert len(run.generate("The king", seed=2)) > 0
    report = (tuned[method] / "report.html").read_text(encoding="utf-8")
    assert "Reward against KL" in report and "before" in report
    assert not (tuned[method] / "reference" / "checkpoint.safetensors").exists(), "a copy holds what using it needs"


def test_before_training_nothing_is_preferred(runs: Path, tmp_path: Path) -> None:
    """The policy is its reference: the loss is ln 2, every margin 0, and the gradient is half of beta's pull apart."""
    assert main(words(runs, "dpo", tmp_path / "r", "--training.rate", "1e-30", steps=1)) == 0
    run = package.load(tmp_path / "r")
    part, pairs = run.task._held_out(run.folder)["validation"]
    assert abs(run.task._log_ratios(run.model, pairs)).max() < 1e-4
    batch = pairs[0]
    assert isinstance(batch, PreferenceBatch) and float(batch.reference.abs().min()) > 0
    loss = run.task.loss(run.model, batch)
    assert float(loss.total) / loss.count == pytest.approx(math.log(2), abs=1e-6)
    first = json.loads((tmp_path / "r" / "metrics.jsonl").read_text().splitlines()[0])
    assert first["loss"] == pytest.approx(math.log(2), abs=1e-5)
    scores = {score.name: score for score in run.judge().scores}
    assert abs(scores["KL"].value) < 1e-4 and scores["win rate"].low < 0.5 < scores["win rate"].high


def test_training_and_validation_of_a_policy_gradient_are_one_loss(tuned: dict[str, Path]) -> None:
    """Both are beta KL - rating of drawn responses, so that one chart can show them; the best weights are kept by it."""
    records = [json.loads(line) for line in (tuned["policy"] / "metrics.jsonl").read_text().splitlines()]
    losses = np.array([record["loss"] for record in records if "loss" in record])
    for validation in (record["validation"] for record in records if record.get("validation")):
        figures = validation["figures"]
        assert figures["loss"] == pytest.approx(0.1 * figures["KL"] - figures["rating"], abs=1e-9)
        assert validation["score"] == -figures["loss"]
        assert abs(figures["loss"] - losses.mean()) < 4 * losses.std() / math.sqrt(len(losses)) + 0.3


@pytest.mark.parametrize("method", ["dpo", "policy"])
def test_resumed_it_ends_the_same(runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    assert main(words(runs, method, tmp_path / "whole")) == 0
    stop_after(monkeypatch, 6)
    with pytest.raises(Stopped):
        main(words(runs, method, tmp_path / "cut"))
    monkeypatch.undo()
    assert resume(tmp_path / "cut")
    for name in ("weights.safetensors", "checkpoint.safetensors"):
        assert (tmp_path / "cut" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    moved = (
        read_tensors(tmp_path / "whole" / "weights.safetensors")["output.weight"]
        - read_tensors(runs / "chat" / "weights.safetensors")["output.weight"]
    )
    assert float(moved.abs().max()) > 0, "the weights of the run it began with were taken over, and changed"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--method", "policy"], "`--method policy` needs a reward model: `--reward RUN`"),
        (["--reward", "{runs}/chat"], "is not a reward model"),
        (["--beta", "0"], "`--beta` must be a number above 0"),
        (["--method", "dppo"], "dpo"),
        (["--responses", "1", "--method", "policy", "--reward", "{runs}/reward"], "`--responses` must be at least 2"),
        (["--reward", "{other}/reward"], "reads other tokens than"),
        (["--reward", "{runs}/nothing"], "there is no file"),
    ],
)  # fmt: skip
def test_errors_are_told(
    runs: Path, other: Path, more: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    start = [
        "train",
        "preferences",
        "--preferences",
        str(runs / "pairs.jsonl"),
        "--from",
        str(runs / "chat"),
        "--steps",
        "1",
        "--quiet",
    ]
    assert main([*start, "--out", str(tmp_path / "x"), *(word.format(runs=runs, other=other) for word in more)]) == 2
    assert said in capsys.readouterr().err and not (tmp_path / "x").exists()


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A reward model with another vocabulary."""
    folder = tmp_path_factory.mktemp("other")
    rows = [{"prompt": f"p{n}", "response": f"words of another kind {n}"} for n in range(60)]
    table = write_rows(folder / "r.jsonl", rows)
    small = "--tokens characters --steps 1 --model.width 16 --model.depth 1 --quiet".split()
    assert main(["train", "responses", "--table", str(table), *small, "--out", str(folder / "chat")]) == 0
    train_reward(folder, folder / "chat", steps=1)
    return folder


def test_a_damaged_copy_is_told(tuned: dict[str, Path], tmp_path: Path) -> None:
    copy = Path(shutil.copytree(tuned["policy"], tmp_path / "copy"))
    (copy / "reference" / "weights.safetensors").write_bytes(b"nothing")
    run = package.load(copy)
    assert run.generate("The king"), "generating needs the model alone"
    with pytest.raises(RunError, match=r"reference/weights.safetensors"):
        run.judge()
    shutil.rmtree(copy / "reference")
    with pytest.raises(RunError, match="there is no directory"):
        package.load(copy).judge()


def test_without_a_reward_model_and_a_rule_there_is_no_win_rate(runs: Path, tmp_path: Path) -> None:
    files = ["--preferences", str(runs / "pairs.jsonl"), "--from", str(runs / "chat")]
    assert main(["train", "preferences", *files, "--steps", "2", "--quiet", "--out", str(tmp_path / "r")]) == 0
    found = package.load(tmp_path / "r").judge()
    assert {score.name for score in found.scores} == {"KL", "perplexity", "pair accuracy"}
    assert "a reward model (`--reward`) could say" in found.verdict


@pytest.mark.slow
def test_both_ways_beat_the_supervised_model(tmp_path: Path) -> None:
    """The commands of docs/preferences.md: pre-training, fine-tuning, a reward model, then dpo and policy gradient.

    The aim is a win rate of 0.75 at equal fluency: a perplexity, to the model before, within 10 % of that model's own.
    """
    write_made(tmp_path)
    data = tmp_path

    def train(task: str, out: str, options: str, *files: str) -> None:
        assert main(["train", task, *files, *options.split(), "--quiet", "--out", str(tmp_path / out)]) == 0

    sizes = "--context 48 --model.width 64 --model.depth 2 --training.batch 1024"
    train("language", "text", f"{sizes} --steps 400", "--text", str(data / "text.txt"))
    fine = "--longest 24 --training.batch 1024 --training.rate 4e-3 --steps 300"
    train("responses", "chat", fine, "--table", str(data / "chat.jsonl"), "--from", str(data / "text"))
    files = ["--preferences", str(data / "pairs.jsonl"), "--from", str(data / "chat")]
    train("reward", "reward", "--steps 300", *files)
    files += ["--truth", "made", "--reward", str(data / "reward")]
    train("preferences", "dpo", "--beta 0.5 --steps 200", *files)
    train("preferences", "policy", "--method policy --beta 1 --steps 150", *files)
    for name in ("dpo", "policy"):
        scores = {score.name: score for score in package.load(tmp_path / name).scores}
        assert scores["win rate"].value >= 0.75, name
        before = float(scores["perplexity"].signature.rpartition(" ")[2])
        assert scores["perplexity"].value <= 1.10 * before, f"{name}: still the same language"
