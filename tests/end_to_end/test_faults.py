"""Faults of the machine: a disk that is full at the n-th write, for every n; a read error; a clock set back; NaN in a gradient.

What is left is a run that goes on and ends with the same bits, or nothing, so that the same command works again.
"""

import contextlib
import errno
import hashlib
import os
import resource
import shutil
import signal
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
import torch

from headway.cli import main
from headway.training.learner import Learner
from tests.end_to_end.conftest import SMALL

TRAIN = [*SMALL, "--steps", "6", "--training.validate", "3", "--seed", "5"]


class Disk:
    """Counts what changes files below a folder, or what opens them to be read, and refuses the n-th of it."""

    def __init__(self) -> None:
        self.root, self.count, self.broken, self.forever, self.code = "", 0, -1, False, errno.ENOSPC
        self.last, self.reads = "", False

    def watch(self, root: Path, broken: int = -1, forever: bool = False, code: int = errno.ENOSPC, reads: bool = False) -> None:
        self.root, self.count, self.broken, self.forever, self.code = str(root), 0, broken, forever, code
        self.reads = reads

    def __call__(self, event: str, arguments: tuple[object, ...]) -> None:
        if not self.root or event not in (("open",) if self.reads else ("open", "os.rename", "os.mkdir")):
            return
        path = arguments[0]
        if not isinstance(path, str | bytes | os.PathLike) or not os.fspath(os.fsdecode(path)).startswith(self.root):
            return
        writes = event != "open" or (isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
        if self.reads == bool(writes):
            return
        number, self.count = self.count, self.count + 1
        if number == self.broken or (self.forever and number > self.broken >= 0):
            self.last = f"{event} {path!r}"
            raise OSError(self.code, os.strerror(self.code), os.fspath(path))


DISK = Disk()
sys.addaudithook(DISK)  # a hook stays for good; it does nothing while no folder is watched


@contextlib.contextmanager
def files_up_to(size: int) -> Iterator[None]:
    """No file of this process may become longer. What is asked of the system is refused, as with `ulimit -f`."""
    before, signalled = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, signalled)


@pytest.fixture(autouse=True)
def calm() -> Iterator[None]:
    yield
    DISK.root = ""


@pytest.fixture(scope="module")
def words(corpus: Path) -> list[str]:
    return ["train", "translation", "--source", str(corpus / "a.en"), "--target", str(corpus / "a.de"), *TRAIN]


def bits(run: Path) -> str:
    return hashlib.sha256((run / "weights.safetensors").read_bytes()).hexdigest()


@pytest.fixture(scope="module")
def whole(words: list[str], tmp_path_factory: pytest.TempPathFactory) -> tuple[str, int]:
    """The weights of a run on a good disk, and how many changes of files it takes."""
    out = tmp_path_factory.mktemp("whole") / "run"
    DISK.watch(out.parent)
    assert main([*words, "--out", str(out), "--quiet"]) == 0
    return bits(out), DISK.count


def one_fault(words: list[str], out: Path, number: int, expected: str, capsys: pytest.CaptureFixture[str], *, forever: bool) -> None:
    DISK.watch(out.parent, number, forever)
    code = main([*words, "--out", str(out), "--quiet"])
    DISK.root = ""
    err = capsys.readouterr().err
    assert code in (0, 2), (number, code)
    assert code == 0 or (err.startswith("headway: error: ") and "Traceback" not in err and str(out) in err), (number, DISK.last, err)
    parts = list(out.rglob("*.part")) if out.exists() else []
    assert not parts, (number, DISK.last, parts)
    if code == 2 or not (out / "weights.safetensors").exists():
        if (out / "recipe.json").exists():
            assert main(["train", "--resume", str(out), "--quiet"]) == 0, (number, DISK.last, capsys.readouterr().err)
        else:  # nothing had begun: the same command works again
            assert main([*words, "--out", str(out), "--quiet"]) == 0, (number, DISK.last, capsys.readouterr().err)
    assert bits(out) == expected, (number, DISK.last)
    shutil.rmtree(out)


@pytest.mark.parametrize("share", [0.0, 0.15, 0.4, 0.7, 1.0])
def test_a_full_disk(words: list[str], whole: tuple[str, int], share: float, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one_fault(words, tmp_path / "run", round(share * (whole[1] - 1)), whole[0], capsys, forever=True)


@pytest.mark.parametrize("size", [0, 1_000, 20_000, 60_000])
def test_files_that_cannot_grow(
    words: list[str], whole: tuple[str, int], size: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The system itself refuses to write, as it does when the disk is full while a file is being written."""
    out = tmp_path / "run"
    with files_up_to(size):
        assert main([*words, "--out", str(out), "--quiet"]) == 2
    err = capsys.readouterr().err
    assert err.startswith("headway: error: no space left on the disk while writing") and str(out) in err and "Traceback" not in err
    assert not list(out.rglob("*.part"))
    begin = ["train", "--resume", str(out)] if (out / "recipe.json").exists() else [*words, "--out", str(out)]
    assert main([*begin, "--quiet"]) == 0 and bits(out) == whole[0]


@pytest.mark.parametrize("verb", ["train language", "data prepare"])
def test_tokens_that_cannot_be_written(verb: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, out = tmp_path / "text.txt", tmp_path / "out"
    text.write_text("".join(f"this is line {n} of a text, and {n * n} is a number\n" for n in range(4_000)))
    words = [*verb.split(), "--text", str(text), "--tokens", "characters", "--out", str(out)]
    words += ["--workers", "1"] if verb == "data prepare" else ["--steps", "1", "--model.width", "16", "--model.depth", "1", "--quiet"]
    with files_up_to(100_000):
        assert main(words) == 2
    assert "no space left on the disk while writing" in capsys.readouterr().err
    assert not list(out.rglob("*.part"))
    assert main(["train", "--resume", str(out), "--quiet"] if verb == "train language" else words) == 0


def test_a_copy_for_ctranslate2_that_cannot_be_written(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nobody asked for it: our own search translates."""
    pytest.importorskip("ctranslate2")
    with files_up_to(50_000):
        assert main(["translate", str(copy), "The man sleeps."]) == 0
        assert main(["translate", str(copy), "The man sleeps.", "--engine", "ctranslate2"]) == 2
    assert "no space left on the disk" in capsys.readouterr().err
    assert not list(copy.rglob("float32*"))


@pytest.mark.slow
@pytest.mark.parametrize("forever", [False, True])
def test_a_full_disk_at_every_write(
    words: list[str], whole: tuple[str, int], forever: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(whole[1]):
        one_fault(words, tmp_path / "run", number, whole[0], capsys, forever=forever)


def test_a_directory_that_may_not_be_written(words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    DISK.watch(tmp_path, 0, True, errno.EROFS)
    assert main([*words, "--out", str(tmp_path / "run"), "--quiet"]) == 2
    assert "read-only file system" in capsys.readouterr().err.lower()


def test_a_run_that_may_not_be_written_can_be_used(
    corpus: Path, copy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """On a read-only disk nothing that only looks is refused; what must write says so in one sentence."""
    DISK.watch(copy, 0, True, errno.EROFS)
    assert main(["translate", str(copy), "The man sleeps."]) == 0
    assert main(["evaluate", str(copy), "--source", str(corpus / "test.en"), "--target", str(corpus / "test.de")]) == 0
    assert main(["train", "--resume", str(copy)]) == 0 and "is finished" in capsys.readouterr().out
    DISK.root = ""
    (copy / "scores.json").unlink()
    DISK.watch(copy, 0, True, errno.EROFS)
    assert main(["train", "--resume", str(copy)]) == 2
    assert f"cannot write `{copy / '.lock'}`: read-only file system" in capsys.readouterr().err


# -- read errors -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def stopped(words: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that was interrupted after four of its six steps."""
    out, step, calls = tmp_path_factory.mktemp("stopped") / "run", Learner.step, iter(range(1, 100))

    def interrupted(*given: object) -> None:
        step(*given)  # type: ignore[arg-type]
        if next(calls) == 4:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Learner, "step", interrupted)
        assert main([*words, "--out", str(out), "--quiet"]) == 130
    return out


def one_read_error(words: list[str], folder: Path, out: Path, number: int, expected: str, capsys: pytest.CaptureFixture[str]) -> bool:
    """A read error at the n-th file that is opened; then all is well again. Returns whether there were so many."""
    DISK.watch(folder, number, code=errno.EIO, reads=True)
    code = main(words)
    there, DISK.root = DISK.count > number, ""
    err = capsys.readouterr().err
    assert code in (0, 2), (number, code)
    assert code == 0 or (err.startswith("headway: error: ") and "input/output error" in err.lower()), (number, DISK.last, err)
    assert "Traceback" not in err and "damaged" not in err, (number, err)
    if code == 2:
        again = ["train", "--resume", str(out), "--quiet"] if (out / "recipe.json").exists() else words
        assert main(again) == 0, (number, DISK.last, capsys.readouterr().err)
    assert bits(out) == expected, (number, DISK.last)
    return there


def read_errors(
    kind: str, numbers: Iterable[int], words: list[str], whole: str, stopped: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a run that is begun, or of one that is continued."""
    data, out = Path(shutil.copytree(Path(words[3]).parent, folder / "data")), folder / "run"
    begun = [*words[:2], "--source", str(data / "a.en"), "--target", str(data / "a.de"), *words[6:], "--out", str(out), "--quiet"]
    for number in numbers:
        shutil.rmtree(out, ignore_errors=True)
        if kind == "begun":
            there = one_read_error(begun, folder, out, number, whole, capsys)
        else:
            shutil.copytree(stopped, out)
            there = one_read_error(["train", "--resume", str(out), "--quiet"], out, out, number, whole, capsys)
        if not there:
            return


@pytest.mark.parametrize("kind, number", [("begun", 0), ("begun", 1), ("begun", 5), ("continued", 0), ("continued", 3), ("continued", 6)])
def test_a_read_error(
    kind: str, number: int, words: list[str], whole: tuple[str, int], stopped: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    read_errors(kind, [number], words, whole[0], stopped, tmp_path, capsys)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["begun", "continued"])
def test_a_read_error_at_every_file(
    kind: str, words: list[str], whole: tuple[str, int], stopped: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    read_errors(kind, range(1000), words, whole[0], stopped, tmp_path, capsys)


@pytest.mark.skipif(sys.platform != "linux", reason="what cannot be read is in /proc")
@pytest.mark.parametrize("task, option", [("translation", "--pairs"), ("language", "--text"), ("table", "--table"), ("tagging", "--conll")])
def test_a_file_that_opens_and_cannot_be_read(task: str, option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A real read error of the system: page 0 of a process is never there."""
    (tmp_path / "data.tsv").symlink_to("/proc/self/mem")
    more = ["--target", "x"] if task == "table" else []
    assert main(["train", task, option, str(tmp_path / "data.tsv"), *more, "--steps", "1", "--out", str(tmp_path / "run"), "--quiet"]) == 2
    err = capsys.readouterr().err
    assert err == f"headway: error: cannot read `/proc/{os.getpid()}/mem`: input/output error\n"
    assert not (tmp_path / "run").exists()


def test_a_clock_that_is_set_back(words: list[str], whole: tuple[str, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The time of day is no part of training: a clock that runs backwards changes nothing."""
    days = iter(range(10**6, 0, -1))
    monkeypatch.setattr(time, "time", lambda: 86_400.0 * next(days))
    assert main([*words, "--out", str(tmp_path / "run"), "--quiet"]) == 0
    assert bits(tmp_path / "run") == whole[0]


def test_nan_in_one_gradient(words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """It is noticed before the weights change: training goes back to its last checkpoint and ends with finite weights."""
    norm, calls = Learner.norm, iter(range(10**6))

    def poisoned(self: Learner) -> torch.Tensor:
        if next(calls) == 4:
            next(p for p in self.parameters if p.grad is not None).grad[0] = float("nan")  # type: ignore[index]
        return norm(self)

    monkeypatch.setattr(Learner, "norm", poisoned)
    assert main([*words, "--out", str(tmp_path / "run")]) == 0
    out = capsys.readouterr().out
    assert "diverged at step" in out and "back to step" in out
    from safetensors.torch import load_file

    assert all(torch.isfinite(t).all() for t in load_file(tmp_path / "run" / "weights.safetensors").values())
