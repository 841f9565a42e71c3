"""Linear state spaces (S4, S5, LRU) against scipy's linear systems and the distributions their papers start from."""

import math
from typing import Any

import numpy as np
import pytest
import scipy.signal
import scipy.stats
import torch
from probes import shaken, walked
from torch import Tensor

from headway.core.errors import ConfigError
from headway.layers.recurrences.lipschitz import Lipschitz
from headway.layers.recurrences.lru import LRU
from headway.layers.recurrences.s4 import S4
from headway.layers.recurrences.s5 import S5, hippo
from headway.layers.recurrences.scan import linear_scan
from headway.layers.roles import roles

pytestmark = pytest.mark.usefixtures("doubles")
B, T, N, D = 2, 53, 5, 11  # batch, positions, inputs, width
CLOSE = {"rtol": 0.0, "atol": 1e-10}


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
        _, expected, _ = scipy.signal.dlsim((a, b, c @ a, mixer.D.weight.detach().numpy() + c @ b, 1.0), x[row].numpy())
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
    _, expected, _ = scipy.signal.dlsim((a, b, c @ a, mixer.D.weight.detach().numpy() + c @ b, 1.0), x[0].numpy())
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


@pytest.mark.parametrize("kind", [LRU, S5])
def test_d_is_a_vector_where_the_width_stays(kind: Any) -> None:
    """As in the papers: y_t = Re(C h_t) + D * x_t. Where the width changes it is a matrix, as its role says."""
    mixer, x = shaken(kind(D, D, states=8)), torch.randn(B, T, D)
    assert mixer.D.weight.shape == (D,) and roles(mixer)["D.weight"] == "vector"
    d, y = mixer.D.weight.detach().clone(), mixer(x)
    torch.testing.assert_close(mixer.convolve(x), y, **CLOSE)
    torch.testing.assert_close(walked(mixer, x), y, **CLOSE)
    with torch.no_grad():
        mixer.D.weight.zero_()
    torch.testing.assert_close(y, mixer(x) + d * x, **CLOSE)
    other = kind(D, D + 1, states=8)
    assert other.D.weight.shape == (D + 1, D) and roles(other)["D.weight"] == "matrix"
