"""Signals that ask to end (SIGINT, SIGTERM, SIGHUP) in every phase: what is left can be used or is not there, and resuming is exact.

The process sends itself the signal as a phase begins. In the steps it answers: a checkpoint is written, and the exit code is 128 and the
number of the signal. Elsewhere the system ends it, or Python by a KeyboardInterrupt.
"""

import hashlib
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from headway.cli import main
from headway.runs.run import Run
from headway.tasks.translation import Translation
from headway.training import checkpoint, loop, setup
from headway.training.learner import Learner
from tests.end_to_end.conftest import SMALL
from tests.forked import together

PHASES: dict[str, tuple[object, str, int]] = {  # what is called as the phase begins, and which of its calls
    "reading the data": (Translation, "collect", 1),
    "learning the vocabulary": (Translation, "fit", 1),
    "writing the plan": (setup, "write_json", 1),
    "a step": (Learner, "step", 4),
    "validation": (Translation, "validate", 1),
    "a checkpoint": (checkpoint, "write_tensors", 3),
    "the best weights": (loop, "write_tensors", 1),
    "judging": (Run, "judge", 1),
    "the report": (Run, "judge_base", 1),
}
STEPS = ("a step", "validation", "a checkpoint", "the best weights")
BEFORE = ("reading the data", "learning the vocabulary", "writing the plan")
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@pytest.fixture(scope="module")
def words(corpus: Path) -> list[str]:
    files = ["--source", str(corpus / "a.en"), "--target", str(corpus / "a.de")]
    return ["train", "translation", *files, *SMALL, "--steps", "12", "--training.validate", "6", "--seed", "5"]


def bits(run: Path) -> dict[str, str]:
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(run.glob("*.safetensors"))}


@pytest.fixture(scope="module")
def whole(words: list[str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    out = tmp_path_factory.mktemp("whole") / "run"
    assert main([*words, "--out", str(out), "--quiet"]) == 0
    return bits(out)


def in_phase(phase: str, number: int, work: Callable[[], int]) -> int:
    """Do the work, and send this process a signal as the phase begins."""
    owner, name, which = PHASES[phase]
    call, calls = getattr(owner, name), iter(range(1, 10**6))

    def sending(*arguments: object, **named: object) -> object:
        if next(calls) == which:
            os.kill(os.getpid(), number)
        return call(*arguments, **named)

    setattr(owner, name, staticmethod(sending) if isinstance(owner, type) and name in ("collect", "fit") else sending)
    return work()


def one_signal(phase: str, number: signal.Signals, words: list[str], whole: dict[str, str], folder: Path) -> None:
    out = folder / "run"
    codes, texts, errors = together(1, lambda: in_phase(phase, number, lambda: main([*words, "--out", str(out)])), folder / "texts")
    gentle = phase in STEPS or number == signal.SIGINT
    assert codes == [128 + number if gentle else -number], (codes, errors)
    assert "Traceback" not in errors[0], errors
    if phase in STEPS:
        assert "The run is usable as it is" in texts[0] and not list(out.glob("*.part"))
        assert main(["translate", str(out), "The man sleeps."]) == 0
    if phase in BEFORE and number == signal.SIGINT:
        assert not out.exists() and "the same command begins again" in texts[0]
        return
    assert main(["train", "--resume", str(out), "--quiet"]) == 0
    assert bits(out) == whole and (out / "report.html").exists()


@pytest.mark.parametrize("phase, number", [(phase, SIGNALS[i % 3]) for i, phase in enumerate(PHASES)])
def test_a_signal_in_every_phase(phase: str, number: signal.Signals, words: list[str], whole: dict[str, str], tmp_path: Path) -> None:
    one_signal(phase, number, words, whole, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("phase, number", [(phase, SIGNALS[(i + n) % 3]) for n in (1, 2) for i, phase in enumerate(PHASES)])
def test_every_signal_in_every_phase(phase: str, number: signal.Signals, words: list[str], whole: dict[str, str], tmp_path: Path) -> None:
    one_signal(phase, number, words, whole, tmp_path)


def test_a_signal_that_is_ignored_stays_ignored(words: list[str], whole: dict[str, str], tmp_path: Path) -> None:
    """`nohup headway train ...`: the terminal may be closed."""

    def work() -> int:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        return in_phase("a step", signal.SIGHUP, lambda: main([*words, "--out", str(tmp_path / "run")]))

    assert together(1, work, tmp_path / "texts")[0] == [0]
    assert bits(tmp_path / "run") == whole
