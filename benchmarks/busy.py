"""How fast a training is beside a program that needs a core for itself: one that ran before it, and one that begins later.

    python benchmarks/busy.py

A translation model of width 256 is trained in a process of its own with as many threads as there are cores. Its steps are counted while
nothing else runs and while a loop keeps one core busy. Of two cores, one and a half are a fair share, and threads that wait for each
other in every operation get less of it than one would; a quarter of the speed is what spinning threads had (docs/findings.md).
"""

import argparse
import contextlib
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from rows import Row, append_rows
from soak import last_step

from headway.data.grammar.corpus import generate

SETTLED, COUNTED = 8.0, 15.0  # seconds until the threads have noticed, and seconds in which steps are counted


@contextlib.contextmanager
def running(command: list[str]) -> Iterator[None]:
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()


def training(out: Path) -> list[str]:
    """A training whose validations take no time: they are of four pairs."""
    for name, count in (("train", 5000), ("validation", 4), ("test", 4)):
        lines = [f"{pair.source}\t{pair.target}\n" for pair in generate(count, "train", len(name))]
        out.with_name(f"{name}.tsv").write_text("".join(lines))
    words = "--model.width 256 --model.depth 3 --model.heads 4 --model.inner 1024 --tokens bpe --training.batch 2048"
    words += " --training.validate 40 --training.patience 1000000 --steps 1000000 --quiet --anyway --out"
    files = [f"--{part}pairs={out.with_name(name)}.tsv" for part, name in (("", "train"), ("validation-", "validation"), ("test-", "test"))]
    return [sys.executable, "-m", "headway", "train", "translation", *files, *words.split(), str(out)]


def busy() -> list[str]:
    return [sys.executable, "-c", "while True: pass"]


def rate(run: Path) -> float:
    """Steps per second, from now on."""
    while not last_step(run / "metrics.jsonl"):
        time.sleep(0.1)
    time.sleep(SETTLED)
    first, began = last_step(run / "metrics.jsonl"), time.monotonic()
    time.sleep(COUNTED)
    return (last_step(run / "metrics.jsonl") - first) / (time.monotonic() - began)


def one_round() -> tuple[float, float]:
    """The speed beside a program that begins later, and beside one that ran before, as shares of that of a quiet machine."""
    with TemporaryDirectory() as folder:
        run, other = Path(folder) / "later", Path(folder) / "before"
        with running(training(run)):
            alone = rate(run)
            with running(busy()):
                later = rate(run)
        with running(busy()), running(training(other)):
            return later / alone, rate(other) / alone


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rows", help="append the ratios to this file (see performance.py)")
    a = parser.parse_args()
    found = [one_round() for _ in range(a.rounds)]
    rows = []
    for name, shares in zip(("later", "before"), zip(*found, strict=True), strict=True):
        print(f"a busy program that began {name}: {', '.join(f'{share:.2f}' for share in shares)} of the speed without it")
        rows.append(Row(f"training step beside a busy program that began {name}", "alone", median(shares), least=0.4))
    append_rows(a.rows, rows)


if __name__ == "__main__":
    main()
