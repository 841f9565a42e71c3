"""A second process on a run: it may look, it may not write; and a process that was killed leaves no lock behind."""

import hashlib
import os
import signal
import time
from pathlib import Path

import pytest

from headway.cli import main
from headway.core.errors import RunError
from headway.core.lock import locked
from headway.training import session
from headway.training.progress import Progress
from tests.end_to_end.conftest import SMALL
from tests.forked import begin

STEPS = 40


@pytest.fixture(scope="module")
def words(corpus: Path) -> list[str]:
    files = ["--source", str(corpus / "a.en"), "--target", str(corpus / "a.de")]
    return ["train", "translation", *files, *SMALL, "--steps", str(STEPS), "--training.validate", "4", "--quiet"]


def bits(run: Path) -> str:
    return hashlib.sha256((run / "weights.safetensors").read_bytes()).hexdigest()


def test_a_run_that_is_being_trained(words: list[str], corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole, out = tmp_path / "whole", tmp_path / "run"
    assert main([*words, "--out", str(whole)]) == 0
    (training,) = begin(1, lambda: main([*words, "--out", str(out)]), tmp_path / "texts")
    while not (out / "weights.safetensors").exists():
        assert training.is_alive()
        time.sleep(0.001)
    training_pid = training.pid or 0
    for command, code, told in (
        (["train", "--resume", str(out)], 2, f"`{out}` is in use by another process ({training_pid})"),
        ([*words, "--out", str(out)], 2, f"`{out}` already holds a run"),
        (["translate", str(out), "The man sleeps."], 0, ""),
        (["evaluate", str(out), "--source", str(corpus / "test.en"), "--target", str(corpus / "test.de")], 0, ""),
    ):
        os.kill(training_pid, signal.SIGSTOP)  # it stays in the middle of training while the others look
        assert main(command) == code and told in capsys.readouterr().err, command
        os.kill(training_pid, signal.SIGCONT)
    training.kill()
    training.join()
    assert (out / ".lock").read_text() == str(training_pid), "the file stays, the lock is gone"
    assert main(["train", "--resume", str(out), "--quiet"]) == 0
    assert bits(out) == bits(whole)


def test_a_run_that_is_being_judged(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two processes that write the same scores would exchange their temporary files."""
    (copy / "scores.json").unlink()
    with locked(copy):
        assert main(["train", "--resume", str(copy)]) == 2
    assert "is in use by another process" in capsys.readouterr().err and not (copy / "scores.json").exists()
    assert main(["train", "--resume", str(copy), "--quiet"]) == 0 and (copy / "scores.json").exists()


def test_two_that_begin_at_the_same_time(trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other one has begun, and ended, between the look into the directory and the lock."""
    out, lock = tmp_path / "run", session.locked

    def slow(folder: Path):  # type: ignore[no-untyped-def]
        (out / "recipe.json").write_text("of the other")
        return lock(folder)

    monkeypatch.setattr(session, "locked", slow)
    recipe = session.read_recipe(session.read_json(trained / "recipe.json"), session.data_class("translation"), "recipe.json")
    with pytest.raises(RunError, match="already holds a run"):
        session.start(recipe, out, Progress(quiet=True))
    assert (out / "recipe.json").read_text() == "of the other"
