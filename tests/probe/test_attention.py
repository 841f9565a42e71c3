"""Attention heads whose answers are known: equal weights, one position, and a head that gives nothing."""

import math

import torch
from torch import Tensor, nn

from headway.layers.attention.multihead import Multihead
from headway.layers.masks import Causal
from headway.probe.attention import attention_heads, entropy_of, head_ablation, short
from headway.probe.symmetry import permutation_symmetry
from tests.probe.known import Rows, linear, subject

WIDTH, HEADS, LENGTH = 8, 2, 5


class Attending(nn.Module):
    def __init__(self, mask: object = None) -> None:
        super().__init__()
        self.mixer, self.last = Multihead(WIDTH, HEADS, mask), linear(torch.eye(WIDTH))

    def forward(self, x: Tensor) -> Tensor:
        return self.last(self.mixer(x))


def uniform(mask: object = None) -> Attending:
    """Queries are 0, so that all scores are equal."""
    net = Attending(mask)
    with torch.no_grad():
        net.mixer.project.weight[:WIDTH] = 0
        net.mixer.project.bias[:WIDTH] = 0
    return net


TEXT = Rows(torch.randn(3, LENGTH, WIDTH, generator=torch.Generator().manual_seed(1)))


def test_equal_weights_have_an_entropy_of_ln_n_and_the_mean_distance() -> None:
    numbers = attention_heads(subject(uniform(), TEXT)).numbers
    assert all(math.isclose(v, math.log(LENGTH)) for v in numbers["entropy/mixer"])
    places = torch.arange(LENGTH)
    far = (places[:, None] - places).abs().double().mean()
    assert all(math.isclose(v, float(far)) for v in numbers["distance/mixer"])


def test_under_a_causal_mask_equal_weights_are_over_the_past() -> None:
    numbers = attention_heads(subject(uniform(Causal()), TEXT)).numbers
    expected = sum(math.log(t) for t in range(1, LENGTH + 1)) / LENGTH
    assert all(math.isclose(v, expected) for v in numbers["entropy/mixer"])


def test_one_position_has_no_entropy() -> None:
    assert float(entropy_of(torch.tensor([1.0, 0.0, 0.0]))) == 0.0


def test_a_head_that_gives_nothing_costs_nothing() -> None:
    net = Attending()
    half = WIDTH // HEADS
    with torch.no_grad():
        net.mixer.output.weight[:, half:] = 0  # what the second head gives is not read
        net.mixer.output.bias.zero_()
    numbers = head_ablation(subject(net, TEXT)).numbers
    assert numbers["cost/mixer"][1] == 0.0 and math.isclose(numbers["cost/mixer"][0], -numbers["loss"])


def test_heads_can_be_reordered() -> None:
    found = permutation_symmetry(subject(Attending(), TEXT))
    assert found.numbers["change/mixer (heads)"] < 1e-12 < 1e-3 < found.numbers["control/mixer (heads)"]


def test_rows_of_a_panel_have_short_names() -> None:
    assert [short(n) for n in ("decoder.0.cross", "encoder.1.mixer", "blocks.2.mixer")] == ["cross 0", "encoder 1", "blocks 2"]
