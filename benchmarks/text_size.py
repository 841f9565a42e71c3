"""Memory against the size of a text: `headway data prepare`, and 20 steps of training from the shards it makes.

    python benchmarks/text_size.py --megabytes 20 200 2000 --out docs/figures

The text is made of 5,000 made words, drawn by Zipf's law: 64 chapters of a megabyte, repeated in random order up to the size. While a
command runs, /proc is read ten times a second. "Own" memory is what the processes have for themselves (RssAnon): of `prepare` the sum
over the process that reads and those that tokenize. "Resident" (RSS) also counts pages of mapped files and libraries, which the system
gives up when memory is wanted, once for each process. Everything is made in a temporary folder and deleted.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

CHAPTERS, MEGABYTE = 64, 1_000_000
LETTERS = np.array(list("etaoinshrdlucmfwypvbgkjqxz"))
NAMES = ("prepare, own", "prepare, resident", "training, own", "training, resident")
SMALL = {"width": 64, "depth": 2}  # of the model


def write_text(path: Path, megabytes: int, seed: int = 1) -> None:
    """Words by Zipf's law, twelve in a line, in chapters; a chapter is repeated at random places."""
    random = np.random.default_rng(seed)
    words = np.array(["".join(random.choice(LETTERS, size=n)) for n in random.integers(2, 10, size=5000)])
    share = 1 / np.arange(1, 5001)
    chapters = []
    for _ in range(min(CHAPTERS, megabytes)):
        rows = random.choice(words, size=(MEGABYTE // 70, 12), p=share / share.sum())
        text = "\n".join(" ".join(row) for row in rows.tolist()) + "\n"
        chapters.append((text * 2)[:MEGABYTE].encode())
    with open(path, "wb") as file:
        for number in range(megabytes):
            file.write(chapters[number if number < len(chapters) else int(random.integers(len(chapters)))])


def memory(pid: int) -> tuple[int, int]:
    """The own and the resident memory of a process and its children, in kilobytes."""
    own = resident = 0
    try:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith(("RssAnon:", "VmRSS:")):
                value = int(line.split()[1])
                own, resident = (own + value, resident) if line.startswith("RssAnon") else (own, resident + value)
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:  # it has just ended
        return own, resident
    for child in children:
        more = memory(int(child))
        own, resident = own + more[0], resident + more[1]
    return own, resident


def peak(words: list[str]) -> tuple[float, float, float]:
    """The largest own and resident memory of a command in megabytes, and its seconds."""
    began, own, resident = time.monotonic(), 0, 0
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    while process.poll() is None:
        now = memory(process.pid)
        own, resident = max(own, now[0]), max(resident, now[1])
        time.sleep(0.1)
    if process.returncode:
        raise SystemExit(f"failed: {' '.join(words)}")
    return own / 1000, resident / 1000, time.monotonic() - began


def train(shards: str, out: str) -> None:
    """20 steps, without the judging at the end."""
    from headway.core.config import Choice
    from headway.tasks.language import Data
    from headway.tasks.recipe import Recipe, Training
    from headway.training.progress import Progress
    from headway.training.session import start

    budget = Training(steps=20, batch=1024, validate=20)
    recipe = Recipe("language", Data(text=shards, context=128), Choice("gpt", dict(SMALL)), budget, 1)
    start(recipe, Path(out), Progress(quiet=True))


def measure(megabytes: int, tokens: str, workers: int, folder: Path) -> dict[str, float]:
    text, shards, run = folder / "text.txt", folder / "shards", folder / "run"
    write_text(text, megabytes)
    options = ["--tokens", tokens, "--workers", str(workers)]
    made = peak([sys.executable, "-m", "headway", "data", "prepare", "--text", str(text), "--out", str(shards), *options])
    trained = peak([sys.executable, __file__, "--train", str(shards), str(run)])
    return {"megabytes": megabytes} | dict(zip(NAMES, (*made[:2], *trained[:2]), strict=True)) | {
        "prepare, seconds": made[2], "training, seconds": trained[2]
    }  # fmt: skip


def table(rows: list[dict[str, float]]) -> str:
    lines = [f"| text | {' | '.join(NAMES)} | seconds of both |", "|---" * 6 + "|"]
    for row in rows:
        seconds = f"{row['prepare, seconds']:.0f} and {row['training, seconds']:.0f}"
        lines.append(f"| {row['megabytes']:,} MB | {' | '.join(f'{row[name]:.0f} MB' for name in NAMES)} | {seconds} |")
    return "\n".join(lines)


def plot(rows: list[dict[str, float]], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    with plt.rc_context({"svg.hashsalt": "headway", "font.size": 10, "axes.spines.top": False, "axes.spines.right": False}):
        figure, axis = plt.subplots(figsize=(6, 3.8), layout="constrained")
        for name, marker in zip(NAMES, "osv^", strict=True):
            axis.plot([row["megabytes"] for row in rows], [row[name] for row in rows], marker=marker, ms=4, lw=1.2, label=name)
        axis.set(xscale="log", xlabel="megabytes of text", ylabel="megabytes of memory at the peak", ylim=(0, None))
        axis.grid(alpha=0.3)
        figure.legend(loc="outside lower center", ncols=2, frameon=False)
        figure.savefig(path, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, nargs="+", default=[20, 200, 2000])
    parser.add_argument("--tokens", default="bpe", help="the kind of tokenizer")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", default=".", help="where text_size.json and text_size.svg go; sizes measured before are kept")
    parser.add_argument("--train", nargs=2, help=argparse.SUPPRESS)
    a = parser.parse_args()
    if a.train:
        train(*a.train)
        return
    path = Path(a.out) / "text_size.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = {row["megabytes"]: row for row in (json.loads(path.read_text()) if path.exists() else [])}
    for size in a.megabytes:
        with TemporaryDirectory() as folder:
            rows[size] = measure(size, a.tokens, a.workers, Path(folder))
        found = [rows[size] for size in sorted(rows)]
        path.write_text(json.dumps(found, indent=2) + "\n")
        print(table(found), flush=True)
        plot(found, path.with_suffix(".svg"))


if __name__ == "__main__":
    main()
