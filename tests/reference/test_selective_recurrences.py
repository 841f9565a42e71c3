"""Recurrences whose gates see the input only (minGRU, minLSTM, Mamba) against their papers' equations written out."""

from typing import Any

import pytest
import scipy.stats
import torch
from probes import shaken
from torch import Tensor

from headway.layers.recurrences import selective_scan
from headway.layers.recurrences.mamba import Mamba
from headway.layers.recurrences.min_gru import MinGRU
from headway.layers.recurrences.min_lstm import MinLSTM

pytestmark = pytest.mark.usefixtures("doubles")
B, T, N, D = 2, 53, 5, 11  # batch, positions, inputs, width
CLOSE = {"rtol": 0.0, "atol": 1e-10}


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
    monkeypatch.setattr(selective_scan, "SIZE", 1)  # so pieces have as few positions as they may, and one row each
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
