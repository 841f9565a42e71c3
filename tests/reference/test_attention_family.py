"""Hopfield retrieval, pointers and unit-norm scores against torch's own attention and the papers' formulas."""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from dense_attention import torch_attention
from probes import gradients_are_right, shaken, silent
from torch import Tensor, nn

from headway.core.errors import ConfigError
from headway.layers.attention.attend import Attend, recorded
from headway.layers.attention.hopfield import Hopfield, Retrieval
from headway.layers.attention.multihead import Multihead
from headway.layers.attention.pointer import Pointer
from headway.layers.masks import Causal, Everything, First, Mask, Window
from headway.layers.scores.unit_norm import UnitNorm

pytestmark = pytest.mark.usefixtures("doubles")
B, T, S, H, E = 3, 7, 5, 2, 11
D = H * E
CLOSE = {"rtol": 0.0, "atol": 1e-12}
KEEP_T = torch.arange(T)[None, :] < torch.tensor([[7], [4], [1]])
KEEP_S = torch.arange(S)[None, :] < torch.tensor([[5], [2], [1]])


# -- hopfield --------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("padded", [False, True])
def test_one_update_is_multihead_attention(causal: bool, padded: bool) -> None:
    ours = shaken(Hopfield(D, H, Causal() if causal else None), 0.3)
    x, real = torch.randn(B, T, D), KEEP_T if padded else torch.ones_like(KEEP_T)
    mask = torch.ones(T, T, dtype=torch.bool).triu(1) if causal else None
    expected, _ = torch_attention(ours, D, H)(x, x, x, key_padding_mask=~real, attn_mask=mask)
    torch.testing.assert_close(ours(x, KEEP_T if padded else None)[real], expected[real], **CLOSE)


@pytest.mark.parametrize("updates", [1, 2, 5])
@pytest.mark.parametrize("beta", [None, 0.2, 3.0])
def test_updates_are_the_rule_of_the_paper(updates: int, beta: float | None) -> None:
    """For one query at a time: xi <- X softmax(beta X^T xi) with patterns as columns of X; the values answer last."""
    q, k, v = torch.randn(B, H, T, E), torch.randn(B, H, S, E), torch.randn(B, H, S, E)
    found = Retrieval(E, updates, beta)(q, k, v, KEEP_S[:, None, None, :])
    for b, h, t in np.ndindex(B, H, T):
        stored, answers, xi = k[b, h, KEEP_S[b]].T, v[b, h, KEEP_S[b]].T, q[b, h, t]
        for _ in range(updates - 1):
            xi = stored @ ((beta or E**-0.5) * stored.T @ xi).softmax(0)
        torch.testing.assert_close(found[b, h, t], answers @ ((beta or E**-0.5) * stored.T @ xi).softmax(0), **CLOSE)


@pytest.mark.parametrize("beta", [0.01, 0.3, 1.0, 20.0])
def test_no_update_increases_the_energy(beta: float) -> None:
    """E(xi) = -1/beta log sum_s exp(beta k_s . xi) + xi . xi / 2 over the patterns that a query may see."""
    allowed = torch.rand(S, S) < 0.5
    allowed |= torch.eye(S, dtype=torch.bool)
    k, xi, energies = torch.randn(B, H, S, E), 2 * torch.randn(B, H, S, E), []
    for _ in range(12):
        scores = (beta * xi @ k.transpose(-2, -1)).masked_fill(~allowed, float("-inf"))
        energies.append(xi.square().sum(-1) / 2 - scores.logsumexp(-1) / beta)
        xi = Retrieval(E, 1, beta)(xi, k, k, allowed)
    steps = torch.stack(energies).diff(dim=0)
    assert steps.max() <= 1e-12 and steps[0].max() < -1e-3, "the energy must fall, and from far away it must fall at once"


def test_one_update_retrieves_one_of_a_thousand_patterns() -> None:
    """64 neurons with signs hold about 0.138 * 64 = 9 patterns; the paper's bound on the error of one update holds as well."""
    e, n, beta = 64, 1000, 1.0
    stored = torch.randn(n, e)
    stored *= math.sqrt(e) / stored.norm(dim=-1, keepdim=True)
    xi = stored + 0.5 * torch.randn(n, e)
    found = Retrieval(e, 1, beta)(xi[None, None], stored[None, None], stored[None, None])[0, 0]
    error = (found - stored).norm(dim=-1)
    apart = (stored * xi).sum(-1, keepdim=True) - xi @ stored.T  # (x_i - x_j) . xi_i
    apart.fill_diagonal_(float("inf"))
    bound = 2 * math.sqrt(e) * (n - 1) * (-beta * apart.amin(-1)).exp()
    assert (error <= bound + 1e-12).all() and (error < 0.01 * math.sqrt(e)).double().mean() > 0.99
    mean = Retrieval(e, 50, 1e-3)(xi[None, None], stored[None, None], stored[None, None])[0, 0]
    torch.testing.assert_close(mean, stored.mean(0).expand(n, e), rtol=0.0, atol=0.05)  # at small beta only the average is stable


@pytest.mark.parametrize("mask", [Causal(), Causal() & Window(3), Causal() & (Window(2) | First(1))], ids=["causal", "window", "first"])
def test_several_updates_step_as_they_run(mask: Mask) -> None:
    mixer, x = shaken(Hopfield(D, H, mask, updates=3), 0.3), torch.randn(B, T, D)
    whole, state = mixer(x), mixer.start(B)
    assert mixer.causal and not torch.allclose(whole, Multihead.forward(_like(mixer, mask), x), atol=1e-3)
    for t in range(T):
        y, state = mixer.step(x[:, t], state)
        torch.testing.assert_close(y, whole[:, t], **CLOSE)
        changed = torch.where(torch.arange(T)[:, None] > t, torch.randn(B, T, D), x)
        torch.testing.assert_close(mixer(changed)[:, : t + 1], whole[:, : t + 1], **CLOSE)


def _like(mixer: Hopfield, mask: Mask) -> Multihead:
    other = Multihead(D, H, mask)
    other.load_state_dict(mixer.state_dict())
    return other


@pytest.mark.parametrize("mask", [Everything(), Window(2) | First(1), Causal()], ids=["everything", "window|first", "causal"])
def test_several_updates_keep_the_contracts(mask: Mask) -> None:
    mixer, x = shaken(Hopfield(D, H, mask, updates=3), 0.3), torch.randn(B, T, D)
    for rubbish in (0.0, 1e3):
        y = mixer(torch.where(KEEP_T[..., None], x, rubbish), KEEP_T)
        assert y.isfinite().all()
        for row, length in enumerate((7, 4, 1)):
            torch.testing.assert_close(y[row : row + 1, :length], mixer(x[row : row + 1, :length]), rtol=0.0, atol=1e-10)
    with recorded(mixer) as maps:
        written = mixer(x, KEEP_T)
    torch.testing.assert_close(written, mixer(x, KEEP_T), **CLOSE)
    (found,) = maps.values()
    assert [a.shape for a in found] == [(B, H, T, T)] * 3 and not torch.allclose(found[0], found[2], atol=1e-3)
    mixer(x).square().sum().backward()
    assert not silent(mixer) and gradients_are_right(mixer, x[:1, :3])


def test_a_retrieval_without_updates_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"`updates` is 0, expected 1 or more\nHint: one update is attention"):
        Hopfield(D, H, updates=0)


# -- pointer ---------------------------------------------------------------------------------------------------------------------


def test_pointer_is_the_formula_of_the_paper() -> None:
    pointer, x, memory = shaken(Pointer(D), 0.3), torch.randn(B, T, D), torch.randn(B, S, D)
    w1, w2, v = pointer.score.key.weight, pointer.score.query.weight, pointer.score.vector
    found = pointer(x, pointer.remember(memory, KEEP_S))
    for b, t in np.ndindex(B, T):
        u = [v @ torch.tanh(w1 @ memory[b, s] + w2 @ x[b, t]) for s in range(int(KEEP_S[b].sum()))]
        expected = F.log_softmax(torch.stack(u), 0)
        torch.testing.assert_close(found[b, t, : len(u)], expected, **CLOSE)
        assert (found[b, t, len(u) :] == float("-inf")).all()
    assert {p.shape for p in pointer.parameters()} == {(D, D), (D,)}


def test_pointer_keeps_the_contracts() -> None:
    pointer, x, memory = shaken(Pointer(D), 0.3), torch.randn(B, T, D), torch.randn(B, S, D)
    found = pointer(x, pointer.remember(memory, KEEP_S))
    for rubbish in (0.0, 1e3):
        again = pointer(x, pointer.remember(torch.where(KEEP_S[..., None], memory, rubbish), KEEP_S))
        torch.testing.assert_close(again, found, **CLOSE)
    torch.testing.assert_close(found.exp().sum(-1), torch.ones(B, T))
    torch.testing.assert_close(pointer(x[1:2], pointer.remember(memory[1:2, :2], None))[0], found[1, :, :2], **CLOSE)
    order = torch.randperm(S)
    moved = pointer(x, pointer.remember(memory[:, order], KEEP_S[:, order]))
    torch.testing.assert_close(moved, found[:, :, order], **CLOSE)
    (-found[:, :, 0].sum()).backward()
    assert not silent(pointer) and all(p.grad.isfinite().all() for p in pointer.parameters())


@pytest.mark.parametrize("hypotheses", [1, 4])
def test_hypotheses_point_into_their_own_sentence(hypotheses: int) -> None:
    pointer, memory = shaken(Pointer(D), 0.3), torch.randn(B, S, D)
    x, seen = torch.randn(B * hypotheses, D), pointer.remember(memory, KEEP_S)
    found = pointer.step(x, seen)
    for row in range(B * hypotheses):
        b = row // hypotheses
        alone = pointer(x[row][None, None], pointer.remember(memory[b : b + 1], KEEP_S[b : b + 1]))
        torch.testing.assert_close(found[row], alone[0, 0], **CLOSE)


def test_pointer_gradients_are_those_of_the_formula() -> None:
    class Whole(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.own = shaken(Pointer(3), 0.3)

        def forward(self, x: Tensor, memory: Tensor) -> Tensor:
            return self.own(x, self.own.remember(memory, torch.tensor([[True, True, False]])))[..., :2]

    assert gradients_are_right(Whole(), torch.randn(1, 2, 3), torch.randn(1, 3, 3))


# -- unit norm -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.5, 1.0])
def test_unit_norm_is_the_cosine_of_torch(alpha: float) -> None:
    score, q, k = UnitNorm(E, alpha), 100 * torch.randn(B, H, T, E), 0.01 * torch.randn(B, H, S, E)
    found = score(score.query(q), score.key(k))
    expected = F.cosine_similarity(q.unsqueeze(-2), k.unsqueeze(-3), dim=-1) * E**-alpha
    torch.testing.assert_close(found, expected, **CLOSE)
    v = torch.randn(B, H, S, E)
    torch.testing.assert_close(Attend(score)(score.query(q), score.key(k), v), expected.softmax(-1) @ v, **CLOSE)
    assert UnitNorm(E).scale == E**-0.5 and not list(score.parameters())


@pytest.mark.parametrize("width", [2, 11, 64])
@pytest.mark.parametrize("alpha", [0.5, 1.0])
def test_unit_norm_is_almost_uniform(width: int, alpha: float) -> None:
    """Erratum B9: max / min weight <= exp(2 d^-alpha), and opposite keys reach it."""
    score, n = UnitNorm(width, alpha), 50
    q, k = 30 * torch.randn(1, 1, 200, width), 30 * torch.randn(1, 1, n, width)
    k[0, 0, 0], k[0, 0, 1] = q[0, 0, 0], -5 * q[0, 0, 0]
    a = score(score.query(q), score.key(k)).softmax(-1)[0, 0]
    ratio = a.amax(-1) / a.amin(-1)
    assert ratio.max() <= math.exp(2 * width**-alpha) * (1 + 1e-12)
    assert float(ratio[0]) == pytest.approx(math.exp(2 * width**-alpha), rel=1e-12)
    assert (a - 1 / n).abs().max() <= (math.exp(2 * width**-alpha) - 1) / n
    entropy = float(-(a * a.log()).sum(-1).mean() / math.log(n))
    dots = (q @ k.transpose(-2, -1) * width**-0.5).softmax(-1)
    assert width < 64 or (entropy > 0.9999 and dots.amax(-1).mean() > 0.9), "without the norm, such queries choose one key"


def test_unit_norm_has_second_derivatives() -> None:
    score, x = UnitNorm(3), torch.randn(2, 1, 4, 3, requires_grad=True)
    assert torch.autograd.gradgradcheck(score.query, x)


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_the_unit_of_nothing_is_nothing(kind: torch.dtype) -> None:
    x = torch.zeros(1, 1, 2, 3, dtype=kind, requires_grad=True)
    y = UnitNorm(3).query(x)
    y.sum().backward()
    assert not y.any() and x.grad.isfinite().all()
