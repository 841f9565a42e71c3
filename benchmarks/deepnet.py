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
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from headway.core import machine
from headway.data.windows import Windows
from headway.models.gpt import GPT, Config

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


def train(config: Config, vocabulary: int, batch: Callable[[int], Tensor], steps: int, rate: float, seed: int) -> list[float]:
    torch.manual_seed(seed)
    model = GPT(config, vocabulary)
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, fused=True)
    losses = []
    for step in range(steps):
        optimizer.param_groups[0]["lr"] = rate * min(1.0, (step + 1) / 20)
        ids = batch(step)
        loss = F.cross_entropy(model.logits(model(ids[:, :-1])).flatten(0, 1), ids[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(float(loss.detach()))
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

    def batch(step: int) -> Tensor:
        return windows[step].ids if windows else walk(a.batch, a.context + 1, step)

    print(f"{a.depth} layers, width {a.width}, {a.steps} steps at {a.rate:g}; {known}")
    for name in ("deep", "post"):
        sizes = {"width": a.width, "depth": a.depth, "heads": 4, "inner": a.inner or 2 * a.width, "context": a.context}
        config = Config(**sizes, position="sinusoidal", score="scaled", activation="relu", residual=name)  # type: ignore[arg-type]
        began = time.monotonic()
        losses = train(config, vocabulary, batch, a.steps, a.rate, a.seed)
        figures = f"first {losses[0]:.3f}   middle {losses[len(losses) // 2]:.3f}   last ten {last(losses):.3f}"
        print(f"  {name:5} {figures}   {(time.monotonic() - began) / a.steps:.2f} s a step", flush=True)


if __name__ == "__main__":
    main()
