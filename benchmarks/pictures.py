"""Image training: this project's loop against a plain loop of torch, the same model, taking turns in one process.

    python benchmarks/pictures.py [--rounds 6] [--models cnn resnet vit]

Both train on the same random pictures (28 x 28, grey, bytes) with AdamW and batches of 128, in float32. The plain loop is
what a tutorial writes: `nn.Module` from layers of torch, a `DataLoader` over a `Dataset` that scales one picture at a
time, `AdamW`, `clip_grad_norm_`, and a running average of the weights (`torch.optim.swa_utils`). Ours is `Loop` with
`PictureBatches`. In each round each side trains for as many steps; the ratio of a round is that of the two times, and
the median over the rounds is reported: what else the machine does meets both alike.
"""

import argparse
import statistics
import time
from collections.abc import Callable, Iterator

import numpy as np
import torch
import torch.nn.functional as F
from rows import Row, append_rows
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from torch.utils.data import DataLoader, Dataset

from headway.core import machine
from headway.core.config import Choice
from headway.data.labelled_batches import PictureBatches
from headway.data.picture_frame import Frame
from headway.models.build import build_model
from headway.tasks.answers import label_loss
from headway.training.loop import Loop
from headway.training.plan import Settings

COUNT, SIDE, BATCH, CLASSES = 4096, 28, 128, 10
SIZES = {"channels": 1, "height": SIDE, "width": SIDE, "features": SIDE * SIDE, "outputs": CLASSES}


# -- the same models from layers of torch --------------------------------------------------------------------------------


def plain_cnn() -> nn.Module:
    """`cnn` as it comes."""
    return nn.Sequential(
        *(nn.Conv2d(1, 32, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(32, 64, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Flatten(), nn.Linear(64 * 7 * 7, 128), nn.ReLU(), nn.Dropout(0.1), nn.Linear(128, CLASSES)),
    )


class PlainBlock(nn.Module):
    def __init__(self, inputs: int, filters: int, stride: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.BatchNorm2d(inputs), nn.BatchNorm2d(filters)
        self.first = nn.Conv2d(inputs, filters, 3, stride, 1, bias=False)
        self.second = nn.Conv2d(filters, filters, 3, 1, 1, bias=False)
        self.shortcut = nn.Conv2d(inputs, filters, 1, stride, bias=False) if stride > 1 else None

    def forward(self, x: Tensor) -> Tensor:
        a = F.relu(self.norm1(x))
        y = self.second(F.relu(self.norm2(self.first(a))))
        return y + (x if self.shortcut is None else self.shortcut(a))


def plain_resnet() -> nn.Module:
    """`resnet` as it comes."""
    sizes = [(32, 32, 1), (32, 32, 1), (32, 64, 2), (64, 64, 1), (64, 128, 2), (128, 128, 1)]
    blocks = [PlainBlock(*size) for size in sizes]
    head = (nn.BatchNorm2d(128), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.1))
    return nn.Sequential(nn.Conv2d(1, 32, 3, padding=1, bias=False), *blocks, *head, nn.Linear(128, CLASSES))


class PlainViT(nn.Module):
    """`vit` as it comes."""

    def __init__(self) -> None:
        super().__init__()
        self.patches, self.token = nn.Conv2d(1, 64, 4, 4), nn.Parameter(torch.randn(1, 1, 64))
        self.position = nn.Parameter(torch.randn(1, 50, 64))
        layer = nn.TransformerEncoderLayer(64, 4, 128, 0.1, "gelu", batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, 6, nn.LayerNorm(64), enable_nested_tensor=False)
        self.dropout, self.head = nn.Dropout(0.1), nn.Linear(64, CLASSES)

    def forward(self, pictures: Tensor) -> Tensor:
        z = self.patches(pictures).flatten(2).transpose(1, 2)
        x = torch.cat((self.token.expand(len(z), -1, -1), z), 1) + self.position
        return self.head(self.dropout(self.encoder(self.dropout(x))[:, 0]))


PLAIN: dict[str, Callable[[], nn.Module]] = {"cnn": plain_cnn, "resnet": plain_resnet, "vit": PlainViT}


# -- the two loops -------------------------------------------------------------------------------------------------------


class Bytes(Dataset[tuple[Tensor, int]]):
    def __init__(self, images: np.ndarray, labels: np.ndarray) -> None:
        self.images, self.labels = images, labels

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, i: int) -> tuple[Tensor, int]:
        picture = torch.from_numpy(self.images[i]).permute(2, 0, 1).float() / 255
        return (picture - 0.5) / 0.3, int(self.labels[i])


def plain_steps(model: nn.Module, images: np.ndarray, labels: np.ndarray) -> Iterator[None]:
    """One step of the plain loop at each call of `next`."""
    loader = DataLoader(Bytes(images, labels), BATCH, shuffle=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
    average = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.99))
    model.train()
    while True:
        for pictures, classes in loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(pictures), classes)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            average.update_parameters(model)
            loss.item()
            yield


def our_steps(model: nn.Module, images: np.ndarray, labels: np.ndarray) -> Iterator[None]:
    frame = Frame(SIDE, SIDE, (0.5,), (0.3,))
    batches = PictureBatches(images, labels, rows=BATCH, seed=1, frame=frame)
    settings = Settings(
        steps=10**6,
        batch=BATCH,
        rate=1e-3,
        warmup=1,
        average=0.99,
        validate=10**9,
        accumulate=1,
        optimizer="adamw",
        schedule="constant",
        decay=0.01,
        clip=1.0,
        patience=None,
        minutes=None,
        epochs=None,
    )
    loop = Loop(model, batches, lambda m, batch: label_loss(m, batch, 0.0), settings, seed=1)  # type: ignore[arg-type]
    loop.learner.model.train()
    step = 0
    while True:
        loop.gradients(step)
        loop.update(step, loop.learner.norm())
        step += 1
        yield


def timed(steps: Iterator[None], count: int) -> float:
    start = time.perf_counter()
    for _ in range(count):
        next(steps)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--steps", type=int, default=4, help="of each side in a round")
    parser.add_argument("--models", nargs="+", default=list(PLAIN), choices=list(PLAIN))
    parser.add_argument("--rows", metavar="FILE", help="append the ratios to this file")
    a = parser.parse_args()
    threads = machine.prepare()
    random = np.random.default_rng(1)
    images = random.integers(0, 256, (COUNT, SIDE, SIDE, 1), dtype=np.uint8)
    labels = random.integers(0, CLASSES, COUNT)
    print(
        f"{threads} threads, batches of {BATCH} pictures of {SIDE} x {SIDE}, AdamW, {a.rounds} rounds of {a.steps} steps"
    )
    for name in a.models:
        torch.manual_seed(1)
        ours, theirs = build_model(Choice(name), SIZES), PLAIN[name]()
        counts = [sum(p.numel() for p in model.parameters()) for model in (ours, theirs)]
        assert counts[0] == counts[1], f"{name}: {counts}"
        sides = our_steps(ours, images, labels), plain_steps(theirs, images, labels)
        for side in sides:
            timed(side, 2)  # the first steps allocate
        times = [[timed(side, a.steps) for side in sides] for _ in range(a.rounds)]
        mine, plain = (BATCH * a.steps / statistics.median(t[i] for t in times) for i in (0, 1))
        ratios = [their / our for our, their in times]
        spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
        print(
            f"{name:8} {counts[0]:>8,} parameters   ours {mine:>6,.0f} examples/s   plain torch {plain:>6,.0f} examples/s"
            f"   ratio {statistics.median(ratios):.2f} ({spread})"
        )
        append_rows(a.rows, [Row(f"image training, {name}", "plain torch loop", statistics.median(ratios), least=1.2)])


if __name__ == "__main__":
    main()
