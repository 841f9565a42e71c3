"""Tiny Shakespeare in the time that nanoGPT's CPU configuration takes: both on this machine, one after the other.

    python benchmarks/shakespeare.py PATH/input.txt

The comparison is written here from nanoGPT's published settings (train_shakespeare_char on a CPU: 4 layers, 4 heads, 128 wide, context
64, batch 12, 2000 iterations, AdamW at 1e-3 with betas 0.9 and 0.99, weight decay 0.1 on matrices, 100 steps of warm-up, cosine to
1e-4, no dropout, GELU, layer norm without bias, tied embeddings), and includes its own evaluations. Ours is the command that a person
types, from its first second to its last, with the default recipe. Both are judged on the whole held-out tenth, in the same way.
"""

import argparse
import contextlib
import io
import json
import math
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from headway.cli import main
from headway.evaluate.language import predict

JUDGING = 0.12, 16  # share of the time, and seconds at most, left for judging the run and writing its report: all of the command counts
LAYERS, HEADS, WIDTH, CONTEXT, BATCH, STEPS = 4, 4, 128, 64, 12, 2000


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = (nn.LayerNorm(WIDTH, bias=False) for _ in range(2))
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH, bias=False), nn.Linear(WIDTH, WIDTH, bias=False)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH, bias=False), nn.Linear(4 * WIDTH, WIDTH, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        b, t, d = x.shape
        q, k, v = (y.view(b, t, HEADS, d // HEADS).transpose(1, 2) for y in self.qkv(self.first(x)).split(d, 2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(b, t, d))
        return x + self.down(F.gelu(self.up(self.second(x))))


class NanoGPT(nn.Module):
    def __init__(self, vocabulary: int) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(vocabulary, WIDTH), nn.Embedding(CONTEXT, WIDTH)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.norm = nn.LayerNorm(WIDTH, bias=False)
        self.output = self.words  # tied
        for name, p in self.named_parameters():
            if p.dim() == 2:
                nn.init.normal_(p, std=0.02 / math.sqrt(2 * LAYERS) if name.endswith(("out.weight", "down.weight")) else 0.02)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.words(ids) + self.places.weight[: ids.shape[1]]
        for layer in self.layers:
            x = layer(x)
        return self.norm(x)


def rate(step: int) -> float:
    if step < 100:
        return 1e-3 * (step + 1) / 101
    return 1e-4 + 0.5 * (1 + math.cos(math.pi * (step - 100) / (STEPS - 100))) * (1e-3 - 1e-4)


def nanogpt(train: np.ndarray, held_out: np.ndarray, vocabulary: int) -> tuple[float, float]:
    """Seconds, and nats per token on all of the held-out text."""
    torch.manual_seed(1337)
    began = time.monotonic()
    model = NanoGPT(vocabulary)
    groups = [
        {"params": [p for p in model.parameters() if p.dim() >= 2], "weight_decay": 0.1},
        {"params": [p for p in model.parameters() if p.dim() < 2], "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW(groups, lr=1e-3, betas=(0.9, 0.99))

    def batch(data: np.ndarray) -> tuple[Tensor, Tensor]:
        starts = torch.randint(len(data) - CONTEXT, (BATCH,))
        rows = torch.from_numpy(np.stack([data[i : i + CONTEXT + 1] for i in starts]).astype(np.int64))
        return rows[:, :-1], rows[:, 1:]

    def loss(data: np.ndarray) -> Tensor:
        x, y = batch(data)
        return F.cross_entropy(F.linear(model(x), model.words.weight).flatten(0, 1), y.flatten())

    for step in range(STEPS):
        if step % 250 == 0:
            with torch.no_grad():
                for data in (train, held_out):
                    for _ in range(20):
                        loss(data)
        for group in optimizer.param_groups:
            group["lr"] = rate(step)
        loss(train).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    seconds = time.monotonic() - began
    return seconds, predict(model.eval(), held_out, len(held_out) - 1, CONTEXT).nats


def ours(text: str, cut: int, seconds: float, extra: list[str]) -> tuple[float, float]:
    """Seconds of the whole command, and nats per character of all of the held-out text.

    Both learn from all of the first part: its last tenth, if it were set apart for validation, holds the beginning of the play that the
    held-out text goes on with, and its names. So we validate by the held-out text, as nanoGPT does.
    """
    with tempfile.TemporaryDirectory() as folder:
        given = {"--text": text[:cut], "--validation-text": text[cut:], "--test-text": text[cut:]}
        files = [(option, Path(folder) / f"{option.strip('-')}.txt") for option in given]
        for option, path in files:
            path.write_text(given[option])
        out, began = f"{folder}/run", time.monotonic()
        minutes = (seconds - min(JUDGING[0] * seconds, JUDGING[1])) / 60
        words = ["train", "language", "--tokens", "characters", "--minutes", f"{minutes}", "--out", out]
        words += [word for option, path in files for word in (option, str(path))] + extra
        with contextlib.redirect_stdout(io.StringIO()) as said:
            if main(words):
                raise SystemExit("training failed")
        took = time.monotonic() - began
        scores = json.loads((Path(out) / "scores.json").read_text())
        print(next(line for line in said.getvalue().split("\n") if line.startswith("model:")), flush=True)
        print(next(line for line in said.getvalue().split("\n") if line.startswith("plan:")), flush=True)
        return took, scores[0]["value"]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text")
    parser.add_argument("--seconds", type=float, help="skip nanoGPT and use this time")
    parser.add_argument("extra", nargs="*", help="further options of `headway train`, after --")
    a = parser.parse_args()
    text = Path(a.text).read_text()
    cut = int(0.9 * len(text))
    if a.seconds is None:
        ids = {c: i for i, c in enumerate(sorted(set(text)))}
        data = np.array([ids[c] for c in text], dtype=np.uint16)
        a.seconds, nats = nanogpt(data[:cut], data[cut:], len(ids))
        print(f"nanoGPT, CPU configuration: {a.seconds:6.1f} s   {nats:.4f} nats per character", flush=True)
    took, nats = ours(text, cut, a.seconds, a.extra)
    print(f"headway, default recipe:    {took:6.1f} s   {nats:.4f} nats per character", flush=True)
