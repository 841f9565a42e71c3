"""Linear regions along a path.

A network of linear maps and relu is affine wherever no unit changes its sign, and the inputs with one pattern of signs
form a convex polyhedron. On a line x(t), a unit with input z and derivative z' changes its sign at t - z/z', so the next
border is the smallest of these, and the path is followed from border to border without sampling: every region that it
crosses is found (borders closer than 1e-9 of the path count as one). A piece is a stretch on which the output has one
derivative; neighbouring regions can share it. Montúfar et al. 2014, https://arxiv.org/abs/1402.1869; Hanin & Rolnick
2019, https://arxiv.org/abs/1901.09021; lecture B.
"""

import statistics

import torch
import torch.autograd.forward_ad as fwd
from torch import Tensor

from headway.probe.finding import Finding, NotApplicableError
from headway.probe.gates import Gates
from headway.probe.paths import Paths
from headway.probe.subject import Subject
from headway.tasks.panels import Mark, Plot

ROWS = 8  # paths
MOST = 600  # borders that are followed
GRID = 128  # points of an estimate
NUDGE = 1e-9  # how far beyond a border the next pattern is read off
SMOOTH = "the model is not piecewise linear"
SAME = 1e-7  # derivatives that differ by less, relatively, are the same


class NotFollowedError(Exception):
    """The borders of the path could not be followed to its end; the message says why."""


def linear_regions(subject: Subject) -> Finding:
    """Regions and pieces of each path: exact for a piecewise linear network, otherwise the switches that a grid sees."""
    paths = Paths.of(subject, ROWS)
    try:
        regions, pieces = follow(subject, paths)
    except NotFollowedError as reason:
        return _sampled(subject, paths, str(reason))
    except (RuntimeError, NotImplementedError):  # torch has no forward derivative of some functions
        return _sampled(subject, paths, SMOOTH)
    middle = statistics.median(regions)
    reading = (
        f"Between two examples the input crosses {middle:g} linear regions (median of {len(regions)} paths, "
        f"{min(regions)} to {max(regions)}), in which the output takes {statistics.median(pieces):g} linear pieces."
    )
    return Finding(
        reading,
        "exact",
        "every border on the path is computed from the linear map of the region before it; the output was checked to be linear in between",
        {"regions": regions, "pieces": pieces},
        (_plot(regions, "Linear regions on each path"),),
    )


def _plot(counts: list[int], title: str) -> Plot:
    ordered = sorted(counts)
    marks = (Mark("points", list(range(1, len(ordered) + 1)), ordered),)
    return Plot(title, marks, "path, from the fewest to the most", "", "One point for each pair of examples.")


def follow(subject: Subject, paths: Paths) -> tuple[list[int], list[int]]:
    """Regions and pieces of every path from t = 0 to 1."""
    t = torch.zeros(paths.groups, dtype=torch.float64)
    regions, pieces = torch.zeros(paths.groups, dtype=torch.long), torch.zeros(paths.groups, dtype=torch.long)
    slope: Tensor | None = None
    expected: Tensor | None = None
    for _ in range(MOST):
        z, dz, y, dy = _derivatives(subject, paths, t)
        scale = (y.abs() + dy.abs()).amax(1, keepdim=True) + 1e-12
        if expected is not None and bool(((y - expected).abs() > 1e-6 * scale).any()):
            raise NotFollowedError(SMOOTH)
        open_ = t < 1
        size = dy.abs().amax(1) + 1e-12
        bent = (
            open_ if slope is None else open_ & ((dy - slope).abs().amax(1) > SAME * size.maximum(slope.abs().amax(1)))
        )
        regions, pieces, slope = regions + open_, pieces + bent, dy
        nearing = ((z > 0) & (dz < 0)) | ((z <= 0) & (dz > 0))
        step = torch.where(nearing, -z / dz, torch.inf).amin(1) + NUDGE
        moved = torch.where(open_, (t + step).clamp(max=1.0), t)
        expected = y + (moved - t)[:, None] * dy
        if bool((moved >= 1).all()):
            _, _, y, _ = _derivatives(subject, paths, moved)
            if bool(((y - expected).abs() > 1e-6 * scale).any()):
                raise NotFollowedError(SMOOTH)
            return regions.tolist(), pieces.tolist()
        t = moved
    raise NotFollowedError(f"a path crosses more than {MOST} borders")


def _derivatives(subject: Subject, paths: Paths, t: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The inputs z of all gates and the output y of each path, with their derivatives along it."""
    with torch.no_grad(), fwd.dual_level(), Gates() as gates:
        place = paths.at(t)(paths.start)
        seen = subject.run(paths.batch, lambda _: fwd.make_dual(place, paths.step.clone()))
        y, dy = fwd.unpack_dual(seen.y)
        parts = [fwd.unpack_dual(z) for z in gates.inputs]
        z = [paths.split(p.primal) for p in parts] or [torch.ones(paths.groups, 1, dtype=torch.float64)]
        dz = [paths.split(p.primal if p.tangent is None else p.tangent) * (p.tangent is not None) for p in parts]
        dz = dz or [torch.zeros(paths.groups, 1, dtype=torch.float64)]
        dy = torch.zeros_like(y) if dy is None else dy
        return torch.cat(z, 1), torch.cat(dz, 1), paths.split(y), paths.split(dy)


def _sampled(subject: Subject, paths: Paths, reason: str) -> Finding:
    """How often some gate switches between neighbouring points of a grid: a lower bound of the borders crossed."""
    changes, switches = torch.zeros(paths.groups), torch.zeros(paths.groups)
    before: Tensor | None = None
    with torch.no_grad():
        for i in range(GRID + 1):
            with Gates() as gates:
                subject.run(paths.batch, paths.at(torch.full((paths.groups,), i / GRID, dtype=torch.float64)))
            if not gates.inputs:
                raise NotApplicableError(
                    "the model has no units that switch on and off (relu, gelu, silu): it has no regions"
                )
            signs = torch.cat([paths.split(z > 0) for z in gates.inputs], 1)
            if before is not None:
                different = (signs != before).sum(1)
                changes, switches = changes + (different > 0), switches + different
            before = signs
    regions = [int(c) + 1 for c in changes]
    reading = (
        f"Between two examples units switch on or off about {float(switches.median()):,.0f} times (median of {len(regions)} paths); "
        f"{reason}, so these are patterns of active units on a grid, not regions that were followed."
    )
    return Finding(
        reading,
        "estimate",
        f"signs at {GRID + 1} points of each path: switches between two points are counted once, so the counts are lower bounds",
        {"patterns": regions, "switches": [int(s) for s in switches]},
        (_plot([int(s) for s in switches], "Switches of units on each path"),),
    )
