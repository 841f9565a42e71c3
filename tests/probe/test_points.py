"""Dimension, rank, margin, gradients, curvature, symmetry and spectra, on networks whose answers are known."""

import math
from itertools import pairwise

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from headway.data.labelled_batches import LabelledBatch
from headway.probe.dimension import effective_rank, intrinsic_dimension, rank_of
from headway.probe.finding import NotApplicableError
from headway.probe.gradients import gradient_depth, gradient_time
from headway.probe.margin import margin, margins_of
from headway.probe.sharpness import lanczos, sharpness
from headway.probe.spectra import edge, outliers, weight_spectra
from headway.probe.symmetry import permutation_symmetry
from tests.probe.known import Rows, classes, linear, subject


@pytest.mark.parametrize("k", [1, 2, 4])
def test_a_gaussian_cloud_on_a_plane_has_the_dimension_of_the_plane(k: int) -> None:
    plane = torch.linalg.qr(torch.randn(20, k))[0]
    net = nn.Sequential(linear(2 * torch.eye(20)))
    found = intrinsic_dimension(subject(net, Rows(torch.randn(1000, k) @ plane.T)))
    assert all(abs(v - k) < 0.15 * k for v in found.numbers.values()) and found.kind == "estimate"


def test_points_that_are_copies_have_no_dimension() -> None:
    with pytest.raises(NotApplicableError, match="copy"):
        intrinsic_dimension(subject(nn.Sequential(nn.Linear(3, 3)), Rows(torch.ones(100, 3))))


def test_k_equal_singular_values_are_a_rank_of_k() -> None:
    k = 6
    points = torch.linalg.qr(torch.randn(50, k + 1) - 0.0)[0].double()
    points = points - points.mean(0)
    points = torch.linalg.svd(points, full_matrices=False)[0][:, :k]  # orthonormal columns, centred
    assert math.isclose(rank_of(points.numpy()), k, rel_tol=1e-9)
    numbers = effective_rank(subject(nn.Sequential(linear(torch.eye(k))), Rows(points))).numbers
    assert math.isclose(numbers["rank/input"], k, rel_tol=1e-6) and math.isclose(numbers["rank/0"], k, rel_tol=1e-6)
    assert rank_of(np.ones((5, 3))) == 0.0


def test_the_margin_of_a_linear_model_is_the_distance_to_its_plane() -> None:
    w, b, x = torch.randn(2, 5), torch.randn(2), torch.randn(40, 5)
    y = torch.arange(40) % 2
    batch = LabelledBatch((x,), y)
    asked = subject(nn.Sequential(linear(w, b)), batch, loss=classes)
    m, d = margins_of(asked, asked.batches[0])
    normal, offset = (w[1] - w[0]).double(), (b[1] - b[0]).double()
    signed = (2 * y - 1) * (x.double() @ normal + offset)
    assert np.allclose(m, signed.numpy(), atol=1e-6) and np.allclose(d, (signed / normal.norm()).numpy(), atol=1e-6)
    found = margin(subject(nn.Sequential(linear(w, b)), batch, loss=classes))
    assert found.numbers["wrong"] == float((signed <= 0).double().mean())


def test_numbers_have_no_margin() -> None:
    batch = LabelledBatch((torch.randn(4, 3),), torch.randn(4, 2))
    with pytest.raises(NotApplicableError, match="one class"):
        margin(subject(nn.Sequential(nn.Linear(3, 2)), batch))


def test_gradients_grow_by_the_factor_of_each_layer() -> None:
    net = nn.Sequential(*(linear(3 * torch.eye(4)) for _ in range(4)))
    numbers = gradient_depth(subject(net, Rows(torch.randn(6, 4)))).numbers
    values = list(numbers.values())
    assert np.allclose([a / b for a, b in pairwise(values)], 3.0)


class Leaky(nn.Module):
    """h_t = decay h_{t-1} + W x_t."""

    def __init__(self, decay: float) -> None:
        super().__init__()
        self.decay, self.read, self.out = decay, linear(torch.eye(3)), linear(torch.eye(3))

    def forward(self, x: Tensor) -> Tensor:
        h, states, read = torch.zeros_like(x[:, 0]), [], self.read(x)
        for t in range(x.shape[1]):
            h = self.decay * h + read[:, t]
            states.append(h)
        return self.out(torch.stack(states, 1))


@pytest.mark.parametrize("decay", [0.5, 1.0])
def test_the_influence_of_the_past_of_a_linear_recurrence_is_a_power(decay: float) -> None:
    norms = gradient_time(subject(Leaky(decay), Rows(torch.randn(5, 8, 3)))).numbers["norms"]
    assert np.allclose(np.array(norms) / norms[0], decay ** np.arange(8))


def test_the_sharpness_of_a_quadratic_is_its_largest_eigenvalue() -> None:
    """The loss |w x|² / m of a linear layer without the bias has the Hessian 2/m X^T X / n in every row of w."""
    x = torch.randn(30, 6)
    layer = nn.Linear(6, 4, bias=False)
    found = sharpness(subject(nn.Sequential(layer), Rows(x)))
    expected = np.linalg.eigvalsh((2 / 4 * x.T @ x / 30).double().numpy())[-1]
    assert math.isclose(found.numbers["sharpness"], expected, rel_tol=1e-5) and found.numbers["threshold"] == 20
    assert "below the 20" in found.reading


def test_an_adaptive_optimizer_has_no_such_threshold() -> None:
    found = sharpness(subject(nn.Sequential(nn.Linear(6, 4)), Rows(torch.randn(9, 6)), optimizer="adam"))
    assert "threshold" not in found.numbers and "does not apply" in found.reading


def test_lanczos_agrees_with_a_whole_decomposition() -> None:
    a = torch.randn(60, 60, dtype=torch.float64)
    a = a + a.T
    value, error, values = lanczos(lambda v: a @ v, 60, 40, torch.Generator().manual_seed(0))
    largest = float(torch.linalg.eigvalsh(a)[-1])
    assert abs(value - largest) <= max(error, 1e-8) and np.all(np.diff(values) > -1e-9)


def test_hidden_units_can_be_reordered_and_a_residual_stream_cannot() -> None:
    free = nn.Sequential(nn.Linear(5, 9), nn.ReLU(), nn.Linear(9, 2))
    found = permutation_symmetry(subject(free, Rows(torch.randn(6, 5))))
    assert found.numbers["change/0 - 2"] < 1e-12 < 1e-3 < found.numbers["control/0 - 2"]
    found = permutation_symmetry(subject(Residual(), Rows(torch.randn(6, 5))))
    assert found.numbers["change/first - second"] > 1e-3 and "0 of 1 places" in found.reading


class Residual(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(5, 5), nn.Linear(5, 5)

    def forward(self, x: Tensor) -> Tensor:
        h = x + self.first(x)
        return h + self.second(h)


def test_a_random_matrix_stays_inside_the_edge_and_a_planted_direction_does_not() -> None:
    def fresh() -> nn.Module:
        torch.manual_seed(5)
        return nn.Sequential(linear(0.1 * torch.randn(120, 80)))

    found = weight_spectra(subject(fresh(), Rows(torch.randn(3, 80)), fresh=fresh))
    assert found.numbers["beyond/0.weight"] == 0 and 0.9 < found.numbers["largest/0.weight"] < 1.05
    spiked = fresh()
    with torch.no_grad():
        spiked[0].weight.add_(5 * torch.outer(torch.ones(120) / 120**0.5, torch.ones(80) / 80**0.5))
    assert weight_spectra(subject(spiked, Rows(torch.randn(3, 80)), fresh=fresh)).numbers["beyond/0.weight"] == 1
    assert math.isclose(edge(9, 4, 2.0), 10.0) and outliers(np.array([99.0, 1.0]), 9, 4, 2.0) == 1
