"""One sentence from a cold shell: `headway translate RUN "..."` beside `python -c "import torch"`.

    python benchmarks/start_up.py

The run is a translation model of width 256 that was trained for one step. Both commands take turns; medians over the rounds after
a first one, which reads the disk; seconds of the clock, which the aim is for, and of the processor.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from rows import Row, append_rows

MODEL = ["--model.width", "256", "--model.depth", "3", "--model.inner", "1024"]


def seconds(words: list[str]) -> tuple[float, float]:
    """Of the clock, and of the processor: what else the machine does is in the first only."""
    began, before = time.perf_counter(), os.times()
    subprocess.run(words, check=True, capture_output=True)
    after = os.times()
    processor = after.children_user - before.children_user + after.children_system - before.children_system
    return time.perf_counter() - began, processor


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--rows", metavar="FILE", help="append the ratio to this file")
    a = parser.parse_args()
    headway = [sys.executable, "-m", "headway"]
    with tempfile.TemporaryDirectory() as folder:
        source, run = Path(folder) / "pairs.tsv", str(Path(folder) / "run")
        source.write_text("".join(f"a line of number {i}\teine Zeile der Nummer {i}\n" for i in range(2000)))
        seconds([*headway, "train", "translation", "--pairs", str(source), "--steps", "1", *MODEL, "--out", run])
        commands = {
            "import torch": [sys.executable, "-c", "import torch"],
            "headway translate": [*headway, "translate", run, "a line of number 7", "--engine", "torch"],
        }
        times: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
        for _ in range(a.rounds + 1):
            for name, words in commands.items():
                times[name].append(seconds(words))
    ratios = []
    for place, kind in enumerate(("clock", "processor")):
        found = {name: median(t[place] for t in every[1:]) for name, every in times.items()}
        ratios.append(found["headway translate"] / found["import torch"])
        print(f"{kind}: " + ", ".join(f"{name} {t:.2f} s" for name, t in found.items()) + f": {ratios[-1]:.2f} times")
    append_rows(a.rows, [Row("one sentence from a cold shell (time)", "import torch", ratios[0], most=1.5)])


if __name__ == "__main__":
    main()
