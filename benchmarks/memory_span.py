"""How far back Transformer-XL reads: a symbol is shown once in a stream of filler, and must be repeated ever after.

    python benchmarks/memory_span.py --layers 1,2,3

The model is `gpt` with the mixer transformer_xl, segments of 16 and a memory of 16. Without memory it is the same model, and every
segment is a stream of its own. The symbol is asked at every place behind it; accuracy is counted by the gap, the distance of the two. At
place i of a segment, counted from 0, n layers reach i + 16 n places back with memory and i without, so `bound` is the best that can be had:
the share of places in reach, and chance elsewhere. The effective context is the largest gap up to which every gap is solved (accuracy of
at least 0.95). Gradients never enter the memory: what a layer hands on, it must have learned inside a segment.
Dai et al. 2019, https://arxiv.org/abs/1901.02860, figure 2: the longest dependency is the number of layers times the length of the memory.
"""

import argparse
import time

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from headway.core import machine
from headway.core.seeds import derive
from headway.models.gpt import GPT, Config
from headway.tasks.task import Loss
from headway.training.loop import Loop
from headway.training.plan import Settings

SEGMENT = MEMORY = 16
SYMBOLS, FILL, SOLVED = 8, 8, 0.95
SHOWN, GAPS = 2 * SEGMENT, 64  # the symbol stands at one of the first places, all equally often; gaps are asked up to here
LENGTH = SHOWN + GAPS
ROWS, RATE, WARMUP = 16, 3e-3, 30
READ = {"with memory": LENGTH, "without": SEGMENT}  # places that are read in one go; nothing crosses from one to the next
SIZES = {"width": 64, "heads": 4, "inner": 128}


Streams = tuple[Tensor, Tensor, Tensor]  # the tokens, where the symbol stands in each row, and which it is


def streams(rows: int, seed: int) -> Streams:
    random = np.random.default_rng(seed)
    places, symbols = torch.from_numpy(random.permutation(rows) % SHOWN), torch.from_numpy(random.integers(SYMBOLS, size=rows))
    return torch.full((rows, LENGTH), FILL).scatter_(1, places[:, None], symbols[:, None]), places, symbols


def answers(model: GPT, ids: Tensor, places: Tensor, read: int) -> Tensor:
    """Logits at gaps 1, 2 ... 64 behind the symbol, "b t v"."""
    hidden = model(ids.unflatten(1, (-1, read)).flatten(0, 1)).unflatten(0, (len(ids), -1)).flatten(1, 2)
    behind = places[:, None] + torch.arange(1, GAPS + 1)
    return model.logits(hidden[torch.arange(len(ids))[:, None], behind])


class Batches:
    """New streams for every step, without end."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def __len__(self) -> int:
        return 1

    def __getitem__(self, number: int) -> Streams:
        return streams(ROWS, derive(self.seed, "batch", number))

    def largest(self) -> Streams:
        return self[0]


def train(layers: int, kind: str, steps: int, seed: int) -> GPT:
    torch.manual_seed(derive(seed, "weights"))
    options = {"segment": SEGMENT, "memory": MEMORY}
    model = GPT(Config(mixer="transformer_xl", depth=layers, options=options, **SIZES), SYMBOLS + 1)  # type: ignore[arg-type]

    def loss(model: GPT, batch: Streams) -> Loss:
        ids, places, symbols = batch
        wanted = symbols[:, None].expand(-1, GAPS)
        total = F.cross_entropy(answers(model, ids, places, READ[kind]).mT, wanted, reduction="sum")
        return Loss(total, total, wanted.numel())

    Loop(model, Batches(seed), loss, Settings(steps, ROWS, RATE, warmup=WARMUP), seed).run()
    return model.eval()


@torch.no_grad()
def judge(model: GPT, kind: str, seed: int) -> Tensor:
    """Accuracy at each gap, over 512 streams that were never trained on."""
    ids, places, symbols = streams(512, derive(seed, "held out"))
    return (answers(model, ids, places, READ[kind]).argmax(-1) == symbols[:, None]).float().mean(0)


def bound(layers: int, kind: str, gap: int) -> float:
    reach = torch.arange(SEGMENT) + (MEMORY * layers if kind == "with memory" else 0)
    seen = float((reach >= gap).float().mean())
    return seen + (1 - seen) / SYMBOLS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layers", default="1,2,3")
    parser.add_argument("--gaps", default="8,12,16,24,32,48,64", help="which ones the table shows")
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    a = parser.parse_args()
    machine.prepare()
    gaps = [int(g) for g in a.gaps.split(",")]
    print(f"accuracy (bound), chance {1 / SYMBOLS:.3f}; {a.steps} steps of {ROWS} streams, Muon at {RATE:g}, seed {a.seed}\n")
    print(f"| layers | | {' | '.join(f'gap {g}' for g in gaps)} | effective context | by the bound | seconds |")
    print("|---" * (len(gaps) + 5) + "|")
    for layers, kind in ((int(n), kind) for n in a.layers.split(",") for kind in READ):
        began = time.monotonic()
        found = judge(train(layers, kind, a.steps, a.seed), kind, a.seed)
        best = torch.tensor([bound(layers, kind, g) for g in range(1, GAPS + 1)])
        figures = " | ".join(f"{found[g - 1]:.3f} ({best[g - 1]:.3f})" for g in gaps)
        spans = " | ".join(str(int((x >= SOLVED).long().cumprod(0).sum())) for x in (found, best))
        print(f"| {layers} | {kind} | {figures} | {spans} | {time.monotonic() - began:.0f} |", flush=True)


if __name__ == "__main__":
    main()
