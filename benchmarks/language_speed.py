"""Speed of language models: the training step of gpt as a share of the matrix rate, of our LSTM beside torch's, and of cached generation.

    python benchmarks/language_speed.py

gpt: width 256, 4 blocks, context 256, 4,096 tokens; the share counts the products of the model (forward and backward) against the rate
at which this machine multiplies 2048 x 1024 by 1024 x 1024, measured between the rounds. LSTM: 32 texts of 128 positions, width 256.
"""

import argparse
import time
from collections.abc import Callable

import torch
from torch import nn

from headway.core import machine
from headway.layers.cross_entropy import linear_cross_entropy
from headway.layers.recurrences.lstm import LSTM
from headway.models.gpt import GPT, Config
from headway.training.learner import Learner
from headway.training.plan import Settings

WIDTH, DEPTH, CONTEXT, ROWS, WORDS = 256, 4, 256, 16, 260


def fastest(*calls: Callable[[], object], rounds: int) -> list[float]:
    """The fastest of a few rounds, taking turns."""
    best = [float("inf")] * len(calls)
    for _ in range(rounds):
        for i, call in enumerate(calls):
            began = time.perf_counter()
            call()
            best[i] = min(best[i], time.perf_counter() - began)
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=6)
    arguments = parser.parse_args()
    machine.prepare()
    torch.manual_seed(0)
    a, b = torch.randn(2048, 1024), torch.randn(1024, 1024)
    model = GPT(Config(width=WIDTH, depth=DEPTH, heads=4, inner=4 * WIDTH, context=CONTEXT), WORDS)
    muon, adamw = Learner(model, Settings(1, 1, 1e-3)), Learner(model, Settings(1, 1, 1e-3, optimizer="adamw"))
    ids = torch.randint(0, WORDS, (ROWS, CONTEXT + 1))

    def backward() -> None:
        loss, _ = linear_cross_entropy(model(ids[:, :-1]).flatten(0, 1), model.output.weight, ids[:, 1:].flatten())
        (loss / ids.numel()).backward()

    def step(learner: Learner) -> None:
        backward()
        learner.step(1e-3, learner.norm(), 1.0, 0.9)

    ours, theirs = LSTM(WIDTH, WIDTH), nn.LSTM(WIDTH, WIDTH, batch_first=True)
    x = torch.randn(32, 128, WIDTH, requires_grad=True)
    matrix, plain, whole, mine, torchs = fastest(
        lambda: [a @ b for _ in range(10)],
        lambda: step(adamw),
        lambda: step(muon),
        lambda: ours(x).sum().backward(),
        lambda: theirs(x)[0].sum().backward(),
        rounds=arguments.rounds,
    )
    rate = 10 * 2 * 2048 * 1024 * 1024 / matrix
    tokens = ROWS * CONTEXT
    inside = DEPTH * 12 * WIDTH * WIDTH + WORDS * WIDTH
    flops = 3 * 2 * tokens * (inside + DEPTH * WIDTH * CONTEXT)  # of the scores and their use only half is computed: it is causal
    print(f"matrix rate {rate / 1e9:.0f} GFLOP/s")
    speed = f"{tokens / plain:,.0f} tokens/s, {flops / plain / rate:.2f} of the rate"
    print(f"gpt, width {WIDTH}, training step with AdamW {plain:.3f} s, {speed}")
    own = 5 * 3 * 2 * DEPTH * 12 * WIDTH**3  # the products of Muon itself: five iterations of three, on twelve squares per block
    share = f"{flops / whole / rate:.2f} of the rate ({(flops + own) / whole / rate:.2f} with Muon's own products)"
    print(f"gpt, width {WIDTH}, training step with Muon  {whole:.3f} s, {tokens / whole:,.0f} tokens/s, {share}")
    print(f"LSTM, width {WIDTH}: ours {mine:.3f} s, torch {torchs:.3f} s, {torchs / mine:.2f} times as fast")
    model.eval()
    with torch.inference_mode():
        state, times = model.start(1), []
        for _ in range(CONTEXT):
            began = time.perf_counter()
            _, state = model.step(torch.zeros(1, dtype=torch.long), state)
            times.append(time.perf_counter() - began)
    early, late = (sorted(times[i : i + 32])[16] for i in (8, CONTEXT - 32))
    print(f"generation step: {1e3 * early:.2f} ms after 24 tokens, {1e3 * late:.2f} ms after {CONTEXT - 16}")


if __name__ == "__main__":
    main()
