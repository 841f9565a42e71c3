"""Intrinsic dimension and effective rank of the data and of each layer's representation.

    dimension        the number of coordinates that the points need near each other: from distances to neighbours, by two
                     estimators (Levina & Bickel 2004; TwoNN, Facco et al. 2017)
    effective rank   exp(-sum_i p_i ln p_i), p_i = s_i / sum s, s the singular values of the centred points: how many
                     directions they use. Roy & Vetterli 2007, https://doi.org/10.5281/zenodo.40271

A manifold of low dimension can be curled through many directions: the rank is then large and the dimension small.
Lecture B.
"""

import numpy as np

from headway.core.errors import DataError
from headway.lab.tools.intrinsic_dimension import levina_bickel, survey, two_nn
from headway.probe.finding import Finding, NotApplicableError
from headway.probe.representations import representations
from headway.probe.subject import Subject
from headway.tasks.panels import Mark, Plot


def intrinsic_dimension(subject: Subject) -> Finding:
    """Of the input and of each layer; a layer whose points are mostly copies has none."""
    found: dict[str, tuple[float, float]] = {}
    reasons = {}
    points = representations(subject)
    for name, cloud in points.items():
        try:
            distances = survey(cloud)
            found[name] = levina_bickel(distances), two_nn(distances)
        except DataError as problem:
            reasons[name] = problem.message
    if not found:
        raise NotApplicableError(
            f"no layer has enough different points: {next(iter(reasons.values()), 'there are none')}"
        )
    names, values = list(found), list(found.values())
    between = [f"{min(pair):.1f} to {max(pair):.1f}" for pair in values]
    change = f"{between[0]} in `{names[0]}`" + (f" and {between[-1]} in `{names[-1]}`" if len(names) > 1 else "")
    width = points[names[-1]].shape[1]
    reading = f"The representation has an intrinsic dimension of about {change} (two estimators), inside a space of {width:,} dimensions."
    places = [list(points).index(name) for name in names]
    marks = tuple(
        mark
        for i, label in enumerate(("Levina and Bickel", "TwoNN"))
        for mark in (
            Mark("line", range(len(points)), [found[n][i] if n in found else np.nan for n in points], label),
            Mark("points", places, [pair[i] for pair in values], label, labels=names),
        )
    )
    caption = (
        "Both estimators are biased downwards where the dimension is large and the points are few; they should agree."
    )
    if reasons:
        caption += f" Without an estimate: {', '.join(f'{n} ({r})' for n, r in reasons.items())}."
    plot = Plot("Intrinsic dimension by layer", marks, "layer (0: input)", "dimension", caption)
    numbers = {f"{which}/{n}": v[i] for n, v in found.items() for i, which in enumerate(("levina_bickel", "two_nn"))}
    count = max(len(cloud) for cloud in points.values())
    return Finding(reading, "estimate", f"distances between {count:,} points of each layer", numbers, (plot,))


def effective_rank(subject: Subject) -> Finding:
    points = representations(subject)
    found = {name: rank_of(cloud) for name, cloud in points.items() if len(cloud) > 1}
    if not found:
        raise NotApplicableError("there is only one example")
    names, values = list(found), list(found.values())
    least = min(found, key=lambda n: found[n])
    width = points[names[-1]].shape[1]
    reading = f"The last layer uses {values[-1]:.1f} of its {width:,} directions; the least are used in `{least}` ({found[least]:.1f})."
    marks = (Mark("line", range(len(values)), values), Mark("points", range(len(values)), values, labels=names))
    plot = Plot("Effective rank by layer", marks, "layer (0: input)", "directions")
    basis = f"singular values of {max(len(c) for c in points.values()):,} points of each layer"
    return Finding(reading, "exact", basis, {f"rank/{n}": v for n, v in found.items()}, (plot,))


def rank_of(points: np.ndarray) -> float:
    """exp of the entropy of the normalised singular values; 0 if all points are the same."""
    s = np.linalg.svd(points - points.mean(0), compute_uv=False)
    if s.sum() < 1e-12 * max(1.0, float(np.abs(points).max())):
        return 0.0
    p = s[s > 0] / s.sum()
    return float(np.exp(-(p * np.log(p)).sum()))
