"""Trajectory length: by how much each layer stretches a path between two inputs.

    l(z) = int_0^1 |dz/dt| dt,  here the length of the polyline through the images of POINTS points: a lower bound

A wide random relu network with weights of variance sigma_w^2 / n stretches a curve by sigma_w / sqrt(2) in each layer, so
exponentially with depth; a trained one need not. Raghu et al. 2017, https://arxiv.org/abs/1606.05336; lecture B.
"""

import numpy as np
import torch

from headway.lab.tools.trajectories import polyline_length
from headway.probe.finding import Finding, NotApplicableError
from headway.probe.paths import Paths
from headway.probe.subject import Subject
from headway.tasks.panels import Mark, Plot

ROWS, POINTS = 8, 65


def trajectory_length(subject: Subject) -> Finding:
    paths = Paths.of(subject, ROWS)
    curves: dict[str, list[np.ndarray]] = {}
    with torch.no_grad():
        for t in np.linspace(0, 1, POINTS):
            seen = subject.run(paths.batch, paths.at(torch.full((paths.groups,), float(t), dtype=torch.float64)))
            for name, value in {"input": seen.x, **seen.layers, "output": seen.y}.items():
                if value.numel() % paths.groups == 0 and bool(value.isfinite().all()):  # hidden choices are -inf
                    curves.setdefault(name, []).append(paths.split(value).numpy().copy())
    whole = {name: points for name, points in curves.items() if len(points) == POINTS}
    lengths = {name: polyline_length(np.stack(points, axis=-1)) for name, points in whole.items()}
    moving = lengths["input"] > 0
    if not moving.any() or len(lengths) < 2:
        raise NotApplicableError("no path of these examples has a length, or no layer gives numbers for it")
    ratios = {name: float(np.median(found[moving] / lengths["input"][moving])) for name, found in lengths.items()}
    ratios = {name: ratio for name, ratio in ratios.items() if ratio > 1e-9 or name == "output"}  # an encoder beside the path stands still
    names, values = list(ratios), list(ratios.values())
    growth = (max(values[-1], 1e-300) / values[0]) ** (1 / max(1, len(values) - 1))
    verb = "stretches" if values[-1] > 1.05 else "shortens" if values[-1] < 0.95 else "keeps the length of"
    by = f" by a factor of {values[-1]:.3g}" if verb != "keeps the length of" else ""
    reading = f"The model {verb} a path between two examples{by}: on average a factor of {growth:.3g} for each of {len(values) - 1} layers."
    plot = Plot(
        "Length of the path after each layer",
        (
            Mark("line", range(len(values)), np.log10(np.maximum(values, 1e-12))),
            Mark("points", range(len(values)), np.log10(np.maximum(values, 1e-12)), labels=names),
        ),
        "layer (0: input)",
        "log10 of length / length of the input",
        "Median over the paths. A straight line is exponential growth with depth.",
    )
    basis = (
        f"the polyline through {POINTS} points of each of {len(lengths['input'])} paths: a lower bound of the length"
    )
    return Finding(reading, "estimate", basis, {f"ratio/{n}": v for n, v in zip(names, values, strict=True)}, (plot,))
