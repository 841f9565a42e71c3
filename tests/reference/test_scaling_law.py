"""The fit of a scaling law against scipy and known exponents; the best use of a budget against a search; what the intervals cover."""

import dataclasses

import numpy as np
import pytest
from scipy.optimize import brute, minimize
from scipy.special import huber, logsumexp

from headway.compare.scaling.forecast import Cost, Estimate, Scaling, choose_variables
from headway.compare.scaling.law import DELTA, Law, bootstrap, fit_law
from headway.compare.scaling.points import Point, Points
from headway.compare.scaling.tables import as_json, notes, short, terminal_text
from headway.core.errors import UsageError

SIZES, LENGTHS = (2e4, 7.5e4, 2.75e5, 1e6), (5e5, 1.5e6, 4.5e6)
GRID = np.array([(n, d) for n in SIZES for d in LENGTHS])
TRUTH = Law(np.array(1.2), np.array([0.5, 0.4]), np.array([0.34, 0.28]), np.array([2e5, 1.5e6]))


def noisy(noise: float, seed: int, x: np.ndarray = GRID) -> np.ndarray:
    found: np.ndarray = TRUTH(x) * np.exp(noise * np.random.default_rng(seed).standard_normal(len(x)))
    return found


def points(loss: np.ndarray, x: np.ndarray = GRID) -> Points:
    """Runs that never were, at 6 N D FLOPs."""
    each = [Point(f"runs/{n:.0f}-{d:.0f}", "gpt", int(n), 0, int(d), 6 * n * d, float(v), 1.0) for (n, d), v in zip(x, loss, strict=True)]
    return Points(tuple(sorted(each, key=lambda p: p.flops)), "language", "tokens", "nats per token")


def test_without_noise_the_law_comes_back() -> None:
    law = fit_law(GRID, TRUTH(GRID))
    assert law.irreducible == pytest.approx(1.2, rel=1e-3)
    assert law.exponents == pytest.approx(TRUTH.exponents, rel=1e-3) and law.factors == pytest.approx(TRUTH.factors, rel=1e-2)
    alone = fit_law(GRID[:, :1], 2 + 30 * GRID[:, 0] ** -0.5)
    assert (alone.irreducible, alone.exponents[0], alone.factors[0]) == pytest.approx((2, 0.5, 30), rel=1e-3)


def written_out(theta: np.ndarray, loss: np.ndarray) -> float:
    """The objective of Hoffmann et al., written with scipy; numbers are divided by their geometric means."""
    z = np.log(GRID) - np.log(GRID).mean(0)
    log_loss = logsumexp(np.stack([np.full(len(loss), theta[0]), theta[1] - theta[3] * z[:, 0], theta[2] - theta[4] * z[:, 1]]), axis=0)
    return float(huber(DELTA, log_loss - np.log(loss)).sum())


def coordinates(law: Law) -> np.ndarray:
    return np.concatenate([np.log([law.irreducible]), np.log(law.terms), law.exponents])


def test_no_other_search_finds_a_better_law() -> None:
    """L-BFGS of scipy from the fit, and from elsewhere, also where one run is far off."""
    loss = noisy(0.005, 3)
    loss[4] *= 1.1
    law = fit_law(GRID, loss)
    value = written_out(coordinates(law), loss)
    for start in (coordinates(law), np.array([0.3, -0.7, -0.9, 0.3, 0.3]), np.array([-1.0, 0.0, 0.0, 0.15, 0.15])):
        other = minimize(written_out, start, (loss,), method="L-BFGS-B", options={"maxiter": 2000, "ftol": 1e-14})
        assert value <= other.fun * (1 + 1e-4)


def test_one_run_that_is_far_off_moves_little() -> None:
    loss = noisy(0.002, 5)
    spoiled = loss.copy()
    spoiled[5] *= 1.3
    assert fit_law(GRID, spoiled)(GRID[-1]) == pytest.approx(float(fit_law(GRID, loss)(GRID[-1])), rel=0.02)


def test_draws_with_fewer_runs_than_coefficients_have_an_answer() -> None:
    few = GRID[:8]
    loss = noisy(0.1, 0, few)
    laws = bootstrap(fit_law(few, loss), few, loss, 500, 0).laws
    assert np.isfinite(laws(2 * few[-1])).all() and (laws.exponents > 0).all()


@pytest.mark.slow
def test_intervals_cover_the_truth_in_85_of_100_sets() -> None:
    hits = np.zeros(4)
    wanted = (*TRUTH.exponents, float(TRUTH.irreducible), float(TRUTH(2 * GRID[-1])))
    for seed in range(100):
        loss = noisy(0.005, seed)
        laws = bootstrap(fit_law(GRID, loss), GRID, loss, 100, seed).laws
        drawn = (*laws.exponents.T, laws.irreducible, laws(2 * GRID[-1]))
        hits += [Estimate.over(0.0, d).holds(w) for d, w in zip(drawn, wanted, strict=True)]
    assert hits.min() >= 85, hits


def test_more_noise_gives_wider_intervals_and_the_seed_decides() -> None:
    quiet, loud = Scaling(points(noisy(0.002, 1))), Scaling(points(noisy(0.02, 1)))
    assert all(e.low < e.value < e.high for e in quiet.exponents.values())
    e, f = (found.next_sizes()[0].loss for found in (quiet, loud))
    assert f.high - f.low > 4 * (e.high - e.low)
    assert Scaling(points(noisy(0.002, 1)), 0).exponents == quiet.exponents != Scaling(points(noisy(0.002, 1)), 1).exponents


def test_the_best_use_of_a_budget_is_the_minimum() -> None:
    """Against a search over sizes, where FLOPs are no plain product (p is not 1)."""
    cost = Cost(30.0, 0.86)
    for flops in (1e13, 1e15):
        def loss(size: np.ndarray, flops: float = flops) -> float:
            n = float(np.exp(size[0]))
            return float(TRUTH(np.array([n, flops / cost(n, 1)])))

        searched = np.exp(brute(loss, ((np.log(1e3), np.log(1e8)),), Ns=200))[0]
        assert float(cost.best_size(TRUTH, flops)) == pytest.approx(searched, rel=1e-2)
    gains = [loss_at_best(cost, c) - 1.2 for c in (1e13, 1e15)]
    assert np.log(gains[0] / gains[1]) / np.log(100) == pytest.approx(float(cost.best_exponent(TRUTH)), rel=1e-6)


def loss_at_best(cost: Cost, flops: float) -> float:
    n = float(cost.best_size(TRUTH, flops))
    return float(TRUTH(np.array([n, flops / cost(n, 1)])))


def test_flops_are_fitted() -> None:
    each = [dataclasses.replace(p, flops=30.0 * p.parameters**0.86 * p.units) for p in points(TRUTH(GRID)).each]
    found = Cost.fit(each)
    assert (found.factor, found.power) == pytest.approx((30.0, 0.86)) and found(1e5, 1e6) == pytest.approx(30 * 1e5**0.86 * 1e6)


def test_what_doubling_brings_and_when_it_is_too_far() -> None:
    found = Scaling(points(noisy(0.001, 2)))
    by_name = {p.about: p for p in found.next_sizes()}
    for name, x in (("twice the parameters", (2e6, 4.5e6)), ("twice the tokens", (1e6, 9e6)), ("twice both", (2e6, 9e6))):
        p = by_name[name]
        assert p.loss.holds(float(TRUTH(np.array(x)))) and p.gain.holds(float(TRUTH(GRID[-1]) - TRUTH(np.array(x)))) and not p.warnings
    ten = by_name["best use of 10 x FLOPs"]
    assert ten.flops == pytest.approx(10 * 6 * 1e6 * 4.5e6, rel=1e-6) and not ten.warnings and ten.best_size
    assert ten.best_size.holds(float(Cost(6.0, 1.0).best_size(TRUTH, ten.flops)))
    assert found.predict("", 3e7, 4.5e6).warnings == ("too far: 30 times the parameters of the largest run",)
    loud = Scaling(points(noisy(0.08, 4)))
    assert any("interval" in warning for p in loud.next_sizes() for warning in p.warnings)


def test_the_largest_run_is_predicted_without_it() -> None:
    loss = noisy(0.003, 7)
    held = Scaling(points(loss)).held_back
    assert held and held.folder == "runs/1000000-4500000" and abs(held.error) < 0.02 and held.predicted.holds(held.measured)
    spoiled = loss.copy()
    spoiled[-1] *= 0.8  # it was not fitted to, so that the prediction stays
    found = Scaling(points(spoiled))
    assert found.held_back and found.held_back.predicted == held.predicted and not found.held_back.predicted.holds(spoiled[-1])
    assert any("missed the largest run" in note for note in notes(found, []))


def test_few_runs_get_a_law_of_one_variable() -> None:
    one_length = GRID[GRID[:, 1] == 4.5e6]
    found = Scaling(points(TRUTH(one_length), one_length))
    assert found.variables == ("parameters",) and found.held_back is None
    assert found.exponents["parameters"].value == pytest.approx(0.34, rel=1e-2) and len(found.next_sizes()) == 1
    assert "too few" in terminal_text(found, found.next_sizes())
    with pytest.raises(UsageError, match="all runs have one length"):
        found.predict("", 1e6, 1e7)
    two = GRID[(GRID[:, 1] != 1.5e6) & (GRID[:, 0] > 5e4)]
    assert choose_variables(points(TRUTH(two), two).each) == ("flops",)
    same = np.repeat(one_length[:2], 2, 0)
    with pytest.raises(UsageError, match="2 different sizes, but a law needs at least 3"):
        choose_variables(points(TRUTH(same), same).each)


def test_what_is_said() -> None:
    made = points(noisy(0.004, 1))
    each = (dataclasses.replace(made.each[0], kept=0.4, model="lstm", embeddings=2_000), *made.each[1:])
    found = Scaling(dataclasses.replace(made, each=each))
    text = terminal_text(found, found.next_sizes())
    assert max(map(len, text.split("\n"))) <= 100
    assert "1 run had the best weights before the end" in text and "gpt, lstm" in text and "0% to 10%" in text
    numbers = as_json(found, found.next_sizes())
    assert len(numbers["runs"]) == 12 and set(numbers["exponents"]) == {"parameters", "units", "flops"}  # type: ignore[arg-type, call-overload]
    assert [short(n) for n in (999, 20_000, 1.5e6, 3e14)] == ["999", "20.0k", "1.5M", "300T"]


def test_exponents_that_the_runs_do_not_determine_are_named() -> None:
    flat = Scaling(points(2.0 * np.exp(0.01 * np.random.default_rng(0).standard_normal(12))))
    assert flat.undetermined() and "is not determined by these runs" in terminal_text(flat, [])
