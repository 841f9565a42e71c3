"""Damaged files of every kind that is read: one clear sentence or a correct result; no traceback, no hang, no flood of memory.

    HEADWAY_DAMAGED=10000 HEADWAY_DAMAGED_FROM=0 pytest -m slow tests/end_to_end/test_damaged_inputs.py

damages so many files in all, the same number of each kind; the damage of file n of a kind follows from n, and the first n can be chosen.
"""

import contextlib
import functools
import io
import os
import random
import shutil
import signal
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.cli import main
from headway.core.machine import peak_memory
from headway.training.learner import Learner
from tests.end_to_end import input_files as make
from tests.end_to_end.conftest import SMALL
from tests.end_to_end.mutations import damage
from tests.forked import together

SECONDS, GIBIBYTES = 10, 2.0
TOTAL, FIRST = int(os.environ.get("HEADWAY_DAMAGED", "10000")), int(os.environ.get("HEADWAY_DAMAGED_FROM", "0"))


def check(*options: str) -> Callable[[Path], list[str]]:
    return lambda path: ["data", "check", *(word.format(path=path, folder=path.parent, root=path.parents[1]) for word in options)]


INPUTS: dict[str, tuple[Callable[[Path, random.Random], Path], Callable[[Path], list[str]]]] = {
    "pairs.tsv": (make.table("\t"), check("--task", "translation", "--pairs", "{path}", "--languages", "1,2")),
    "two texts": (make.two_texts, check("--task", "translation", "--source", "{path}", "--target", "{folder}/a.de")),
    "tmx": (make.tmx, check("{path}")),
    "classification.tsv": (make.table("\t"), check("--task", "classification", "--table", "{path}")),
    "table.csv": (make.table(","), check("--task", "table", "--table", "{path}", "--target", "number")),
    "series.csv": (make.table(","), check("--task", "forecasting", "--table", "{path}", "--target", "number")),
    "jsonl": (make.jsonl, check("--task", "classification", "--table", "{path}")),
    "conll": (make.conll, check("--task", "tagging", "--conll", "{path}")),
    "questions": (make.questions, check("--task", "spans", "--jsonl", "{path}")),
    "preferences": (make.preferences, check("--task", "reward", "--preferences", "{path}")),
    "text": (make.text, check("--task", "language", "--text", "{path}")),
    "png": (make.pictures(".png"), check("--task", "images", "--folder", "{root}")),
    "jpeg": (make.pictures(".jpg"), check("--task", "images", "--folder", "{root}")),
    "boxes.csv": (make.boxes, check("--task", "detection", "--folder", "{folder}")),
    "npz": (make.npz, check("--task", "images", "--npz", "{path}")),
    "idx": (make.idx, check("--task", "images", "--idx", "{path}")),
    "edges": (make.edges, check("--task", "graphs", "--edges", "{path}", "--nodes", "{folder}/n.csv")),
}
# What has failed once: a number of 300 digits, an unknown compression, a name of 20,000 letters, a zip of version 23.7.
FOUND = (("series.csv", 178), ("npz", 393), ("tmx", 434), ("npz", 100152))
IN_RUN = (
    *("plan.json", "recipe.json", "tokenizer.json", "seen.json", "scores.json"),
    *("weights.safetensors", "checkpoint.safetensors", "metrics.jsonl"),
)
IN_SHARDS = ("index.json", "tokenizer.json", "train-00000.tokens", "validation-00000.tokens")
# Of a run that is continued; two processes write other checkpoints than one.
TO_RESUME = ((1, "checkpoint.safetensors"), (1, "metrics.jsonl"), (2, "checkpoint.json"), (2, "checkpoint_parts/*/*.safetensors"))
EACH = -(-TOTAL // (len(INPUTS) + len(IN_RUN) + len(IN_SHARDS) + len(TO_RESUME)))  # rounded up: no fewer than was asked for


class Hang(BaseException):
    """A file took too long; not an `Exception`, so that nothing on the way answers it."""


def waited() -> float:
    """The seconds in which this process could have computed, but others did: they say nothing about it."""
    path = Path("/proc/self/schedstat")
    return int(path.read_text().split()[1]) / 1e9 if path.exists() else 0.0


def peak() -> float:
    """The most memory that this process has held since `forget_peak`, in gibibytes; where the system cannot forget, since it began."""
    found = peak_memory()
    return 0.0 if found is None else found / 2**30


def forget_peak() -> None:
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


@pytest.fixture(autouse=True)
def little_memory() -> Iterator[None]:
    """All damaged files of a test together take less than the limit: what one leaves behind does not hide another."""
    forget_peak()
    before = peak()
    yield
    assert peak() - before < GIBIBYTES, "memory"


@contextlib.contextmanager
def limited() -> Iterator[None]:
    began, lost = time.monotonic(), waited()

    def stop(*_: object) -> None:
        left = SECONDS - (time.monotonic() - began) + waited() - lost
        if left < 0.01:
            raise Hang
        signal.setitimer(signal.ITIMER_REAL, left)

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def answer(words: list[str]) -> tuple[int, str]:
    """The exit code and what was printed for the person; an exception is a defect and goes through."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), warnings.catch_warnings(), limited():
        warnings.simplefilter("error")
        code = main(words)
    return code, err.getvalue()


def try_one(path: Path, data: bytes, words: list[str], name: str) -> None:
    path.write_bytes(data)
    try:
        code, err = answer(words)
    except BaseException as problem:
        raise AssertionError(f"{name}: {type(problem).__name__}: {str(problem)[:300]}") from problem
    assert code in (0, 1, 2), (name, code)
    assert code != 2 or err.startswith("headway: error: "), (name, err)
    assert "Traceback" not in err and len(err) < 5000, (name, err[:500])


def try_all(path: Path, whole: bytes, words: Callable[[], list[str]], numbers: Iterable[int], seed: str) -> None:
    for number in numbers:
        kind, data = damage(whole, random.Random(f"{seed}/{number}"))
        try_one(path, data, words(), f"{seed}, number {number} ({kind})")


# -- what a person brings --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", INPUTS)
def test_damaged_data(name: str, tmp_path: Path) -> None:
    fuzz_data(name, tmp_path, range(15))


@pytest.mark.slow
@pytest.mark.parametrize("name", INPUTS)
def test_damaged_data_many_times(name: str, tmp_path: Path) -> None:
    fuzz_data(name, tmp_path, range(FIRST, FIRST + EACH))


@pytest.mark.parametrize(("name", "number"), FOUND)
def test_damage_that_has_failed_once(name: str, number: int, tmp_path: Path) -> None:
    fuzz_data(name, tmp_path, [number])


def fuzz_data(name: str, folder: Path, numbers: Iterable[int]) -> None:
    write, words = INPUTS[name]
    path = write(folder, random.Random(name))
    whole = path.read_bytes()
    code, err = answer(words(path))
    assert code in (0, 1), err  # the whole file is read
    try_all(path, whole, lambda: words(path), numbers, name)


MARKS = ["\t", ",", "\n", "\r\n", '"', "<tu>", "</seg>", "{", "}", "[", ":", "1", "-0", "1e999", "nan", "\ufeff", "a", "ß", "\0", " "]


@functools.cache
def folder_of_one(name: str, root: Path) -> Path:
    (root / "in").mkdir()
    return INPUTS[name][0](root / "in", random.Random(name))


@pytest.mark.parametrize("name", INPUTS)
def test_anything_in_the_place_of_a_file(name: str, tmp_path: Path) -> None:
    """hypothesis draws bytes, or texts of the marks that formats are made of, and finds the shortest that fails."""

    @settings(max_examples=12)
    @given(st.one_of(st.binary(max_size=300), st.lists(st.sampled_from(MARKS), max_size=60).map(lambda found: "".join(found).encode())))
    def any_content(data: bytes) -> None:
        path = folder_of_one(name, tmp_path)
        try_one(path, data, INPUTS[name][1](path), name)

    any_content()


# -- what a run holds ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", IN_RUN)
def test_damaged_run(name: str, copy: Path) -> None:
    fuzz_run(name, copy, range(6))


@pytest.mark.slow
@pytest.mark.parametrize("name", IN_RUN)
def test_damaged_run_many_times(name: str, copy: Path) -> None:
    fuzz_run(name, copy, range(FIRST, FIRST + EACH // 2 + EACH % 2))


def fuzz_run(name: str, copy: Path, numbers: Iterable[int]) -> None:
    """What is damaged is used and resumed."""
    uses = (["translate", str(copy), "The man sleeps."], ["train", "--resume", str(copy), "--quiet"])
    backup = copy.with_name("whole")
    shutil.copytree(copy, backup)
    for use, words in enumerate(uses):
        for number in numbers:
            path = min(copy.glob(name))
            try_all(path, path.read_bytes(), lambda words=words: words, [number], f"{name}/{use}")  # type: ignore[misc]
            shutil.rmtree(copy)
            shutil.copytree(backup, copy)


def unfinished(corpus: Path, count: int, folder: Path) -> Path:
    """A run that was interrupted after four of its six steps, as so many processes trained it."""
    files = ["--source", str(corpus / "a.en"), "--target", str(corpus / "a.de")]
    words = ["train", "translation", *files, *SMALL, "--steps", "6", "--training.validate", "2", "--quiet", "--out", str(folder / "run")]

    def work() -> int:
        step, calls = Learner.step, iter(range(1, 100))

        def interrupted(*given: object) -> None:
            step(*given)  # type: ignore[arg-type]
            if next(calls) == 4:
                os.kill(os.getpid(), signal.SIGINT)

        Learner.step = interrupted  # type: ignore[method-assign, assignment]
        return main(words)

    codes, _, errors = together(count, work, folder / "texts")
    assert codes == [130] * count, errors
    return folder / "run"


@pytest.fixture(scope="module")
def stopped(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    return {count: unfinished(corpus, count, tmp_path_factory.mktemp(f"stopped-{count}")) for count in (1, 2)}


@pytest.mark.parametrize("count, name", TO_RESUME)
def test_damaged_run_that_is_not_finished(count: int, name: str, stopped: dict[int, Path], tmp_path: Path) -> None:
    fuzz_run(name, Path(shutil.copytree(stopped[count], tmp_path / "copy")), range(3))


@pytest.mark.slow
@pytest.mark.parametrize("count, name", TO_RESUME)
def test_damaged_run_that_is_not_finished_many_times(count: int, name: str, stopped: dict[int, Path], tmp_path: Path) -> None:
    fuzz_run(name, Path(shutil.copytree(stopped[count], tmp_path / "copy")), range(FIRST, FIRST + EACH // 2 + EACH % 2))


# -- shards ----------------------------------------------------------------------------------------------------------------


@pytest.fixture
def shards(tmp_path: Path) -> Path:
    path, out = make.text(tmp_path, random.Random(1)), tmp_path / "shards"
    words = ["data", "prepare", "--text", str(path), "--tokens", "characters", "--out", str(out), "--workers", "1"]
    assert answer(words)[0] == 0
    return out


def fuzz_shards(name: str, folder: Path, numbers: Iterable[int]) -> None:
    """A model is trained from what is damaged, for one step."""
    out, small = folder.with_name("run"), "--model.width 8 --model.depth 1 --model.heads 1 --context 8 --training.batch 32".split()

    def words() -> list[str]:
        shutil.rmtree(out, ignore_errors=True)
        return ["train", "language", "--text", str(folder), *small, "--steps", "1", "--quiet", "--out", str(out)]

    code, err = answer(words())
    assert code == 0, err
    try_all(folder / name, (folder / name).read_bytes(), words, numbers, f"shards/{name}")


@pytest.mark.parametrize("name", IN_SHARDS)
def test_damaged_shards(name: str, shards: Path) -> None:
    fuzz_shards(name, shards, range(6))


@pytest.mark.slow
@pytest.mark.parametrize("name", IN_SHARDS)
def test_damaged_shards_many_times(name: str, shards: Path) -> None:
    fuzz_shards(name, shards, range(FIRST, FIRST + EACH))
