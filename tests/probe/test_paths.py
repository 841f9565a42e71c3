"""Regions, pieces and lengths along paths, on networks whose answers are known."""

import numpy as np
import pytest
import torch
from torch import nn

from headway.probe.finding import NotApplicableError
from headway.probe.linear_regions import follow, linear_regions
from headway.probe.paths import Paths
from headway.probe.trajectory_length import trajectory_length
from tests.probe.known import Rows, linear, subject, tents

ENDS = Rows(torch.tensor([[0.001], [0.999]]))  # one path from 0 to 1, and one back


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_the_tent_map_has_2_to_the_k_pieces(k: int) -> None:
    found = linear_regions(subject(tents(k), ENDS))
    assert found.kind == "exact" and found.numbers["pieces"] == [2**k, 2**k]
    assert min(found.numbers["regions"]) >= 2**k


def test_a_linear_model_has_one_region() -> None:
    found = linear_regions(subject(nn.Sequential(linear(torch.randn(3, 4))), Rows(torch.randn(5, 4))))
    assert found.kind == "exact" and found.numbers == {"regions": [1] * 5, "pieces": [1] * 5}


def test_one_hidden_layer_crosses_as_many_borders_as_units_change_their_sign() -> None:
    """On a line every unit of the first layer switches at most once, so the signs at both ends tell the number."""
    first = nn.Linear(6, 40)
    x = torch.randn(7, 6)
    signs = first(x) > 0
    expected = (signs != signs.roll(-1, 0)).sum(1) + 1
    found = linear_regions(subject(nn.Sequential(first, nn.ReLU(), nn.Linear(40, 2)), Rows(x)))
    assert found.kind == "exact" and found.numbers["regions"] == expected.tolist()


def test_a_deep_network_has_the_regions_that_a_fine_grid_sees() -> None:
    net = nn.Sequential(nn.Linear(2, 12), nn.ReLU(), nn.Linear(12, 12), nn.ReLU(), nn.Linear(12, 1)).double()
    x = 2 * torch.randn(3, 2)
    s = subject(net, Rows(x))
    t = torch.linspace(0, 1, 40_001, dtype=torch.float64)[:, None]
    expected = []
    for a, b in zip(x.double(), x.double().roll(-1, 0), strict=True):
        h = net[0](a + t * (b - a))
        signs = torch.cat((h > 0, net[2](h.relu()) > 0), 1)
        expected.append(int((signs[1:] != signs[:-1]).any(1).sum()) + 1)
    assert follow(s, Paths.of(s, 8))[0] == expected


def test_a_smooth_gate_is_counted_but_called_an_estimate() -> None:
    first = linear(torch.tensor([[1.0]]), torch.tensor([-0.5]))
    found = linear_regions(subject(nn.Sequential(first, nn.GELU(), nn.Linear(1, 1)), ENDS))
    assert found.kind == "estimate" and found.numbers["switches"] == [1, 1]


def test_without_units_that_switch_there_is_nothing_to_count() -> None:
    with pytest.raises(NotApplicableError, match="no units that switch"):
        linear_regions(subject(nn.Sequential(nn.Linear(1, 3), nn.Tanh(), nn.Linear(3, 1)), ENDS))


def test_one_example_is_no_path() -> None:
    with pytest.raises(NotApplicableError, match="two different examples"):
        linear_regions(subject(nn.Sequential(nn.Linear(1, 1)), Rows(torch.ones(1, 1))))


def test_the_identity_keeps_the_length_of_a_path() -> None:
    net = nn.Sequential(linear(torch.eye(4)), linear(torch.eye(4)))
    found = trajectory_length(subject(net, Rows(torch.randn(6, 4))))
    assert all(np.isclose(v, 1.0) for v in found.numbers.values()) and "keeps the length" in found.reading


def test_each_layer_stretches_by_its_factor() -> None:
    net = nn.Sequential(linear(3 * torch.eye(4)), linear(3 * torch.eye(4)))
    numbers = trajectory_length(subject(net, Rows(torch.randn(6, 4)))).numbers
    assert np.isclose(numbers["ratio/0"], 3) and np.isclose(numbers["ratio/1"], 9) and np.isclose(numbers["ratio/output"], 9)


class Company(nn.Module):
    """Every row is moved by the mean of all: rows are not independent, as the nodes of a graph."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(2, 2), nn.Linear(2, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.first(x)
        return self.last(torch.relu(y) + y.mean(0))


def test_rows_that_depend_on_each_other_are_one_path() -> None:
    found = linear_regions(subject(Company(), Rows(torch.randn(5, 2))))
    assert len(found.numbers["regions"]) == 1
