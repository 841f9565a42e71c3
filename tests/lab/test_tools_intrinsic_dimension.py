"""One pass over blocks finds what all distances at once (scipy) say, and the estimators are their formulas."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

from headway.core.errors import DataError
from headway.lab.tools import intrinsic_dimension
from headway.lab.tools.intrinsic_dimension import (
    correlation,
    hein_audibert,
    levina_bickel,
    slopes,
    survey,
    takens,
    two_nn,
)


@pytest.fixture(params=[(600, 3), (437, 40)], ids=["sphere", "cloud"])
def points(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> np.ndarray:
    """Several blocks, the last one shorter, so that the seams between them are tested."""
    monkeypatch.setattr(intrinsic_dimension, "BLOCK", 128)
    n, d = request.param
    x = np.random.default_rng(1).standard_normal((n, d))
    return x / np.linalg.norm(x, axis=1, keepdims=True) if d == 3 else x


def shuffled(points: np.ndarray) -> np.ndarray:
    """In the order in which `survey` makes parts of them."""
    return points[np.random.default_rng(0).permutation(len(points))]


def test_nearest_neighbours_are_those_of_scipy(points: np.ndarray) -> None:
    exact = np.sort(squareform(pdist(points)), axis=1)[:, 1:21]
    assert np.allclose(survey(points).nearest, exact, rtol=2e-4)


def test_pairs_are_counted_once_within_each_part(points: np.ndarray) -> None:
    seen, points = survey(points), shuffled(points)
    for r in range(1, 6):
        exact = np.concatenate([pdist(points[part::r]) for part in range(r)])
        assert seen.below[r - 1, -1] == len(exact)
        h = float(np.quantile(exact, 0.3))
        assert seen.closer(h, r) == pytest.approx(np.sum(exact < h), rel=2e-3)
        assert seen.total(h, seen.middles, r) == pytest.approx(np.sum(exact[exact < h] ** 2), rel=4e-3)


def test_slopes_are_the_formula_of_hein_and_audibert(points: np.ndarray) -> None:
    seen, points, big = survey(points), shuffled(points), len(points)
    scale = np.sort(squareform(pdist(points)), axis=1)[:, 1].mean()
    for dimension in (1, 2, 5, 9):
        x, y = [], []
        for r in range(1, 6):
            n = big // r
            h = scale * (big / n * math.log(n) / math.log(big)) ** (1 / dimension)
            d2 = np.concatenate([pdist(points[part::r], "sqeuclidean") for part in range(r)]) / h**2
            x.append(math.log(h))
            y.append(math.log(np.mean(np.maximum(1 - d2, 0)) / h**dimension))
        slope = np.polyfit(x, y, 1, w=1 / np.sqrt(np.arange(1, 6)))[0]
        assert slopes(seen, 9)[dimension - 1] == pytest.approx(slope, abs=2e-3)


def test_the_other_estimators_are_their_formulas(points: np.ndarray) -> None:
    seen, d = survey(points), squareform(pdist(points))
    t = np.sort(d, axis=1)[:, 1:]
    d, h = pdist(points), t[:, 0].mean()
    assert takens(seen) == pytest.approx(-1 / np.mean(np.log(d[d < h] / h)), rel=5e-3)
    likelihood = [1 / np.mean([(np.log(row[k - 1] / row[: k - 1])).mean() for row in t]) for k in range(10, 21)]
    assert levina_bickel(seen) == pytest.approx(np.mean(likelihood), rel=1e-3)
    low, high = np.median(t[:, 9]), np.median(t[:, 19])
    assert correlation(seen) == pytest.approx(np.log(np.sum(d < high) / np.sum(d < low)) / np.log(high / low), rel=1e-2)
    mu = np.sort(t[:, 1] / t[:, 0])[: int(0.9 * len(t))]
    y = -np.log(1 - np.arange(1, len(mu) + 1) / len(t))
    assert two_nn(seen) == pytest.approx(np.linalg.lstsq(np.log(mu)[:, None], y, rcond=None)[0][0], rel=1e-3)


@pytest.mark.parametrize("estimate", [takens, levina_bickel, two_nn, correlation])
def test_a_cube_in_a_large_space_has_its_own_dimension(estimate: object) -> None:
    rng = np.random.default_rng(2)
    flat = rng.random((3000, 3)) @ np.linalg.qr(rng.standard_normal((50, 3)))[0].T
    assert callable(estimate) and estimate(survey(flat)) == pytest.approx(3, abs=0.35)
    assert hein_audibert(survey(flat)) == 3


def test_far_from_the_origin_nothing_changes() -> None:
    """In float32 the distances of points at 1000 from the origin would be noise."""
    x = np.random.default_rng(3).standard_normal((300, 2)) * 1e-3
    near, far = survey(x), survey(x + 1e3)
    assert np.allclose(near.nearest, far.nearest, rtol=1e-6)
    thin = np.column_stack([np.linspace(0, 1e4, 200).repeat(2), np.tile([0.0, 1e-3], 200)])  # neighbours at 1e-7 of the extent
    assert np.allclose(survey(thin).nearest[:, 0], 1e-3, rtol=1e-2)


def test_the_order_of_the_points_does_not_matter() -> None:
    """Pairs of points that are close follow each other; without a shuffle each half would hold one of every pair."""
    x = np.random.default_rng(6).random((500, 3)).repeat(2, axis=0)
    x += 0.01 * np.random.default_rng(7).random(x.shape)
    seen = survey(x)
    assert seen.closer(0.01, 2) > 0.4 * seen.closer(0.01)
    assert np.allclose(seen.nearest[:, 0], np.sort(squareform(pdist(x)), axis=1)[:, 1], rtol=1e-3)


def test_copies_of_points_are_left_out() -> None:
    x = np.random.default_rng(4).random((800, 2))
    seen = survey(np.concatenate([x, x[:20]]))
    for estimate in (takens, levina_bickel, two_nn):
        assert 1.5 < estimate(seen) < 2.5


def test_what_is_no_sample_gets_a_sentence() -> None:
    for wrong, message in ((np.zeros((3, 2)), "no sample"), (np.zeros((99, 2)), "copy"), (np.full((99, 2), np.nan), "finite")):
        with pytest.raises(DataError, match=message):
            survey(wrong)


def test_cells_are_narrow_and_in_order() -> None:
    seen = survey(np.random.default_rng(5).random((200, 4)))
    assert all(a < b <= a * (1 + 1 / 1000) for a, b in pairwise(seen.edges))
