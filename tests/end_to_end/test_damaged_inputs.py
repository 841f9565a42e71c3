"""Damaged files of every kind that is read: one clear sentence or a correct result; no traceback, no hang, no flood of memory."""

import contextlib
import io
import json
import random
import resource
import shutil
import signal
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from headway.cli import main
from tests.end_to_end.mutations import damage

SECONDS, GIBIBYTES = 10, 2.0
WORDS = "the old man sees a green house and sleeps near the river".split()


def rows(count: int, rng: random.Random) -> list[list[str]]:
    def sentence(words: int) -> str:
        return " ".join(rng.choices(WORDS, k=words))

    return [[sentence(6), sentence(5), f"{rng.uniform(-3, 3):.3f}", rng.choice("abc")] for _ in range(count)]


def table(separator: str) -> Callable[[Path, random.Random], Path]:
    def make(folder: Path, rng: random.Random) -> Path:
        path = folder / ("t.csv" if separator == "," else "t.tsv")
        lines = [["text", "other", "number", "label", "size"], *([*row, f"{rng.random():.3f}"] for row in rows(130, rng))]
        path.write_text("".join(separator.join(line) + "\n" for line in lines), encoding="utf-8")
        return path

    return make


def jsonl(folder: Path, rng: random.Random) -> Path:
    path = folder / "t.jsonl"
    path.write_text("".join(json.dumps({"text": a, "number": float(n), "label": c}) + "\n" for a, _, n, c in rows(40, rng)))
    return path


def tmx(folder: Path, rng: random.Random) -> Path:
    unit = '<tu><tuv xml:lang="en"><seg>{}</seg></tuv><tuv xml:lang="de"><seg>{}</seg></tuv></tu>\n'
    units = "".join(unit.format(a, b) for a, b, _, _ in rows(30, rng))
    (folder / "m.tmx").write_text(f'<?xml version="1.0"?><tmx version="1.4"><header srclang="en"/><body>{units}</body></tmx>')
    return folder / "m.tmx"


def conll(folder: Path, rng: random.Random) -> Path:
    sentences = ["\n".join(f"{w}\t{rng.choice('NVA')}" for w in a.split()) for a, *_ in rows(30, rng)]
    (folder / "t.conll").write_text("\n\n".join(sentences) + "\n")
    return folder / "t.conll"


def questions(folder: Path, rng: random.Random) -> Path:
    found = [{"context": a, "question": b, "answer": a.split()[2]} for a, b, _, _ in rows(30, rng)]
    (folder / "q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in found))
    return folder / "q.jsonl"


def preferences(folder: Path, rng: random.Random) -> Path:
    found = [{"prompt": a, "chosen": b, "rejected": c} for a, b, c, _ in rows(30, rng)]
    (folder / "p.jsonl").write_text("".join(json.dumps(row) + "\n" for row in found))
    return folder / "p.jsonl"


def text(folder: Path, rng: random.Random) -> Path:
    (folder / "c.txt").write_text("\n".join(a + ". " + b for a, b, _, _ in rows(80, rng)))
    return folder / "c.txt"


def pictures(suffix: str) -> Callable[[Path, random.Random], Path]:
    def make(folder: Path, rng: random.Random) -> Path:
        noise = np.random.default_rng(rng.randrange(99))
        for label in "ab":
            (folder / "p" / label).mkdir(parents=True, exist_ok=True)
            for i in range(4):
                Image.fromarray(noise.integers(0, 256, (12, 12, 3), dtype=np.uint8)).save(folder / "p" / label / f"{i}{suffix}")
        return folder / "p" / "a" / f"2{suffix}"

    return make


def npz(folder: Path, rng: random.Random) -> Path:
    noise = np.random.default_rng(rng.randrange(99))
    np.savez(folder / "x.npz", x_train=noise.integers(0, 256, (20, 8, 8), dtype=np.uint8), y_train=noise.integers(0, 3, 20))
    return folder / "x.npz"


def idx(folder: Path, rng: random.Random) -> Path:
    noise = np.random.default_rng(rng.randrange(99))
    for name, shape, most in (("train-images-idx3-ubyte", (20, 8, 8), 256), ("train-labels-idx1-ubyte", (20,), 3)):
        head = b"\0\0\x08" + bytes([len(shape)]) + b"".join(n.to_bytes(4, "big") for n in shape)
        (folder / name).write_bytes(head + noise.integers(0, most, shape, dtype=np.uint8).tobytes())
    return folder / "train-images-idx3-ubyte"


def edges(folder: Path, rng: random.Random) -> Path:
    (folder / "n.csv").write_text("node,x,label\n" + "".join(f"{i},{rng.random():.2f},{rng.choice('ab')}\n" for i in range(30)))
    (folder / "e.csv").write_text("source,target\n" + "".join(f"{rng.randrange(30)},{rng.randrange(30)}\n" for _ in range(60)))
    return folder / "e.csv"


def check(*options: str) -> Callable[[Path], list[str]]:
    return lambda path: ["data", "check", *(word.format(path=path, folder=path.parent, root=path.parents[1]) for word in options)]


INPUTS: dict[str, tuple[Callable[[Path, random.Random], Path], Callable[[Path], list[str]]]] = {
    "pairs.tsv": (table("\t"), check("--task", "translation", "--pairs", "{path}", "--languages", "1,2")),
    "tmx": (tmx, check("{path}")),
    "classification.tsv": (table("\t"), check("--task", "classification", "--table", "{path}")),
    "table.csv": (table(","), check("--task", "table", "--table", "{path}", "--target", "number")),
    "series.csv": (table(","), check("--task", "forecasting", "--table", "{path}", "--target", "number")),
    "jsonl": (jsonl, check("--task", "classification", "--table", "{path}")),
    "conll": (conll, check("--task", "tagging", "--conll", "{path}")),
    "questions": (questions, check("--task", "spans", "--jsonl", "{path}")),
    "preferences": (preferences, check("--task", "reward", "--preferences", "{path}")),
    "text": (text, check("--task", "language", "--text", "{path}")),
    "png": (pictures(".png"), check("--task", "images", "--folder", "{root}")),
    "jpeg": (pictures(".jpg"), check("--task", "images", "--folder", "{root}")),
    "npz": (npz, check("--task", "images", "--npz", "{path}")),
    "idx": (idx, check("--task", "images", "--idx", "{path}")),
    "edges": (edges, check("--task", "graphs", "--edges", "{path}", "--nodes", "{folder}/n.csv")),
}
# What has failed once: a number of 300 digits, an unknown compression, a name of 20,000 letters.
FOUND = (("series.csv", 178), ("npz", 393), ("tmx", 434))
IN_RUN = (
    *("plan.json", "recipe.json", "tokenizer.json", "seen.json", "scores.json"),
    *("weights.safetensors", "checkpoint.safetensors", "metrics.jsonl"),
)


class Hang(BaseException):
    """A file took too long; not an `Exception`, so that nothing on the way answers it."""


@contextlib.contextmanager
def limited() -> Iterator[None]:
    def stop(*_: object) -> None:
        raise Hang

    before, peak = signal.signal(signal.SIGALRM, stop), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak) / 2**20 < GIBIBYTES, "memory"


def answer(words: list[str]) -> tuple[int, str]:
    """The exit code and what was printed for the person; an exception is a defect and goes through."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), warnings.catch_warnings(), limited():
        warnings.simplefilter("error")
        code = main(words)
    return code, err.getvalue()


def try_all(path: Path, whole: bytes, words: Callable[[], list[str]], numbers: Iterable[int], seed: str) -> None:
    for number in numbers:
        rng = random.Random(f"{seed}/{number}")
        kind, data = damage(whole, rng)
        path.write_bytes(data)
        try:
            code, err = answer(words())
        except BaseException as problem:
            raise AssertionError(f"{seed}, number {number} ({kind}): {type(problem).__name__}: {str(problem)[:300]}") from problem
        assert code in (0, 1, 2), (seed, number, kind, code)
        assert code != 2 or err.startswith("headway: error: "), (seed, number, kind, err)
        assert "Traceback" not in err and len(err) < 5000, (seed, number, kind, err[:500])


@pytest.mark.parametrize("name", INPUTS)
def test_damaged_data(name: str, tmp_path: Path) -> None:
    fuzz_data(name, tmp_path, 15)


@pytest.mark.slow
@pytest.mark.parametrize("name", INPUTS)
def test_damaged_data_many_times(name: str, tmp_path: Path) -> None:
    fuzz_data(name, tmp_path, 500)


@pytest.mark.parametrize(("name", "number"), FOUND)
def test_damage_that_has_failed_once(name: str, number: int, tmp_path: Path) -> None:
    make, words = INPUTS[name]
    path = make(tmp_path, random.Random(name))
    try_all(path, path.read_bytes(), lambda: words(path), range(number, number + 1), name)


def fuzz_data(name: str, folder: Path, count: int) -> None:
    make, words = INPUTS[name]
    path = make(folder, random.Random(name))
    whole = path.read_bytes()
    code, err = answer(words(path))
    assert code in (0, 1), err  # the whole file is read
    try_all(path, whole, lambda: words(path), range(count), name)


@pytest.mark.parametrize("name", IN_RUN)
def test_damaged_run(name: str, copy: Path) -> None:
    fuzz_run(name, copy, 12)


@pytest.mark.slow
@pytest.mark.parametrize("name", IN_RUN)
def test_damaged_run_many_times(name: str, copy: Path) -> None:
    fuzz_run(name, copy, 350)


def fuzz_run(name: str, copy: Path, count: int) -> None:
    """What is damaged is used, resumed and evaluated."""
    whole = (copy / name).read_bytes()
    uses = (["translate", str(copy), "The man sleeps."], ["train", "--resume", str(copy), "--quiet"])
    backup = copy.with_name("whole")
    shutil.copytree(copy, backup)
    for number, words in enumerate(uses):
        try_all(copy / name, whole, lambda words=words: words, range(count // 2), f"{name}/{number}")  # type: ignore[misc]
        shutil.rmtree(copy)
        shutil.copytree(backup, copy)
