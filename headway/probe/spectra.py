"""Spectra of the weight matrices, beside what chance alone would give.

An m x n matrix of independent entries of variance s^2 has its singular values, for large sizes, between s |√m - √n| and
s (√m + √n), the edges of Marchenko and Pastur; the largest fluctuates by a share of about min(m, n)^(-2/3). s is that of
the first weights of this model. Values beyond the edge are what training has put in. Marchenko & Pastur 1967,
https://doi.org/10.1070/SM1967v001n04ABEH001994; Martin & Mahoney 2021, https://arxiv.org/abs/1810.01075; lecture D.
"""

import math

import numpy as np
import torch

from headway.data.messages import count_noun
from headway.probe.finding import Finding, NotApplicableError
from headway.probe.subject import Subject
from headway.tasks.panels import Mark, Plot

LEAST, MOST = 8, 1 << 22  # rows and columns that make a spectrum; entries of the largest matrix


def weight_spectra(subject: Subject) -> Finding:
    first = dict(subject.fresh().double().named_parameters())
    found: dict[str, tuple[float, int, float]] = {}  # largest value over the edge, values beyond it, stable rank
    spectrum, shown = np.empty(0), ""
    for name, w in subject.model.named_parameters():
        matrix = w.detach().flatten(1) if w.ndim >= 2 else w.detach()[None]
        start = float(first[name].detach().std()) if name in first and first[name].numel() > 1 else 0.0
        if min(matrix.shape) < LEAST or matrix.numel() > MOST or start <= 0:
            continue
        (m, n), s = matrix.shape, torch.linalg.svdvals(matrix).numpy()
        found[name] = (s[0] / edge(m, n, start), outliers(s, m, n, start), float((s**2).sum() / s[0] ** 2))
        if not shown or found[name][0] > found[shown][0]:
            spectrum, shown = s / edge(m, n, start), name
    if not found:
        raise NotApplicableError(f"no weight matrix has {LEAST} rows and columns and random first weights")
    beyond = sum(v[1] for v in found.values())
    reading = (
        f"{count_noun(beyond, 'singular value')} of {len(found)} weight matrices beyond the edge of random first weights; "
        f"the largest, {found[shown][0]:.2f} times the edge, is in `{shown}`."
    )
    names, values = list(found), [v[0] for v in found.values()]
    every = Plot(
        "Largest singular value of each matrix",
        (
            Mark("points", range(1, len(values) + 1), values, labels=names),
            Mark("line", [1, len(values)], [1, 1], soft=True),
        ),
        "matrix",
        "largest value / edge",
        "Points show their matrix under the pointer; the line is the edge of Marchenko and Pastur.",
    )
    one = Plot(
        f"Spectrum of {shown}",
        (Mark("line", range(1, len(spectrum) + 1), spectrum), Mark("line", [1, len(spectrum)], [1, 1], soft=True)),
        "singular value, from the largest",
        "value / edge",
    )
    numbers = {
        f"{what}/{n}": v[i] for n, v in found.items() for i, what in enumerate(("largest", "beyond", "stable_rank"))
    }
    basis = "singular values are exact; the edge is the limit of large matrices with independent entries"
    return Finding(reading, "exact", basis, numbers, (every, one))


def edge(m: int, n: int, s: float) -> float:
    """The upper edge s (√m + √n)."""
    return s * (math.sqrt(m) + math.sqrt(n))


def outliers(values: np.ndarray, m: int, n: int, s: float) -> int:
    """Singular values beyond the edge by more than the fluctuation of the largest one."""
    return int((values > edge(m, n, s) * (1 + min(m, n) ** (-2 / 3))).sum())
