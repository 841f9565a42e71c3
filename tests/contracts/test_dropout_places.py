"""Dropout acts where it should: on what a sublayer adds, never on what passes beside it; and on what goes into each stacked layer."""

from functools import partial
from typing import Any

import pytest
import torch
from tiny import BATCH, INPUTS, TARGET, WIDTH
from torch import nn

from headway.layers.connections.deep_norm import DeepNorm
from headway.layers.connections.post_norm import PostNorm
from headway.layers.connections.pre_norm import PreNorm
from headway.layers.recurrences.lstm import LSTM
from headway.layers.recurrences.stacked import Stacked

pytestmark = pytest.mark.usefixtures("doubles")
ARRANGEMENTS = {"pre": (PreNorm, 1.0), "post": (PostNorm, 1.0), "deep": (partial(DeepNorm, alpha=3.0), 3.0)}


@pytest.mark.parametrize("name", ARRANGEMENTS)
def test_a_residual_drops_what_the_sublayer_adds(name: str) -> None:
    """Without its norm, y - alpha x is 0 or F(x) / (1 - p), half of each; in eval it is F(x)."""
    make, alpha = ARRANGEMENTS[name]
    around: Any = make(WIDTH, 0.5).train()
    around.norm, x = nn.Identity(), torch.randn(BATCH, 50, WIDTH)
    added = around(x, torch.cos) - alpha * x
    kept = added.abs() > 1e-9
    torch.testing.assert_close(added, torch.where(kept, 2 * x.cos(), 0.0), rtol=0.0, atol=1e-12)
    assert kept.double().mean().item() == pytest.approx(0.5, abs=4 * 0.5 / kept.numel() ** 0.5)
    torch.testing.assert_close(around.eval()(x, torch.cos) - alpha * x, x.cos(), rtol=0.0, atol=1e-12)


class Twice(nn.Module):
    """What stands in for dropout, so that its places can be seen."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return 2 * x


def test_stacked_layers_drop_what_goes_into_each() -> None:
    stacked, x = Stacked([LSTM(INPUTS, WIDTH), LSTM(WIDTH, WIDTH)], dropout=0.5).train(), torch.randn(BATCH, TARGET, INPUTS)
    assert not torch.equal(stacked(x), stacked(x)) and torch.equal(stacked.eval()(x), stacked(x))
    stacked.dropout = Twice()
    first, second = stacked.layers
    expected = second(2 * first(2 * x))
    torch.testing.assert_close(stacked(x), expected, rtol=0.0, atol=1e-12)
    torch.testing.assert_close(stacked.scan(x, None, stacked.start(BATCH))[0], expected, rtol=0.0, atol=1e-12)
    torch.testing.assert_close(stacked.step(x[:, 0], stacked.start(BATCH))[0], expected[:, 0], rtol=0.0, atol=1e-12)
