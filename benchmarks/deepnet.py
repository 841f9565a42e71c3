"""A hundred post-norm layers with DeepNorm and without: does the loss fall?

    python benchmarks/deepnet.py --depth 100 --width 32 --steps 100
    python benchmarks/deepnet.py --text PATH/input.txt --width 128 --inner 512 --context 64 --batch 16 --steps 300

Without `--text` the text is made here (a random walk over a small alphabet, so that the next token has one bit of surprise); with it,
it is the characters of a file. In the first pass no window is read twice, so the loss is that of unseen text. Both models have the same
size, seed, data, optimizer (AdamW), rate and warm-up. Wang et al. 2022, https://arxiv.org/abs/2203.00555, section 3.
"""

import argparse
import math
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from headway.core import machine
from headway.core.errors import RunError
from headway.data.windows import Windows
from headway.models.gpt import GPT, Config
from headway.tasks.task import Loss
from headway.training.loop import Loop
from headway.training.plan import Settings

WORDS = 16


def walk(rows: int, length: int, seed: int) -> Tensor:
    """Each token is the one before, a step up or down: ln 2 nats cannot be avoided."""
    generator = torch.Generator().manual_seed(seed)
    steps = torch.randint(0, 2, (rows, length), generator=generator) * 2 - 1
    return (steps.cumsum(1) + torch.randint(0, WORDS, (rows, 1), generator=generator)) % WORDS


def characters(path: str) -> tuple[np.ndarray, np.ndarray]:
    """The text as numbers, and how often each of them occurs."""
    numbers, counts = np.unique(np.array(list(Path(path).read_text(encoding="utf-8"))), return_inverse=True, return_counts=True)[1:]
    return numbers.astype(np.uint16), counts


class Texts:
    """Batches of text, "b t": windows of a file, or a new random walk for every step."""

    def __init__(self, windows: Windows | None, rows: int, length: int) -> None:
        self.windows, self.rows, self.length = windows, rows, length

    def __len__(self) -> int:
        return len(self.windows) if self.windows else 1

    def __getitem__(self, number: int) -> Tensor:
        return self.windows[number].ids if self.windows else walk(self.rows, self.length, number)

    def largest(self) -> Tensor:
        return self[0]


def train(config: Config, vocabulary: int, texts: Texts, steps: int, rate: float, seed: int) -> list[float]:
    """The loss of every step; fewer than `steps` if it diverged."""
    torch.manual_seed(seed)
    losses: list[float] = []

    def loss(model: nn.Module, ids: Tensor) -> Loss:
        wanted = ids[:, 1:].flatten()
        total = F.cross_entropy(model.logits(model(ids[:, :-1])).flatten(0, 1), wanted, reduction="sum")
        if model.training:
            losses.append(float(total.detach()) / len(wanted))
        return Loss(total, total, len(wanted))

    settings = Settings(steps, texts.rows, rate, warmup=20, optimizer="adamw", schedule="constant")
    try:
        Loop(GPT(config, vocabulary), texts, loss, settings, seed).run()
    except RunError as problem:
        print(f"  {problem.message}")
    return losses


def last(losses: list[float]) -> float:
    return sum(losses[-10:]) / len(losses[-10:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--text", help="a file to read characters from; without it a random walk")
    parser.add_argument("--depth", type=int, default=100)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--inner", type=int, help="width inside the feed-forward network; without it twice the width")
    parser.add_argument("--context", type=int, default=32)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--seed", type=int, default=1)
    a = parser.parse_args()
    machine.prepare()
    if a.text:
        data, counts = characters(a.text)
        windows, vocabulary, p = Windows(data, a.context, a.batch, a.seed), len(counts), counts / counts.sum()
        known = f"uniform {math.log(vocabulary):.3f}, frequencies of the characters alone {-(p * np.log(p)).sum():.3f} nats"
    else:
        windows, vocabulary, known = None, WORDS, f"floor {math.log(2):.3f}, uniform {math.log(WORDS):.3f} nats"

    texts = Texts(windows, a.batch, a.context + 1)
    print(f"{a.depth} layers, width {a.width}, {a.steps} steps at {a.rate:g}; {known}")
    for name in ("deep", "post"):
        sizes = {"width": a.width, "depth": a.depth, "heads": 4, "inner": a.inner or 2 * a.width, "context": a.context}
        config = Config(**sizes, position="sinusoidal", score="scaled", activation="relu", residual=name)  # type: ignore[arg-type]
        began = time.monotonic()
        losses = train(config, vocabulary, texts, a.steps, a.rate, a.seed)
        figures = f"first {losses[0]:.3f}   middle {losses[len(losses) // 2]:.3f}   last ten {last(losses):.3f}"
        print(f"  {name:5} {figures}   {(time.monotonic() - began) / len(losses):.2f} s a step", flush=True)


if __name__ == "__main__":
    main()
