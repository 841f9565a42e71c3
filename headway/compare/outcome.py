"""What one run of a comparison came to: how well it predicts, how fast it learns and writes, what it costs."""

import dataclasses
import time
from itertools import islice
from pathlib import Path

import torch
from headway.inspect.text_summary import judged
from headway.train.run import Run

from headway.inspect.cost import cost


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
    context = run.task.context
    price = cost(run.model, torch.zeros(1, context, dtype=torch.long), per=context)
    began = time.monotonic()
    sample = "".join(islice(run.generate("\n"), 200))
    speed = 200 / (time.monotonic() - began)
    steps, seconds, batch = curve[-1][0], curve[-1][1], run.recipe.training.batch or 0
    return Outcome(
        name, seed, found.nats, found.bits_per_byte, price.parameters, steps, seconds, steps * batch / seconds,
        speed, memory, price.training, curve, sample,
    )  # fmt: skip
