"""Positions beyond the length of training: nats per character against the place in windows four times as long.

    python benchmarks/extrapolation.py PATH/input.txt --out docs/figures

The same gpt five times (sizes, seed, batches and rates), each time with another `position`, learns the first 90 % of a text in windows
of 64 characters. Then it reads the last tenth in windows of 256 that lie side by side, in two ways: looking back as far as the window goes,
so that places and distances are new to it; and looking back at 64 characters at most, as `context` 64 does, so that only places are new.
The learned table has 256 rows, of which training reaches 64; what a table of 64 rows says to 256 characters is printed at the end.
"""

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from headway.core import machine
from headway.core.errors import UsageError
from headway.core.seeds import derive
from headway.data.windows import WindowBatch, Windows
from headway.layers.cross_entropy import linear_cross_entropy
from headway.layers.masks import Causal, Window
from headway.models.gpt import GPT, Config
from headway.tasks.task import Loss
from headway.training.loop import Loop
from headway.training.plan import Settings

POSITIONS = ("sinusoidal", "learned", "rotary", "alibi", "relative")
TRAINED, READ = 64, 256
SIZES: dict[str, Any] = {"width": 96, "depth": 3, "heads": 4, "inner": 384}
ROWS, RATE, WARMUP = 16, 8e-3, 40  # windows of a batch; the highest rate of Muon; steps until it is reached
BIN = 8  # places that make one point of the plot


def encoded(path: str) -> tuple[np.ndarray, int]:
    text = Path(path).read_text(encoding="utf-8")
    numbers = {c: i for i, c in enumerate(sorted(set(text)))}
    return np.array([numbers[c] for c in text], dtype=np.uint16), len(numbers)


def loss(model: GPT, batch: WindowBatch) -> Loss:
    wanted = batch.ids[:, 1:].flatten()
    hidden = model(batch.ids[:, :-1]).flatten(0, 1)
    return Loss(*linear_cross_entropy(hidden, model.output.weight, wanted), len(wanted))


def train(position: str, data: np.ndarray, vocabulary: int, steps: int, seed: int) -> GPT:
    torch.manual_seed(derive(seed, "weights"))
    model = GPT(Config(context=READ, position=position, **SIZES), vocabulary)  # type: ignore[arg-type]
    Loop(model, Windows(data, TRAINED, ROWS, seed), loss, Settings(steps, ROWS, RATE, warmup=WARMUP), seed).run()
    return model.eval()


@torch.inference_mode()
def judge(model: GPT, data: np.ndarray, back: int) -> Tensor:
    """Nats of every character, "b t": the place in the window is the column. Attention looks at `back` characters at most."""
    for block in model.blocks:
        block.mixer.mask = Causal() & Window(back)
    rows = Windows(data, READ, 1, 0).at(np.arange(0, len(data) - READ, READ)).ids
    found = [F.cross_entropy(model.logits(model(r[:, :-1])).mT, r[:, 1:], reduction="none") for r in rows.split(32)]
    return torch.cat(found)


def quarters(nats: Tensor) -> tuple[Tensor, Tensor]:
    """Means of places 1 to 64, 65 to 128 and so on, and the largest of their standard errors over windows."""
    each = nats.unflatten(1, (-1, TRAINED)).mean(2)
    return each.mean(0), each.std(0).max() / len(each) ** 0.5


def table(results: dict[str, Tensor]) -> str:
    places = [f"{a + 1} to {a + TRAINED}" for a in range(0, READ, TRAINED)]
    lines = [f"| position | {' | '.join(places)} | standard error |", "|---" * (len(places) + 2) + "|"]
    for name, nats in results.items():
        means, error = quarters(nats)
        lines.append(f"| {name} | {' | '.join(f'{m:.3f}' for m in means)} | {error:.3f} |")
    return "\n".join(lines)


def plot(found: dict[int, dict[str, Tensor]], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    titles = {READ: "attention over the whole window", TRAINED: f"attention over the last {TRAINED} characters"}
    with plt.rc_context({"svg.hashsalt": "headway", "font.size": 10, "axes.spines.top": False, "axes.spines.right": False}):
        figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained", sharey=True)
        for axis, (back, results) in zip(axes, found.items(), strict=True):
            for (name, nats), marker in zip(results.items(), "osv^D", strict=True):
                y = nats.mean(0).unflatten(0, (-1, BIN)).mean(1)
                axis.plot(np.arange(len(y)) * BIN + (BIN + 1) / 2, y, marker=marker, ms=3, lw=1.2, label=name)
            axis.axvline(TRAINED + 0.5, color="0.5", lw=1, ls="--")
            axis.set(title=titles[back], xlabel=f"place in the window (trained up to {TRAINED})", xticks=range(0, READ + 1, TRAINED))
            axis.grid(alpha=0.3)
        axes[0].set_ylabel("nats per character")
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=5, frameon=False)
        figure.savefig(path, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text")
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", default=".", help="where extrapolation.svg goes")
    a = parser.parse_args()
    machine.prepare()
    data, vocabulary = encoded(a.text)
    cut = int(0.9 * len(data))
    found: dict[int, dict[str, Tensor]] = {READ: {}, TRAINED: {}}
    for name in POSITIONS:
        began = time.monotonic()
        model = train(name, data[:cut], vocabulary, a.steps, a.seed)
        for back, results in found.items():
            results[name] = judge(model, data[cut:], back)
        print(f"{name}: {a.steps} steps of {ROWS} x {TRAINED} characters in {time.monotonic() - began:.0f} s", flush=True)
    for back, results in found.items():
        print(f"\nnats per character, looking back at {back} characters at most\n\n{table(results)}")
    plot(found, Path(a.out) / "extrapolation.svg")
    try:
        GPT(Config(context=TRAINED, position="learned", **SIZES), vocabulary)(torch.zeros(1, READ, dtype=torch.long))
    except UsageError as problem:
        print(f"\na learned table of {TRAINED} rows: {problem}")


if __name__ == "__main__":
    main()
