"""Convolutions over the group p4 turn with their input, and are sums over the group, term by term."""

import itertools

import pytest
import torch
from torch import Tensor

from headway.layers.convolutions.boundaries import Boundary, Full, Same, Valid
from headway.layers.convolutions.convolution_2d import Convolution2d
from headway.layers.convolutions.group_convolution import GroupConvolution, Lifting, turn

pytestmark = pytest.mark.usefixtures("doubles")
B, C, D, Y, X = 3, 2, 5, 5, 7  # batch, channels in and out, height and width of images
CLOSE = {"rtol": 0.0, "atol": 1e-12}
SYMMETRIC = [(Valid(), 1), (Valid(), 2), (Valid(), 3), (Same(), 3), (Full(), 2), (Full(), 3)]


@pytest.mark.parametrize(("boundary", "m"), SYMMETRIC, ids=str)
def test_turning_the_input_turns_the_output(boundary: Boundary, m: int) -> None:
    lift, group, plain = Lifting(C, D, m, boundary), GroupConvolution(D, 3, m, boundary), Convolution2d(C, D, m, boundary)
    x, lifted = torch.randn(B, C, Y, X), torch.randn(B, D, 4, Y, X)
    torch.testing.assert_close(lift(x.rot90(1, (2, 3))), turn(lift(x)), **CLOSE)
    torch.testing.assert_close(group(turn(lifted)), turn(group(lifted)), **CLOSE)

    def network(x: Tensor) -> Tensor:
        return group(lift(x).relu()).amax((2, 3, 4))

    for turns in range(4):
        torch.testing.assert_close(network(x.rot90(turns, (2, 3))), network(x), **CLOSE)
    if m > 1:
        assert (plain(x.rot90(1, (2, 3))) - plain(x).rot90(1, (2, 3))).abs().max() > 0.1


def test_the_layers_are_sums_over_the_group() -> None:
    """(f ⋆ w)(g) = sum_h f(h) w(g^-1 h), term by term: g = (place, turns), g^-1 (x, s) = (R^-r (x - place), s - r)."""
    size, half = 5, 1
    image, lifted = torch.randn(size, size), torch.randn(4, size, size)
    lift, group = Lifting(1, 1, 3, Same()), GroupConvolution(1, 1, 3, Same())

    def back(y: int, x: int, r: int) -> tuple[int, int]:
        for _ in range(r):
            y, x = x, -y  # rows count downwards: undoing torch.rot90's counter-clockwise turn takes (0, 1) to (1, 0)
        return y, x

    first, second = torch.zeros(4, size, size), torch.zeros(4, size, size)
    for r, y, x, v, u in itertools.product(range(4), *(range(size),) * 4):
        j, k = back(v - y, u - x, r)
        if max(abs(j), abs(k)) <= half:
            first[r, y, x] += image[v, u] * lift.weight[0, 0, j + half, k + half].item()
            for s in range(4):
                second[r, y, x] += lifted[s, v, u] * group.weight[0, 0, (s - r) % 4, j + half, k + half].item()
    torch.testing.assert_close(lift(image[None, None])[0, 0], first + lift.bias, **CLOSE)
    torch.testing.assert_close(group(lifted[None, None])[0, 0], second + group.bias, **CLOSE)
