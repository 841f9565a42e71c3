"""Gradients through depth and through time.

    depth   |dL/dh_l| for the output h_l of every layer l: the product of the Jacobians of the layers above it
    time    |dy_T/dx_t| (Frobenius): how much the last output still depends on the input k = T - t positions before

The norm of the Jacobian is E|J^T v|^2 over Gaussian v. A product of factors that differ from 1 vanishes or explodes.
Bengio, Simard, Frasconi 1994, https://doi.org/10.1109/72.279181; lectures C and E.
"""

import math

import numpy as np
import torch

from headway.models.encoder_decoder import EncoderDecoder
from headway.probe.finding import Finding, NotApplicableError
from headway.probe.subject import Subject
from headway.tasks.panels import Mark, Plot

ROWS, DRAWS = 32, 4


def gradient_depth(subject: Subject) -> Finding:
    seen = subject.run(subject.few(ROWS), lambda x: x.detach().requires_grad_(True))
    named = {"input": seen.x, **seen.layers}
    used = [name for name, value in named.items() if value.requires_grad]
    if len(used) < 2:
        raise NotApplicableError("the model has no layers between its input and its loss")
    grads = torch.autograd.grad(seen.mean_loss, [named[n] for n in used], allow_unused=True)
    norms = {n: float(g.norm()) for n, g in zip(used, grads, strict=True) if g is not None}
    norms = {n: v for n, v in norms.items() if v > 0}
    if len(norms) < 2:
        raise NotApplicableError("the loss of these examples has no gradient: it does not change with the layers")
    names, values = list(norms), list(norms.values())
    ratio = values[0] / values[-1]
    how = "grows" if ratio > 10 else "vanishes" if ratio < 0.1 else "stays within a factor of ten"
    reading = f"From the last layer back to the input the gradient {how}: its norm changes by a factor of {ratio:.3g}."
    logs = [math.log10(v) for v in values]
    marks = (Mark("line", range(len(logs)), logs), Mark("points", range(len(logs)), logs, labels=names))
    plot = Plot("Gradient of the loss at each layer", marks, "layer (0: input)", "log10 of the norm")
    basis = f"backpropagation through the mean loss of {len(seen.x)} rows"
    return Finding(reading, "exact", basis, {f"norm/{n}": v for n, v in norms.items()}, (plot,))


def gradient_time(subject: Subject) -> Finding:
    batch = subject.few(ROWS)
    if isinstance(subject.model, EncoderDecoder):
        raise NotApplicableError("input and output are two sequences: their positions cannot be compared")
    seen = subject.run(batch, lambda x: x.detach().requires_grad_(True))
    x, y = seen.x, seen.y
    if x.ndim != 3 or x.shape[1] < 3 or len(y) != len(x) or (y.ndim == 3 and y.shape[1] != x.shape[1]):
        raise NotApplicableError("the model does not read a sequence of positions")
    mask = subject.mask(batch, x)
    length = torch.full((len(x),), x.shape[1]) if mask is None else mask.sum(1)
    rows = torch.arange(len(x))
    last = y[rows, length - 1] if y.ndim == 3 else y.flatten(1)
    total = torch.zeros(x.shape[:2], dtype=torch.float64)
    for _ in range(DRAWS):
        v = torch.randn(last.shape, generator=subject.random().manual_seed(subject.seed + _), dtype=last.dtype)
        (g,) = torch.autograd.grad((v * last).sum(), x, retain_graph=True)
        total += g.square().sum(-1) / DRAWS
    back = length[:, None] - 1 - torch.arange(x.shape[1])  # positions before the last one
    most = int(length.max())
    norms = [float(total[back == k].mean().sqrt()) for k in range(most)]
    near, far = max(norms[0], 1e-300), max(norms[-1], 1e-300)
    half = next((k for k, n in enumerate(norms) if n < near / math.e), None)
    falls = (
        f"falls below 1/e of its nearest value after {half} position{'s' * (half != 1)}"
        if half
        else "does not fall below 1/e"
    )
    what = "last state" if y.ndim == 3 else "answer"
    reading = f"The influence of the input on the {what} {falls}; {most - 1} positions back it is {far / near:.2g} times as large."
    logs = np.log10(np.maximum(norms, 1e-12))
    plot = Plot(
        "Influence of earlier positions",
        (Mark("line", range(most), logs),),
        "positions before the last",
        "log10 of the norm",
    )
    basis = f"the Jacobian's norm from {DRAWS} random projections of {len(x)} rows"
    return Finding(reading, "estimate", basis, {"norms": norms}, (plot,))
