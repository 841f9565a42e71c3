"""Linear attention and Performer against the quadratic formula, softmax attention and the papers' error formulas."""

import math
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from dense_attention import CLOSE, B, D, E, H, either, heads, joined, same_with_gradients, stepped
from torch import Tensor

from headway.layers.attention.big_bird import BigBird
from headway.layers.attention.linear_attention import LinearAttention
from headway.layers.attention.linformer import Linformer
from headway.layers.attention.longformer import Longformer
from headway.layers.attention.performer import Performer, orthogonal
from headway.layers.masks import Causal

pytestmark = pytest.mark.usefixtures("doubles")


def elu_features(mixer: LinearAttention, x: Tensor) -> Tensor:
    return F.elu(x) + 1


def random_features(mixer: Performer, x: Tensor) -> Tensor:
    """exp(w . x - |x|^2 / 2) / sqrt(r) for x / e^(1/4), one number at a time over the features."""
    x = x / E**0.25
    columns = [torch.exp((x * w).sum(-1) - (x * x).sum(-1) / 2) for w in mixer.w]
    return torch.stack(columns, -1) / math.sqrt(len(columns))


KERNELS = [(LinearAttention, elu_features), (Performer, random_features)]
kernels = pytest.mark.parametrize(("make", "features"), KERNELS, ids=["linear", "performer"])


@kernels
@either
@pytest.mark.parametrize("length", [1, 64, 65, 200])
def test_kernel_attention_is_the_quadratic_formula(make: type, features: Callable, mask: Causal | None, length: int) -> None:
    """phi(Q) (phi(K)^T V) = (phi(Q) phi(K)^T) V, in chunks or not."""
    mixer = make(D, H, mask)

    def written_out(x: Tensor) -> Tensor:
        q, k, v = heads(mixer, x)
        a = features(mixer, q) @ features(mixer, k).mT
        a = a.tril() if mask else a
        return joined(mixer, a / a.sum(-1, keepdim=True) @ v)

    same_with_gradients(mixer, mixer, written_out, torch.randn(B, length, D))


@kernels
def test_kernel_attention_steps_with_a_state_that_does_not_grow(make: type, features: Callable) -> None:
    mixer, x = make(D, H, Causal()), torch.randn(B, 150, D)
    y, sizes = stepped(mixer, x)
    torch.testing.assert_close(y, mixer(x), **CLOSE)
    assert len(set(sizes)) == 1


@kernels
@either
def test_large_numbers_stay_numbers(make: type, features: Callable, mask: Causal | None) -> None:
    """Keys whose features are below the smallest float32, e^-103, all of them: forward, step and gradients agree with float64."""
    mixer = make(D, H, mask)
    with torch.no_grad():
        mixer.project.bias[D : 2 * D] -= 300.0  # |k|^2 / 2 is 1e5, elu(k) + 1 is e^-300
    x = torch.randn(B, 150, D, requires_grad=True)
    exact = mixer(x)
    assert exact.isfinite().all() and exact.std() > 1e-3
    mixer, x = mixer.float(), x.detach().float().requires_grad_()
    y = mixer(x)
    y.square().sum().backward()
    assert y.isfinite().all() and x.grad.isfinite().all() and exact.sub(y).abs().max() < 0.1
    if mask:
        assert stepped(mixer, x.detach())[0].sub(y).abs().max() < 1e-3


@kernels
def test_a_large_key_of_the_future_leaves_the_past_alone(make: type, features: Callable) -> None:
    """In float32, inside one chunk: a common maximum would cancel on paper and erase the past in the computer."""
    mixer, x = make(D, H, Causal()).float(), torch.randn(1, 60, D).float()
    with torch.no_grad():
        mixer.project.bias[D : 2 * D] -= 200.0
    changed = x.clone()
    changed[:, 30] *= 500
    assert torch.equal(mixer(changed)[:, :30], mixer(x)[:, :30])


@kernels
def test_a_row_of_nothing_but_padding_is_not_nan(make: type, features: Callable) -> None:
    x = torch.randn(2, 5, D, requires_grad=True)
    keep = torch.tensor([[True] * 5, [False] * 5])
    for mixer in (make(D, H), Linformer(D, H), Longformer(D, H), BigBird(D, H)):
        y = mixer(x, keep)
        y[0].sum().backward()
        assert y.isfinite().all() and x.grad.isfinite().all()


def estimates(w: Tensor, q: Tensor, k: Tensor) -> Tensor:
    """phi(q) . phi(k) from each group of e rows of w: as many independent estimates of exp(q . k / sqrt(e)) as there are groups."""
    performer = Performer(E, 1, features=len(w))
    performer.w = w
    return (performer.logarithm(q) + performer.logarithm(k)).exp().unflatten(-1, (-1, E)).mean(-1)


def test_random_features_estimate_the_exponential() -> None:
    """E phi(q) . phi(k) = exp(q . k / sqrt(e)), within 4 standard errors."""
    q, k = 0.4 * torch.randn(2, 6, E)
    found, exact = estimates(orthogonal(20_000 * E, E), q, k), ((q * k).sum(-1) / math.sqrt(E)).exp()
    error = found.std(-1) / math.sqrt(20_000)
    assert ((found.mean(-1) - exact).abs() < 4 * error).all() and (error < 0.02 * exact).all()


def test_orthogonal_features_have_the_smaller_error() -> None:
    """Mean squared errors are those of Choromanski et al. 2020: lemma 2 for independent rows, theorem 2 for orthogonal ones.

    mse = exp(|q + k|^2) SM^2 (1 - exp(-|q + k|^2)) / r, and less by 2 (r - 1) / (r (e + 2)) (SM - exp(-(|q|^2 + |k|^2) / 2))^2 at least.
    """
    draws, q, k = 40_000, torch.tensor([0.6, 0.0, 0.5, 0.0, 0.3]), torch.tensor([0.0, 0.7, 0.2, 0.1, -0.3])
    z, sm = (q + k).square().sum(), (q @ k).exp()
    independent = float(z.exp() * sm**2 * (1 - (-z).exp()) / E)
    less = float(2 * (E - 1) / (E * (E + 2)) * (sm - (-(q @ q + k @ k) / 2).exp()) ** 2)
    ours, theirs = ((estimates(w, q * E**0.25, k * E**0.25) - sm).square() for w in (orthogonal(draws * E, E), torch.randn(draws * E, E)))
    error, control = (4 * float(x.std()) / math.sqrt(draws) for x in (ours, theirs))
    assert abs(theirs.mean() - independent) < control
    assert ours.mean() - error < independent - less and ours.mean() + error < independent


def test_features_are_orthogonal_and_each_is_normal() -> None:
    """Each entry is N(0, 1), each squared length is chi^2 with e degrees of freedom; 4.5 standard errors, since 80 means are looked at."""
    assert orthogonal(4 * E + 3, E).shape == (4 * E + 3, E)
    w = orthogonal(4000 * E, E).unflatten(0, (-1, E))
    gram = w @ w.mT
    assert gram.sub(torch.diag_embed(gram.diagonal(dim1=1, dim2=2))).abs().max() < 1e-12
    for draws, mean, variance in ((w, 0, 1), (w**2, 1, 2), (w**4, 3, 96), (w.square().sum(-1), E, 2 * E)):
        assert ((draws.mean(0) - mean).abs() < 4.5 * math.sqrt(variance / len(draws))).all()


def test_performer_converges_to_softmax_attention_as_one_over_the_root_of_the_features() -> None:
    """Slope of log error over log r: four standard errors of the fit, from the spread of the draws, plus what the curve bends.

    The output is a ratio of means over r / e independent groups, so its mean squared error is A / r + B / r^2 + ..., where B / A is about
    the relative variance of one feature, exp(|q + k|^2). The inputs are small enough that this is below 4 and B / (A r) below 0.05
    everywhere: half the logarithm has a slope within 0.05 of -1/2.
    """
    performer, x, draws = Performer(E, 1), 0.3 * torch.randn(1, 12, E), 150
    sizes = [E * 2**i for i in range(4, 9)]
    q, k, v = heads(performer, x)
    assert (q[0, 0, :, None] + k[0, 0, None, :]).square().sum(-1).max() / math.sqrt(E) < math.log(4)
    exact, errors = joined(performer, F.scaled_dot_product_attention(q, k, v)), torch.empty(len(sizes), draws)
    with torch.no_grad():
        for row, r in enumerate(sizes):
            for column in range(draws):
                performer.w = orthogonal(r, E)
                errors[row, column] = (performer(x) - exact).square().mean()
    u = torch.tensor(sizes).log()
    c = (u - u.mean()) / (u - u.mean()).square().sum()
    slope = c @ errors.mean(1).log() / 2
    error = (c * errors.std(1) / errors.mean(1) / math.sqrt(draws) / 2).square().sum().sqrt()
    print(f"slope {slope:.3f} +- {error:.3f}")
    assert error < 0.03 and abs(slope + 0.5) < 4 * error + 0.05


@kernels
@either
@pytest.mark.parametrize("size", [30.0, 100.0, 1e4])
def test_beyond_the_range_the_answer_is_a_mean_of_the_values(
    make: type, features: Callable, mask: Causal | None, size: float
) -> None:
    """In float32 with inputs so large that phi(q) . phi(k) underflows: no NaN, and a single key gets all the weight."""
    torch.manual_seed(0)
    mixer = make(64, 4, mask).float()
    x = (size * torch.randn(1, 4, 64)).float().requires_grad_()
    y = mixer(x)
    y.sum().backward()
    assert all(p.grad.isfinite().all() for p in (x, *(p for p in mixer.parameters())))
    v = mixer.project(x).chunk(3, -1)[2]
    alone = mixer(x[:, :1])
    torch.testing.assert_close(alone, mixer.output(v[:, :1]), rtol=1e-4, atol=1e-3)
    # What the output layer was given:
    mean = torch.linalg.solve(mixer.output.weight.double(), (y - mixer.output.bias)[0].double().T).T
    slack = 1e-3 * size
    assert (mean <= v[0].amax(0) + slack).all() and (mean >= v[0].amin(0) - slack).all()
    if mask:
        torch.testing.assert_close(y[:, :1], alone, rtol=1e-4, atol=1e-5 * size)
        torch.testing.assert_close(stepped(mixer, x.detach())[0], y, rtol=1e-3, atol=1e-3 * size)


def test_features_are_redrawn_on_demand() -> None:
    """Other features of the same kind, in the same place: another estimate, near the same answer."""
    performer, x = Performer(D, H, features=4000), 0.5 * torch.randn(B, 9, D)
    old, before = performer.w.clone(), performer(x)
    performer.redraw()
    assert performer.w.shape == old.shape and not torch.equal(performer.w, old) and "w" in performer.state_dict()
    gram = performer.w[:E] @ performer.w[:E].T
    assert (gram - gram.diag().diag()).abs().max() < 1e-12
    after = performer(x)
    assert not torch.equal(after, before)
    torch.testing.assert_close(after, before, rtol=0.0, atol=0.05)
