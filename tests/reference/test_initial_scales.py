"""First weights that are drawn inside a layer: each has the spread that its paper or its docstring gives, within four standard errors.

A wrong one changes no equation and breaks no contract: it only makes learning slow, which nothing else here would notice.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.stats
import torch
from torch import Tensor
from torch.nn.functional import softplus

from headway.layers.attention.linformer import Linformer
from headway.layers.attention.shifted_window import ShiftedWindow
from headway.layers.positions.learned_grid import LearnedGrid
from headway.layers.positions.relative import Relative
from headway.layers.recurrences.antisymmetric import Antisymmetric
from headway.layers.recurrences.lipschitz import Lipschitz
from headway.layers.recurrences.lru import LRU
from headway.layers.recurrences.mamba import Mamba
from headway.layers.recurrences.s4 import S4
from headway.layers.recurrences.s5 import S5
from headway.models import gpt
from headway.models.gpt import GPT

pytestmark = pytest.mark.usefixtures("doubles")


def free(layer: Any) -> Tensor:
    """M of a matrix that is made from M."""
    return layer.parametrizations.weight.original


SPREADS: dict[str, tuple[Callable[[], Tensor], float]] = {
    "linformer e": (lambda: Linformer(4, 2, rank=50, longest=80).e, 80**-0.5),
    "linformer f": (lambda: Linformer(4, 2, rank=50, longest=80).f, 80**-0.5),
    "shifted_window table": (lambda: ShiftedWindow(8, 8, 12, 0).table, 0.02),
    "learned_grid rows": (lambda: LearnedGrid(64).rows, 0.02),
    "learned_grid columns": (lambda: LearnedGrid(64).columns, 0.02),
    "relative u": (lambda: Relative(40, 50).u, 0.02),
    "relative v": (lambda: Relative(40, 50).v, 0.02),
    "relative W_r": (lambda: Relative(16, 8).weight, 128**-0.5),
    "antisymmetric W": (lambda: free(Antisymmetric(3, 60).hidden), 60**-0.5),
    "lipschitz A": (lambda: free(Lipschitz(3, 60).linear), 60**-0.5),
    "lipschitz W": (lambda: free(Lipschitz(3, 60).hidden), 60**-0.5),
    "lru B": (lambda: LRU(50, 70, states=30).B, (2 * 50) ** -0.5),
    "lru C": (lambda: LRU(50, 70, states=30).C, 30**-0.5),
    "lru D": (lambda: LRU(50, 70, states=30).D.weight, 50**-0.5),
    "s4 C": (lambda: S4(50, 70, states=30).C, 0.5**0.5),
    "s4 D": (lambda: S4(5, 3000, states=2).D, 1.0),
    "s5 D": (lambda: S5(50, 70, states=30).D.weight, 50**-0.5),
}


@pytest.mark.parametrize("name", SPREADS)
def test_spread(name: str) -> None:
    """The mean is 0; the spread of a mean is sigma / sqrt(n), that of a standard deviation sigma / sqrt(2 n)."""
    make, sigma = SPREADS[name]
    w = make().detach()
    assert w.numel() >= 1000
    assert abs(w.mean().item()) < 4 * sigma / math.sqrt(w.numel())
    assert abs(w.std().item() - sigma) < 4 * sigma / math.sqrt(2 * w.numel())


def test_what_linformer_projects_keeps_its_size() -> None:
    """At the longest length E K is of the size of K."""
    mixer, k = Linformer(4, 2, rank=64, longest=512), torch.randn(512, 200)
    for projection in (mixer.e, mixer.f):
        assert (projection @ k).std().item() == pytest.approx(1.0, abs=4 * math.sqrt(1 / (2 * 64 * 200) + 1 / (2 * 64 * 512)))


def test_states_and_outputs_of_an_lru_keep_the_variance_of_white_noise() -> None:
    """sum_s gamma^2 |lambda|^2s |B|^2 = 1 for every state on average, and Re(C h) adds up 2 n products of variance 1 / 2 n."""
    mixer = LRU(200, 300, states=400)
    pole, gain = (z.detach() for z in mixer.poles())
    states = (gain[:, None] * torch.view_as_complex(mixer.B.detach())).abs().square().sum(1) / (1 - pole.abs() ** 2)
    assert states.mean().item() == pytest.approx(1.0, abs=4 / math.sqrt(2 * 200 * 400) * math.sqrt(2))
    h = torch.complex(*torch.randn(2, 100, 400) / math.sqrt(2))
    y = (h @ torch.view_as_complex(mixer.C.detach()).T).real
    assert y.std().item() == pytest.approx(1.0, abs=0.03)


def test_blocks_of_language_models_start_quietly() -> None:
    """Those of GPT as the identity, to the last bit; those of any other mixer with a feed-forward network that sees nothing."""
    x = torch.randn(2, 5, 8)
    for block in GPT(gpt.Config(width=8, depth=2, heads=2, inner=12, context=5), 7).blocks:
        assert torch.equal(block(x), x)
    for block in GPT(gpt.Config(mixer="lstm", width=8, depth=2, heads=2, inner=12), 7).blocks:
        assert torch.equal(block.feedforward(x), block.feedforward.down.bias.expand_as(x)) and not torch.equal(block.mixer(x), 0 * x)


STEPS: dict[str, Callable[[], Tensor]] = {
    "s4": lambda: S4(1, 1000, states=2).dt.exp(),
    "s5": lambda: S5(1, 1, states=400).dt.exp(),
    "mamba": lambda: softplus(Mamba(1, 1000, states=1, expand=1).dt.bias),
}


@pytest.mark.parametrize("name", STEPS)
def test_steps_are_log_uniform_between_a_thousandth_and_a_tenth(name: str) -> None:
    dt = STEPS[name]().detach().numpy().ravel()
    assert scipy.stats.kstest(np.log10(dt), "uniform", (-3, 2)).pvalue > 0.01
    assert 0.001 - 1e-12 < dt.min() < 0.002 and 0.05 < dt.max() < 0.1 + 1e-12
