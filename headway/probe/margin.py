"""Margin of a classifier: how far an example is from being classified otherwise.

    m = f_y(x) - max_{k != y} f_k(x),        distance to the border of the class ~ m / |grad_x m|

m is negative where the class is wrong. The distance is exact for a linear model and the first order otherwise.
Elsayed et al. 2018, https://arxiv.org/abs/1803.05598; lectures C and D.
"""

import numpy as np
import torch
from torch import Tensor

from headway.data.labelled_batches import LabelledBatch
from headway.probe.finding import Finding, NotApplicableError
from headway.probe.subject import Subject
from headway.tasks.panels import Mark, Plot

NONE = "the model does not give one class for each example"


def margin(subject: Subject) -> Finding:
    margins, distances = [], []
    for batch in subject.batches:
        m, d = margins_of(subject, batch)
        margins.append(m)
        distances.append(d)
    m, d = np.concatenate(margins), np.concatenate(distances)
    wrong = float((m <= 0).mean())
    tenth, middle = np.quantile(d, [0.1, 0.5])
    reading = (
        f"{1 - wrong:.1%} of {len(m):,} examples are on the right side of the border; the median distance to it is {middle:.3g}, "
        f"and {float((np.abs(d) < middle / 4).mean()):.1%} are within a quarter of that."
    )
    share = np.arange(1, len(d) + 1) / len(d)
    marks = (Mark("line", np.sort(d), share), Mark("line", [0, 0], [0, 1], soft=True))
    plot = Plot(
        "Distance of the examples to the border", marks, "distance (negative: wrong class)", "share of the examples"
    )
    numbers = {
        "wrong": wrong,
        "margin/median": float(np.median(m)),
        "distance/0.1": float(tenth),
        "distance/0.5": float(middle),
    }
    basis = (
        "margins of the logits are exact; distances, in the space where the model begins to compute, are of first order"
    )
    return Finding(reading, "estimate", basis, numbers, (plot,))


def margins_of(subject: Subject, batch: object) -> tuple[np.ndarray, np.ndarray]:
    """Margin and signed distance of each example of a batch."""
    labels = batch.labels if isinstance(batch, LabelledBatch) else None
    if labels is None or labels.is_floating_point() or labels.ndim != 1:
        raise NotApplicableError(NONE)
    seen = subject.run(batch, lambda x: x.detach().requires_grad_(True))
    y: Tensor = seen.y
    if (
        y.ndim != 2
        or len(y) != len(labels)
        or len(seen.x) != len(labels)
        or y.shape[1] <= int(labels.max())
        or y.shape[1] < 2
    ):
        raise NotApplicableError(NONE)
    rows = torch.arange(len(y))
    others = y.masked_fill(torch.nn.functional.one_hot(labels, y.shape[1]).bool(), -torch.inf)
    m = y[rows, labels] - others.amax(1)
    (g,) = torch.autograd.grad(m.sum(), seen.x)
    return m.detach().numpy(), (m.detach() / g.flatten(1).norm(dim=1).clamp(min=1e-12)).numpy()
