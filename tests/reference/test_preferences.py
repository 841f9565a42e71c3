"""Preferences against what was not written here: numpy formulas, step-by-step reading, and exact gradients by enumeration."""

import itertools
import math

import numpy as np
import pytest
import torch
from scipy.special import expit
from scipy.stats import binomtest
from torch import Tensor, nn

from headway.core.config import Choice
from headway.data.labelled_batches import LabelledBatch
from headway.data.made_preferences import careless, make_pairs, rule
from headway.decode.responses import draw_responses, log_probabilities
from headway.evaluate.best_of_n import distance_of_best, value_of_best
from headway.models.build import build_model
from headway.tasks.preference_methods import Dpo, Ipo, PolicyGradient, leave_one_out
from headway.tasks.preferred_responses import Comparison, Drawn
from headway.tasks.ratings import RATING, Margins, ratings

VOCABULARY, END = 29, 2


def writer(mixer: str = "multihead", seed: int = 5) -> nn.Module:
    torch.manual_seed(seed)
    model = build_model(
        Choice("gpt", {"mixer": mixer, "width": 12, "heads": 2, "depth": 2, "inner": 16, "context": 16}),
        {"vocabulary": VOCABULARY},
    )
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.4 * torch.randn(parameter.shape))
    return model.double().eval()


@pytest.fixture
def rows() -> tuple[list[list[int]], list[int]]:
    return [[1, 5, 6, 9, 11, 2], [1, 9, 6, 2], [1, 8, 8, 8, 6, 7, 10, 4, 2]], [3, 3, 6]


def padded(rows: list[list[int]], starts: list[int], filled: int = 0) -> LabelledBatch:
    width = max(map(len, rows))
    ids = torch.tensor([row + [filled] * (width - len(row)) for row in rows])
    keep = torch.arange(width) < torch.tensor([len(row) for row in rows])[:, None]
    return LabelledBatch((ids, keep), torch.tensor(starts))


@pytest.mark.parametrize("mixer", ["multihead", "lstm"])
def test_log_probabilities_are_those_of_reading_token_by_token(
    mixer: str, rows: tuple[list[list[int]], list[int]]
) -> None:
    model = writer(mixer)
    for filled in (0, 7):
        found = log_probabilities(model, padded(*rows, filled))
        for row, start, value in zip(*rows, found.tolist(), strict=True):
            state, expected = model.start(1), 0.0
            for t, token in enumerate(row[:-1]):
                hidden, state = model.step(torch.tensor([token]), state)
                if t + 1 >= start:
                    p = np.exp(model.logits(hidden)[0].detach().numpy())
                    expected += math.log(p[row[t + 1]] / p.sum())
            assert value == pytest.approx(expected, abs=1e-9)


def test_a_rating_is_read_at_the_last_real_token(rows: tuple[list[list[int]], list[int]]) -> None:
    model = writer()
    found = ratings(model, padded(*rows, 7))
    for row, value in zip(rows[0], found.tolist(), strict=True):
        hidden = model(torch.tensor([row]))[0, -1].detach()
        assert value == pytest.approx(float(model.output.weight[RATING].detach() @ hidden), abs=1e-9)


def test_drawn_responses_have_the_probabilities_of_the_model() -> None:
    """Prompts of different lengths in one batch; the first token of each is as frequent as it is probable."""
    model, count = writer(), 4000
    prompts = torch.tensor([[1, 5, 0, 0], [1, 9, 8, 6]]).repeat(count, 1)
    torch.manual_seed(3)
    drawn = draw_responses(model, prompts, torch.tensor([2, 4]).repeat(count), 3, END)
    ids, keep = drawn.inputs
    for row, length in ((0, 2), (1, 4)):
        mine = ids[row::2]
        assert torch.equal(mine[:, :length], prompts[row : row + 1, :length].expand(count, -1)), "the prompt stays"
        p = model.logits(model(prompts[row : row + 1, :length])[:, -1]).softmax(-1)[0].detach()
        frequent = torch.bincount(mine[:, length], minlength=VOCABULARY) / count
        assert float((frequent - p).abs().max()) < 4 * math.sqrt(0.25 / count)
        real = keep[row::2].sum(1) - length
        ended = (mine[:, length:] == END) & (torch.arange(mine.shape[1] - length) < real[:, None])
        assert bool((real <= 3).all()) and bool((ended.sum(1) <= 1).all()), "nothing follows the end mark"
        first = torch.where(ended.any(1), ended.int().argmax(1) + 1, 3)
        assert torch.equal(real, first), "a response ends with its end mark, or at the longest length"
    torch.manual_seed(3)
    again = draw_responses(model, prompts, torch.tensor([2, 4]).repeat(count), 3, END)
    assert torch.equal(again.inputs[0], ids)


def test_pair_losses_are_their_formulas() -> None:
    h = np.linspace(-30, 30, 41)
    for beta, e in ((0.1, 0.0), (0.5, 0.0), (0.3, 0.1)):
        expected = -(1 - e) * np.log(expit(beta * h)) - e * np.log(expit(-beta * h))
        np.testing.assert_allclose(Dpo(beta, e).of(torch.from_numpy(h)).numpy(), expected, rtol=1e-9)
        np.testing.assert_allclose(Ipo(beta).of(torch.from_numpy(h)).numpy(), np.square(h - 0.5 / beta), rtol=1e-12)
    assert float(Dpo(0.1).of(torch.zeros(1))) == pytest.approx(math.log(2)), "nothing learned: ln 2"
    np.testing.assert_allclose(Margins(h).loss, -np.log(expit(h)).mean(), rtol=1e-9)


# -- the policy gradient on a space that can be enumerated --------------------------------------------------------------

LENGTH, SYMBOLS, BETA = 2, 3, 0.3
TEXTS = list(itertools.product(range(SYMBOLS), repeat=LENGTH))


def table_log_probabilities(first: Tensor, second: Tensor) -> Tensor:
    """log pi of all nine texts: the first symbol from a table, the second from the row of the first."""
    a, b = first.log_softmax(-1), second.log_softmax(-1)
    return torch.stack([a[i] + b[i, j] for i, j in TEXTS])


@pytest.mark.parametrize("k", [2, 3])
def test_the_policy_gradient_is_unbiased(k: int) -> None:
    """The mean of the estimate over all k-tuples of texts, weighted by their probability, is the exact gradient of the objective."""
    torch.manual_seed(11)
    first, second = (torch.randn(shape, dtype=torch.double, requires_grad=True) for shape in ((3,), (3, 3)))
    reference = table_log_probabilities(*(torch.randn(shape, dtype=torch.double) for shape in ((3,), (3, 3))))
    rewards = torch.randn(len(TEXTS), dtype=torch.double)
    logs = table_log_probabilities(first, second)
    objective = (logs.exp() * (rewards - BETA * (logs - reference))).sum()
    exact = torch.autograd.grad(objective, (first, second), retain_graph=True)
    tuples = torch.tensor(list(itertools.product(range(len(TEXTS)), repeat=k)))
    weights = logs.detach()[tuples].sum(1).exp()
    mean = [torch.zeros_like(g) for g in exact]
    for rows, weight in zip(tuples, weights, strict=True):
        total, _ = leave_one_out(logs[rows][None], reference[rows][None], rewards[rows][None], BETA)
        for part, g in zip(mean, torch.autograd.grad(total / k, (first, second), retain_graph=True), strict=True):
            part -= weight * g
    for found, expected in zip(mean, exact, strict=True):
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)


def test_a_policy_that_is_its_reference_pays_nothing() -> None:
    model, rater, other = writer(), writer(seed=6), writer(seed=7)
    prompts = padded([[1, 5, 6], [1, 9]], [0, 0])
    torch.manual_seed(1)
    free = PolicyGradient(0.5, 4, 5, END, model, rater).loss(model, prompts)
    torch.manual_seed(1)
    ids, keep = (t.repeat_interleave(4, 0) for t in prompts.inputs)
    drawn = draw_responses(model, ids, keep.sum(1), 5, END)
    assert free.count == 8 and float(free.plain) == pytest.approx(-float(ratings(rater, drawn).sum()), rel=1e-5)
    torch.manual_seed(1)
    paid = PolicyGradient(0.5, 4, 5, END, other, rater).loss(model, prompts)
    distance = log_probabilities(model, drawn) - log_probabilities(other, drawn)
    assert float(paid.plain - free.plain) == pytest.approx(0.5 * float(distance.sum()), rel=1e-4)


# -- the made preferences ----------------------------------------------------------------------------------------------


def test_made_preferences_follow_their_rule() -> None:
    """The rule counted by hand; and choices as frequent as Bradley and Terry assume."""
    values = {
        "sleeps.": 0.0,
        "good baker sleeps.": 1.0,
        "good baker meets an old king.": 2 - 1 / 3,
        "good old baker meets a young king here.": 1 - 1.0,
        "man sees the man in the house today.": -1.0,
    }
    assert {text: rule(text) for text in values} == pytest.approx(values)
    assert [careless(text) for text in values] == [0, 1, 2, 3, 0]
    worth = np.array([[rule(row["chosen"]), rule(row["rejected"])] for row in make_pairs(4000, 3)])
    apart = np.abs(worth[:, 0] - worth[:, 1])
    p = expit(4 * apart[apart > 0])
    right = (worth[:, 0] > worth[:, 1])[apart > 0]
    assert abs(right.mean() - p.mean()) < 4 * math.sqrt((p * (1 - p)).sum()) / len(p)


# -- figures -----------------------------------------------------------------------------------------------------------


def test_the_best_of_n_is_the_mean_over_all_subsets() -> None:
    random = np.random.default_rng(2)
    rated, worth = random.normal(size=(3, 7)), random.normal(size=(3, 7))
    for n in (1, 2, 4, 7):
        best = [
            [w[max(rows, key=r.__getitem__)] for rows in itertools.combinations(range(7), n)]
            for r, w in zip(rated, worth, strict=True)
        ]
        assert value_of_best(rated, worth, n) == pytest.approx(float(np.mean(best)), abs=1e-12)
    draws = random.random((200_000, 4)).max(1)  # density of the best of n: n u^(n-1) against 1
    assert (
        distance_of_best(4) == pytest.approx(float(np.log(4 * draws**3).mean()), abs=0.01) and distance_of_best(1) == 0
    )


def test_the_win_rate_has_the_interval_of_wilson() -> None:
    def drawn(worth: np.ndarray) -> Drawn:
        none = np.zeros(len(worth))
        return Drawn(("x",) * len(worth), ("y",) * len(worth), none, none, none + 1, None, worth)

    found = Comparison(drawn(np.zeros(50)), drawn(np.repeat([1.0, -1.0], [40, 10]))).win_rate
    interval = binomtest(40, 50).proportion_ci(method="wilson")
    assert found == pytest.approx((0.8, interval.low, interval.high), rel=1e-9)
    assert Comparison(drawn(np.zeros(9)), drawn(np.zeros(9))).win_rate[0] == 0.5, "ties count half"
