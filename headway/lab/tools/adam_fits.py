"""Small nets trained in earnest: opponents for a lower bound, so that it is not tried on straw men."""

from collections.abc import Sequence

import numpy as np

from headway.lab.pwl1d import Pwl
from headway.lab.relu_net import ReluNet, random_net


def bent_net(widths: tuple[int, ...], rng: np.random.Generator) -> ReluNet:
    """A random net of one input and these hidden widths; every unit of its first layer bends inside [0, 1]."""
    (w, _), *rest = random_net([1, *widths, 1], rng, bias=0.1).layers
    w = 4 * rng.choice([-1.0, 1.0], w.shape)
    return ReluNet(((w, -w[:, 0] * rng.random(len(w))), *rest))


def adam_fits(
    f: Pwl, starts: Sequence[ReluNet], rng: np.random.Generator, steps: int = 500, rate: float = 0.05
) -> list[ReluNet]:
    """These nets, all of one shape, after so many steps of Adam on ∫_0^1 |f - g|: each layer a stack of matrices."""
    import torch

    def stack(arrays: list[np.ndarray]) -> torch.Tensor:
        return torch.tensor(np.stack(arrays), requires_grad=True)

    every = list(zip(*(net.layers for net in starts), strict=True))
    layers = [(stack([w for w, _ in same]), stack([b[:, None] for _, b in same])) for same in every]
    optimizer = torch.optim.Adam([tensor for layer in layers for tensor in layer], lr=rate)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    for _ in range(steps):
        x = (np.arange(128) + rng.random(128)) / 128  # one random point in each of 128 cells
        h = torch.tensor(x).expand(len(starts), 1, -1)
        for w, b in layers[:-1]:
            h = (w @ h + b).relu()
        loss = (layers[-1][0] @ h + layers[-1][1] - torch.tensor(f(x))).abs().mean(dim=(1, 2)).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    arrays = [(w.detach().numpy(), b.detach().numpy()[..., 0]) for w, b in layers]
    return [ReluNet(tuple((w[k], b[k]) for w, b in arrays)) for k in range(len(starts))]
