"""Time a training step in float32 and in bfloat16, and print both times in seconds as JSON.

    python -P precision_probe.py THREADS

This file is run in a process of its own: a processor can announce instructions for bfloat16 that end the process with
an illegal instruction when they are used, as some virtual machines do with AMX. So it imports nothing of headway, and
needs nothing but torch.
"""

import json
import sys
import time

import torch
import torch.nn.functional as F
from torch import Tensor, nn

ROWS, LENGTH, WIDTH, HEADS, VOCABULARY = 8, 128, 256, 4, 2048
REPEATS = 5


class Step(nn.Module):
    """What a step of a small language model consists of: attention, feed-forward layer, norms, and the loss."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(VOCABULARY, WIDTH)
        self.first, self.second, self.last = (nn.LayerNorm(WIDTH) for _ in range(3))
        self.qkv, self.mix = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.words(ids[:, :-1])
        q, k, v = self.qkv(self.first(x)).unflatten(-1, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)
        x = x + self.mix(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))
        x = x + self.down(F.relu(self.up(self.second(x))))
        return F.cross_entropy(F.linear(self.last(x), self.words.weight).flatten(0, 1), ids[:, 1:].flatten())


def check_products() -> None:
    """Products in bfloat16 must not only run, but also be right to the 8 bits that they have."""
    for rows, inner, columns in ((64, 64, 64), (1000, 256, 1024), (33, 515, 77)):
        a, b = torch.randn(rows, inner), torch.randn(inner, columns)
        error = (a.bfloat16() @ b.bfloat16()).float() - a @ b
        if not error.norm() < 0.02 * (a @ b).norm():
            raise ArithmeticError("products in bfloat16 are wrong on this processor")


def seconds(model: Step, ids: Tensor, low: bool) -> float:
    """The time of one step forward and back."""
    began = time.perf_counter()
    with torch.autocast("cpu", torch.bfloat16, enabled=low):
        loss = model(ids)
    loss.backward()
    return time.perf_counter() - began


def main(threads: int) -> None:
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    check_products()
    model, ids = Step(), torch.randint(VOCABULARY, (ROWS, LENGTH + 1))
    # the first warms up
    times = [(seconds(model, ids, False), seconds(model, ids, True)) for _ in range(1 + REPEATS)][1:]
    full, low = (min(column) for column in zip(*times, strict=True))
    print(json.dumps({"float32": full, "bfloat16": low}))


if __name__ == "__main__":
    main(int(sys.argv[1]))
