"""Memory and open files of a long training with validations and checkpoints: do they stay the same?

    python benchmarks/soak.py --minutes 60 --out docs/figures

A translation model is trained on the embedded grammar in a process of its own, with a validation every few seconds and four checkpoints
between two of them. Every few seconds /proc says how much memory the process has for itself (RssAnon), how much is resident (VmRSS) and
how many files it has open. After the first fifth, in which buffers grow to their size, a line is fitted to each; its standard error
allows for measurements that follow each other closely being alike (the mean of blocks, not of single measurements, is fitted). Memory is
called flat if its slope is within two standard errors of zero, or below one megabyte per hour; open files if they never grow.
"""

import argparse
import csv
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

COLUMNS = ("seconds", "own memory (MB)", "resident memory (MB)", "open files", "step")
BLOCKS = 20  # means that the line is fitted to
LARGEST = 1.0  # megabytes per hour that nobody would notice


def train(out: str) -> None:
    from headway.cli import main

    model = "--model.width 32 --model.depth 2 --model.heads 2 --model.inner 64 --training.batch 1000".split()
    words = ["train", "translation", "--grammar", "5000", *model, "--steps", "10000000", "--training.validate", "40"]
    words += ["--training.patience", "1000000", "--quiet", "--out", out]  # it ends when it is told to
    raise SystemExit(main(words))


def sample(pid: int, run: Path, began: float) -> list[float] | None:
    """One row of the table, or None if the process has ended."""
    try:
        status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
        kept = [1024 * int(status[name].split()[0]) / 1e6 for name in ("RssAnon", "VmRSS")]
        files = len(os.listdir(f"/proc/{pid}/fd"))
    except (OSError, KeyError):
        return None
    return [time.monotonic() - began, *kept, files, last_step(run / "metrics.jsonl")]


def last_step(path: Path) -> int:
    """The step of the last whole record."""
    lines = path.read_bytes()[-100_000:].split(b"\n") if path.exists() else []
    found = [line for line in lines[:-1] if line.startswith(b'{"step": ')]
    return int(found[-1].split(b",")[0].split(b" ")[1]) if found else 0


def measure(minutes: float, every: float, path: Path) -> list[list[float]]:
    rows: list[list[float]] = []
    with TemporaryDirectory() as folder, open(path, "w", newline="") as file:
        table, run = csv.writer(file, lineterminator="\n"), Path(folder) / "run"
        table.writerow(COLUMNS)
        process, began = subprocess.Popen([sys.executable, __file__, "--train", str(run)]), time.monotonic()
        try:
            while time.monotonic() - began < 60 * minutes:
                time.sleep(every)
                row = sample(process.pid, run, began)
                if process.poll() is not None or row is None:
                    raise SystemExit(f"training ended with code {process.poll()}")
                if row[4]:  # steps are being done
                    rows.append(row)
                    table.writerow([f"{value:.3f}".rstrip("0").rstrip(".") for value in row])
                    file.flush()
        finally:
            process.send_signal(signal.SIGINT)
            code = process.wait(600)  # a busy machine takes its time
        if code != 130 or not (run / "weights.safetensors").exists():
            raise SystemExit(f"the interrupted training ended with code {code}")
    return rows


def slope(seconds: np.ndarray, values: np.ndarray) -> tuple[float, float]:
    """The slope per hour and its standard error, of a line through the means of equal blocks."""
    parts = [part for part in np.array_split(np.arange(len(values)), BLOCKS) if len(part)]
    x, y = (np.array([v[part].mean() for part in parts]) for v in (seconds / 3600, values))
    centred = x - x.mean()
    found = float(centred @ y / (centred @ centred))
    rest = y - y.mean() - found * centred
    return found, float(np.sqrt(rest @ rest / max(1, len(x) - 2) / (centred @ centred)))


def verdict(rows: list[list[float]]) -> tuple[str, bool]:
    data = np.array(rows)
    late = data[data[:, 0] >= data[0, 0] + 0.2 * (data[-1, 0] - data[0, 0])]
    if len(late) < 2 * BLOCKS:
        return f"{len(late)} measurements are too few for a slope", False
    lines, flat = [], True
    for column in (1, 2):
        found, error = slope(late[:, 0], late[:, column])
        same = abs(found) <= 2 * error or abs(found) < LARGEST
        flat &= same or found < 0
        first, last = late[: len(late) // BLOCKS, column].mean(), late[-(len(late) // BLOCKS) :, column].mean()
        told = "flat" if same else "falls" if found < 0 else "GROWS"
        lines.append(f"{COLUMNS[column]}: {first:.1f} -> {last:.1f}, slope {found:+.2f} +- {error:.2f} MB per hour: {told}")
    middle = len(late) // 2
    before, after = late[:middle, 3].max(), late[middle:, 3].max()
    flat &= after <= before
    lines.append(f"open files: at most {before:.0f}, then at most {after:.0f}: {'flat' if after <= before else 'GROWS'}")
    lines.append(f"{data[-1, 4]:,.0f} steps in {data[-1, 0] / 60:.1f} minutes, {len(rows):,} measurements")
    return "\n".join(lines), flat


def plot(rows: list[list[float]], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    data = np.array(rows)
    with plt.rc_context({"svg.hashsalt": "headway", "font.size": 10, "axes.spines.top": False, "axes.spines.right": False}):
        figure, (memory, files) = plt.subplots(2, 1, figsize=(6, 4.6), sharex=True, layout="constrained", height_ratios=(2, 1))
        for column in (1, 2):
            memory.plot(data[:, 0] / 60, data[:, column], lw=1.2, label=COLUMNS[column])
        memory.set(ylabel="megabytes", ylim=(0, None))
        memory.legend(loc="lower right", frameon=False)
        files.plot(data[:, 0] / 60, data[:, 3], lw=1.2)
        files.set(xlabel="minutes of training", ylabel="open files", ylim=(0, None))
        for axis in (memory, files):
            axis.grid(alpha=0.3)
        figure.savefig(path, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--every", type=float, default=2.0, help="seconds between two measurements")
    parser.add_argument("--out", default=".", help="where soak.csv and soak.svg go")
    parser.add_argument("--train", help=argparse.SUPPRESS)
    a = parser.parse_args()
    if a.train:
        train(a.train)
    Path(a.out).mkdir(parents=True, exist_ok=True)
    rows = measure(a.minutes, a.every, Path(a.out) / "soak.csv")
    plot(rows, Path(a.out) / "soak.svg")
    text, flat = verdict(rows)
    print(text)
    raise SystemExit(0 if flat else 1)


if __name__ == "__main__":
    main()
