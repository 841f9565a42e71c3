"""State spaces, minimal gates and stable RNNs against scipy's linear systems and against their papers' equations written out."""

import math
from typing import Any

import numpy as np
import pytest
import scipy.signal
import scipy.stats
import torch
from torch import Tensor

from headway.core.errors import ConfigError
from headway.layers.recurrences import mamba
from headway.layers.recurrences.antisymmetric import Antisymmetric
from headway.layers.recurrences.elman import Elman
from headway.layers.recurrences.lipschitz import Lipschitz
from headway.layers.recurrences.lru import LRU
from headway.layers.recurrences.mamba import Mamba
from headway.layers.recurrences.min_gru import MinGRU
from headway.layers.recurrences.min_lstm import MinLSTM
from headway.layers.recurrences.s4 import S4
from headway.layers.recurrences.s5 import S5, hippo
from headway.layers.recurrences.scan import linear_scan

pytestmark = pytest.mark.usefixtures("doubles")
B, T, N, D = 2, 53, 5, 11  # batch, positions, inputs, width
CLOSE = {"rtol": 0.0, "atol": 1e-10}


def shaken(mixer: Any, size: float = 0.1) -> Any:
    """Away from the start, where mistakes may cancel."""
    with torch.no_grad():
        for p in mixer.parameters():
            p.add_(size * torch.randn(p.shape))
    return mixer


def walked(mixer: Any, x: Tensor) -> Tensor:
    state, out = mixer.start(len(x)), []
    for t in range(x.shape[1]):
        y, state = mixer.step(x[:, t], state)
        out.append(y)
    return torch.stack(out, 1)


def real(z: Tensor) -> np.ndarray:
    """A complex diagonal matrix as a real one of twice the size, which is all that scipy knows."""
    re, im = np.diag(z.detach().real.numpy()), np.diag(z.detach().imag.numpy())
    return np.block([[re, -im], [im, re]])


def pairs(z: Tensor) -> Tensor:
    return torch.view_as_complex(z.detach())


# -- linear and time-invariant ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [LRU, S5])
def test_scan_loop_and_convolution_agree(kind: Any) -> None:
    mixer, x = shaken(kind(N, D, states=6)), torch.randn(B, T, N)
    y = mixer(x)
    torch.testing.assert_close(walked(mixer, x), y, **CLOSE)
    torch.testing.assert_close(mixer.convolve(x), y, **CLOSE)


@pytest.mark.parametrize("t", [1, 2, 16, 17, 53])
def test_scan_loop_and_convolution_agree_for_s4(t: int) -> None:
    mixer, u = shaken(S4(N, D, states=6)), torch.randn(B, t, D)
    z, read = mixer.poles()
    states = linear_scan(z.exp(), u[..., None].expand(-1, -1, -1, 3).to(z.dtype))
    torch.testing.assert_close(mixer.convolve(u), (read * states).real.sum(-1) + mixer.D * u, **CLOSE)
    x = torch.randn(B, t, N)
    torch.testing.assert_close(walked(mixer, x), mixer(x), **CLOSE)


@pytest.mark.parametrize("kind", [LRU, S5])
def test_outputs_are_those_of_scipys_simulation(kind: Any) -> None:
    """scipy reads a state before it writes: its output matrices are C A and D + C B."""
    mixer, x = shaken(kind(N, D, states=6)), torch.randn(B, T, N)
    pole, gain = mixer.poles()
    written, c = gain.detach()[:, None] * pairs(mixer.B), pairs(mixer.C)
    a, b = real(pole), np.concatenate((written.real, written.imag))
    c = np.concatenate((c.real, -c.imag), 1)
    for row in range(B):
        _, expected, _ = scipy.signal.dlsim((a, b, c @ a, mixer.D.detach().numpy() + c @ b, 1.0), x[row].numpy())
        np.testing.assert_allclose(mixer(x)[row].detach().numpy(), expected, rtol=0, atol=1e-10)


def test_one_channel_of_s4_is_scipys_zero_order_hold() -> None:
    mixer = shaken(S4(N, D, states=8))
    kernel = mixer.kernel(300).detach().numpy()
    for channel in (0, 7):
        a = torch.complex(-mixer.decay.exp(), mixer.omega)[channel]
        c = 2 * pairs(mixer.C)[channel].numpy()
        b = np.concatenate((np.ones((4, 1)), np.zeros((4, 1))))
        system = (real(a), b, np.concatenate((c.real, -c.imag))[None], np.zeros((1, 1)))
        discrete = scipy.signal.cont2discrete(system, mixer.dt.exp()[channel].item(), "zoh")
        _, (response,) = scipy.signal.dimpulse(discrete, n=301)
        np.testing.assert_allclose(kernel[channel], response[1:, 0], rtol=0, atol=1e-10)  # scipy's first one is D


def test_s4_starts_as_s4d_lin() -> None:
    mixer = S4(N, D, states=8)
    assert torch.allclose(mixer.decay.exp(), torch.tensor(0.5))
    torch.testing.assert_close(mixer.omega[3], math.pi * torch.arange(4.0))
    dt = S4(1, 1000, states=2).dt.exp().log10()
    assert scipy.stats.kstest(dt.detach().numpy().ravel(), "uniform", (-3, 2)).pvalue > 0.01


def normal_hippo(n: int) -> np.ndarray:
    """HiPPO-LegS as Gu et al. 2020 print it, plus the rank one that makes it normal (Gu et al. 2022)."""
    a = np.zeros((n, n))
    for i in range(n):
        for k in range(i + 1):
            a[i, k] = -(i + 1) if i == k else -math.sqrt((2 * i + 1) * (2 * k + 1))
    p = np.sqrt(np.arange(n) + 0.5)
    return a + np.outer(p, p)


def test_s5_starts_with_the_eigenvalues_of_hippo() -> None:
    eigenvalues, vectors = hippo(16)
    a = torch.tensor(normal_hippo(16), dtype=torch.complex128)
    torch.testing.assert_close(a @ vectors, vectors * eigenvalues, **CLOSE)
    assert (eigenvalues.imag > 0).all()
    above = np.sort(np.linalg.eigvals(a.numpy()).imag)[8:]
    np.testing.assert_allclose(eigenvalues.imag.numpy(), above, rtol=1e-8)


def test_s5_starts_as_the_dense_real_system() -> None:
    """Half the eigenvalues, counted twice, are the HiPPO system before it was diagonalised."""
    mixer, x = S5(N, D, states=8), torch.randn(1, T, N)
    mixer.dt.data.fill_(math.log(0.05))
    _, v = hippo(8)
    b, c = 2 * (v @ pairs(mixer.B)).real.numpy(), (pairs(mixer.C) @ v.mH).real.numpy()
    dense = scipy.signal.cont2discrete((normal_hippo(8), b, c, np.zeros((D, N))), 0.05, "zoh")
    a, b = dense[0], dense[1]
    _, expected, _ = scipy.signal.dlsim((a, b, c @ a, mixer.D.detach().numpy() + c @ b, 1.0), x[0].numpy())
    np.testing.assert_allclose(mixer(x)[0].detach().numpy(), expected, rtol=0, atol=1e-10)
    wide = S5(500, 500, states=8)  # before it was diagonalised: variance 1/inputs and 1/states
    assert (2 * (v @ pairs(wide.B)).real).std().item() == pytest.approx(500**-0.5, rel=0.05)
    assert (pairs(wide.C) @ v.mH).real.std().item() == pytest.approx(8**-0.5, rel=0.05)


# -- LRU ----------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [torch.float32, torch.float64])
@pytest.mark.parametrize("size", [0.1, 10.0, 1000.0])
def test_moduli_stay_between_zero_and_one(size: float, kind: torch.dtype) -> None:
    pole, gain = shaken(LRU(N, D, states=1000).to(kind), size).poles()
    assert (pole.abs() > 0).all() and (pole.abs() < 1).all()
    if size < 1000:
        assert gain.isfinite().all()


def test_eigenvalues_start_uniformly_on_the_ring() -> None:
    pole, gain = LRU(N, D, states=20_000, r_min=0.5, r_max=0.9).poles()
    squared = (pole.abs() ** 2).detach().numpy()
    assert scipy.stats.kstest(squared, "uniform", (0.25, 0.56)).pvalue > 0.01
    assert scipy.stats.kstest(np.sqrt(squared), "uniform", (0.5, 0.4)).pvalue < 1e-6, "uniform radii crowd the middle (erratum C19)"
    angle = pole.angle().detach().numpy() % (2 * np.pi)
    assert scipy.stats.kstest(angle, "uniform", (0, 2 * np.pi)).pvalue > 0.01
    # White noise of variance 1, filtered by gamma lambda^s, has the variance sum_s gamma^2 |lambda|^2s.
    torch.testing.assert_close(gain.abs() ** 2 / (1 - pole.abs() ** 2), torch.ones(20_000), rtol=1e-6, atol=0)
    disk = LRU(N, D, states=20_000, r_min=0.0, r_max=1.0).poles()[0].abs()
    assert (disk < 0.5).double().mean().item() == pytest.approx(0.25, abs=4 * math.sqrt(0.25 * 0.75 / 20_000))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: LRU(N, D, r_min=0.9, r_max=0.5), "`r_min` is 0.9 and `r_max` is 0.5, expected 0 <= r_min < r_max <= 1"),
        (lambda: S4(N, D, states=7), "`states` is 7, expected an even number"),
        (lambda: S5(N, D, states=0), "`states` is 0, expected an even number"),
        (lambda: Lipschitz(N, D, beta=0.2), "`beta` is 0.2, expected a number between 0.5 and 1"),
    ],
)
def test_what_cannot_be_is_refused(make: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        make()


# -- gates that see the input only ------------------------------------------------------------------------------------------------------


def test_min_gru_is_its_equation() -> None:
    mixer, x = shaken(MinGRU(N, D)), torch.randn(B, T, N)
    z, candidate = 1 - mixer.input(x)[..., :D].sigmoid(), mixer.input(x)[..., D:]
    h, found = torch.zeros(B, D), mixer(x)
    for t in range(T):
        h = (1 - z[:, t]) * h + z[:, t] * candidate[:, t]
        torch.testing.assert_close(found[:, t], h, **CLOSE)


def test_min_lstm_is_its_equation() -> None:
    mixer, x = shaken(MinLSTM(N, D)), torch.randn(B, T, N)
    f, i, candidate = mixer.input(x).chunk(3, -1)
    f, i = f.sigmoid(), i.sigmoid()
    h, found = torch.zeros(B, D), mixer(x)
    for t in range(T):
        h = f[:, t] / (f[:, t] + i[:, t]) * h + i[:, t] / (f[:, t] + i[:, t]) * candidate[:, t]
        torch.testing.assert_close(found[:, t], h, **CLOSE)


@pytest.mark.parametrize("kind", [MinGRU, MinLSTM])
def test_saturated_gates_give_numbers(kind: Any) -> None:
    mixer = kind(N, D).float()
    x = (1e4 * torch.randn(B, T, N)).float().requires_grad_()
    y = mixer(x)
    (g,) = torch.autograd.grad(y.sum(), x)
    assert y.isfinite().all() and g.isfinite().all()


# -- Mamba --------------------------------------------------------------------------------------------------------------------------


def paper(m: Mamba, x: Tensor) -> Tensor:
    """Algorithm 2 and figure 3 of Gu & Dao 2023, one sentence, one position and one channel's state at a time."""
    inner, n = m.A.shape
    rank, window, out = m.dt.in_features, m.convolution.weight.shape[-1], []
    for sentence in x:
        uz = sentence @ m.input.weight.T
        u, z = uz[:, :inner], uz[:, inner:]
        h = torch.zeros(inner, n)
        for t in range(len(sentence)):
            v = m.convolution.bias
            for k in range(window):
                if t - k >= 0:
                    v = v + m.convolution.weight[:, 0, window - 1 - k] * u[t - k]
            v = v * torch.sigmoid(v)
            rbc = m.select.weight @ v
            dt = torch.log1p(torch.exp(m.dt.weight @ rbc[:rank] + m.dt.bias))
            b, c = rbc[rank : rank + n], rbc[rank + n :]
            h = torch.exp(dt[:, None] * -m.A.exp()) * h + dt[:, None] * b[None, :] * v[:, None]
            y = (h * c[None, :]).sum(1) + m.D * v
            out.append(m.output.weight @ (y * z[t] * torch.sigmoid(z[t])))
    return torch.stack(out).unflatten(0, (len(x), -1))


def test_mamba_is_its_paper(monkeypatch: pytest.MonkeyPatch) -> None:
    """In pieces that do not divide the length; outputs and gradients."""
    monkeypatch.setattr(mamba, "PIECE", 8)
    m = shaken(Mamba(N, D, states=3))
    x = torch.randn(B, 21, N, requires_grad=True)
    found, expected, g = m(x), paper(m, x), torch.randn(B, 21, D)
    torch.testing.assert_close(found, expected, **CLOSE)
    leaves = [x, *m.parameters()]
    for mine, theirs in zip(torch.autograd.grad(found, leaves, g), torch.autograd.grad(expected, leaves, g), strict=True):
        torch.testing.assert_close(mine, theirs, **CLOSE)


def test_mamba_starts_as_its_paper() -> None:
    m = Mamba(N, 1000, states=4, expand=1)
    torch.testing.assert_close(-m.A.exp()[17], -torch.arange(1.0, 5.0))
    dt = torch.nn.functional.softplus(m.dt.bias).log10().detach().numpy()
    assert scipy.stats.kstest(dt, "uniform", (-3, 2)).pvalue > 0.01


def test_mamba_does_not_store_states_of_all_positions() -> None:
    m, x, stored = Mamba(N, D, states=64), torch.randn(1, 512, N), {}

    def note(z: Tensor) -> Tensor:  # a view keeps all of its storage alive
        stored[z.untyped_storage().data_ptr()] = z.untyped_storage().nbytes() / z.element_size()
        return z

    with torch.autograd.graph.saved_tensors_hooks(note, lambda z: z):
        m(x)
    assert sum(stored.values()) < 512 * 2 * D * 64 / 2, "half of what the states of all positions would take"


# -- stable dynamical systems -------------------------------------------------------------------------------------------------------


def jacobian(mixer: Any, h: Tensor, wx: Tensor, epsilon: float) -> Tensor:
    """Of the differential equation that a step follows: d/dh of (h' - h) / epsilon."""
    return torch.func.jacrev(lambda h: (mixer.cell(wx[None], (h[None],))[0][0] - h) / epsilon)(h)


def test_antisymmetric_is_its_equation_and_never_explodes() -> None:
    gamma, epsilon = 0.05, 0.2
    mixer = Antisymmetric(N, D, epsilon, gamma)
    w = mixer.hidden.parametrizations.weight.original.detach()
    h, x = torch.randn(D), torch.randn(N)
    m = w - w.T - gamma * torch.eye(D)
    torch.testing.assert_close(torch.linalg.eigvals(m).real, torch.full((D,), -gamma), **CLOSE)
    slope = 1 - torch.tanh(m @ h + mixer.hidden.bias + mixer.input(x)) ** 2
    expected = h + epsilon * torch.tanh(m @ h + mixer.hidden.bias + mixer.input(x))
    torch.testing.assert_close(mixer.step(x[None], (h[None],))[0][0], expected, **CLOSE)
    parts = torch.linalg.eigvals(jacobian(mixer, h, mixer.input(x), epsilon)).real
    assert parts.max() <= -gamma * slope.min() + 1e-10 and parts.min() >= -gamma * slope.max() - 1e-10
    elman = Elman(N, D)
    elman.hidden.weight.data = 3 * w
    assert torch.linalg.eigvals(jacobian(elman, h, elman.input(x), 1.0)).real.max() > -1, "an unconstrained matrix is not stable"
    assert torch.linalg.eigvals(w).real.max() > 0


@pytest.mark.parametrize("beta", [0.5, 0.75, 1.0])
def test_lipschitz_is_its_equation_with_the_chosen_symmetric_part(beta: float) -> None:
    gamma, epsilon = 0.05, 0.2
    mixer = Lipschitz(N, D, epsilon, beta, gamma)
    h, x = torch.randn(D), torch.randn(N)
    built = []
    for layer in (mixer.linear, mixer.hidden):
        m, a = layer.parametrizations.weight.original.detach(), layer.weight.detach()
        torch.testing.assert_close(a, (1 - beta) * (m + m.T) + beta * (m - m.T) - gamma * torch.eye(D), **CLOSE)
        ours, free = torch.linalg.eigvalsh((a + a.T) / 2), torch.linalg.eigvalsh((m + m.T) / 2)
        torch.testing.assert_close(ours, 2 * (1 - beta) * free - gamma, **CLOSE)
        assert torch.linalg.eigvals(a).real.max() <= ours.max() + 1e-10
        built.append(a)
    a, w = built
    expected = h + epsilon * (a @ h + torch.tanh(w @ h + mixer.hidden.bias + mixer.input(x)))
    torch.testing.assert_close(mixer.step(x[None], (h[None],))[0][0], expected, **CLOSE)
    if beta == 1.0:
        torch.testing.assert_close(torch.linalg.eigvals(a).real, torch.full((D,), -gamma), **CLOSE)
