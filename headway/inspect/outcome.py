"""What one run of a comparison came to: how well it predicts, how fast it learns and writes, what it costs."""

import dataclasses
import time
from itertools import islice
from pathlib import Path

import torch
from torch.utils.flop_counter import FlopCounterMode

from headway.inspect.text_summary import judged
from headway.train.run import Run


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What one run came to."""

    model: str
    seed: int
    nats: float
    bits_per_byte: float
    parameters: int
    steps: int
    seconds: float
    training_speed: float  # tokens per second
    generation_speed: float  # tokens per second, one text at a time
    memory: float  # the most the process held, in MiB
    flops_per_token: float
    curve: list[tuple[int, float, float]]  # step, seconds, nats on held-out text
    sample: str


def outcome(name: str, seed: int, folder: Path, memory: float) -> Outcome:
    """Judge a finished run."""
    run = Run(folder)
    found, records = judged(run), run.metrics
    curve = [(r["step"], r["seconds"], r["validation"]["nats"]) for r in records if "validation" in r]
    context = run.recipe.training.context or 256
    ids = torch.zeros(1, context + 1, dtype=torch.long)
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        run.model.logits(run.model(ids[:, :-1]))
    # Kernels of recurrences hide their products from the counter; each weight is used at least once per token.
    inside = run.parameters - run.model.embedding.weight.numel()
    flops = 3 * max(counter.get_total_flops() / context, 2 * inside)
    began = time.monotonic()
    sample = "".join(islice(run.generate("\n"), 200))
    speed = 200 / (time.monotonic() - began)
    steps, seconds, batch = curve[-1][0], curve[-1][1], run.recipe.training.batch or 0
    return Outcome(
        name, seed, found.nats, found.bits_per_byte, run.parameters, steps, seconds, steps * batch / seconds,
        speed, memory, flops, curve, sample,
    )  # fmt: skip
