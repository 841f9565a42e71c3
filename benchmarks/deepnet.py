"""A hundred post-norm layers with DeepNorm and without: does the loss fall?

    python benchmarks/deepnet.py --depth 100 --steps 200

The text is made here (a random walk over a small alphabet, so that the next token has one bit of surprise); both models have the same
size, seed, data, optimizer (AdamW), rate and warm-up. Wang et al. 2022, https://arxiv.org/abs/2203.00555, section 3.
"""

import argparse
import math

import torch
import torch.nn.functional as F
from torch import Tensor

from headway.core import machine
from headway.models.gpt import GPT, Config

WORDS = 16


def text(rows: int, length: int, seed: int) -> Tensor:
    """Each token is the one before, a step up or down: ln 2 nats cannot be avoided."""
    generator = torch.Generator().manual_seed(seed)
    steps = torch.randint(0, 2, (rows, length), generator=generator) * 2 - 1
    return (steps.cumsum(1) + torch.randint(0, WORDS, (rows, 1), generator=generator)) % WORDS


def train(residual: str, depth: int, width: int, steps: int, rate: float) -> list[float]:
    torch.manual_seed(1)
    options = {"position": "sinusoidal", "score": "scaled", "activation": "relu", "residual": residual}
    model = GPT(Config(width=width, depth=depth, heads=4, inner=2 * width, context=64, **options), WORDS)
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate)
    losses = []
    for step in range(steps):
        optimizer.param_groups[0]["lr"] = rate * min(1.0, (step + 1) / 20)
        ids = text(8, 33, step)
        loss = F.cross_entropy(model.logits(model(ids[:, :-1])).flatten(0, 1), ids[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(float(loss.detach()))
    return losses


def last(losses: list[float]) -> float:
    return sum(losses[-10:]) / 10


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--depth", type=int, default=100)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--rate", type=float, default=1e-3)
    a = parser.parse_args()
    machine.prepare()
    print(f"{a.depth} layers, width {a.width}, {a.steps} steps at {a.rate:g}; floor {math.log(2):.3f}, uniform {math.log(WORDS):.3f} nats")
    for name in ("deep", "post"):
        losses = train(name, a.depth, a.width, a.steps, a.rate)
        print(f"  {name:5} first {losses[0]:.3f}   middle {losses[len(losses) // 2]:.3f}   last ten {last(losses):.3f}", flush=True)
