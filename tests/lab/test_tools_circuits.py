"""Circuits beside Python's own logic and the derivatives of torch."""

import numpy as np
import torch

from headway.lab.relu_net import random_net
from headway.lab.tools.bits import cube
from headway.lab.tools.circuits import Gate, by_logic, by_thresholds, jacobian, random_circuit, to_network
from headway.lab.tools.parity import blocks, correlation, dnf, nand_tree, prime_implicants, threshold_pair
from headway.lab.tools.sum_products import deep, expand, flat


def test_every_gate_is_the_operator_of_python() -> None:
    x = cube(3)
    circuit = [
        [Gate("not", (0,)), Gate("and", (0, 1, 2)), Gate("or", (1, 2)), Gate("threshold", (0, 1, 2), (2, -1, -1), -0.5)]
    ]
    wanted = [[not a, a and b and c, b or c, 2 * a - b - c > -0.5] for a, b, c in x.tolist()]
    for values in (by_logic(circuit, x), by_thresholds(circuit, x)[-1], to_network(circuit, 3)(x)):
        assert np.array_equal(values, np.array(wanted, dtype=int))


def test_no_random_threshold_is_constant() -> None:
    gates = [g for g in random_circuit(6, (400,), np.random.default_rng(0))[0] if g.kind == "threshold"]
    assert len(gates) > 50
    assert all(0 < gate.logic(cube(6)).mean() < 1 for gate in gates)


def test_the_jacobian_is_that_of_torch() -> None:
    rng = np.random.default_rng(0)
    net, x = random_net((4, 7, 6, 3), rng), rng.normal(size=(5, 4))
    layers = [(torch.from_numpy(w), torch.from_numpy(b)) for w, b in net.layers]

    def forward(t: torch.Tensor) -> torch.Tensor:
        for w, b in layers[:-1]:
            t = torch.relu(w @ t + b)
        return layers[-1][0] @ t + layers[-1][1]

    theirs = np.stack([torch.autograd.functional.jacobian(forward, torch.from_numpy(row)).numpy() for row in x])
    assert np.abs(jacobian(net, x) - theirs).max() < 1e-12


def test_the_prime_implicants_of_a_majority() -> None:
    """Of three bits: any two of them."""
    assert sorted(prime_implicants(cube(3).sum(axis=1) >= 2, 3)) == [(1, 1, 2), (1, 2, 1), (2, 1, 1)]


def test_the_forms_of_parity_are_the_exclusive_or_of_numpy() -> None:
    x = cube(7)
    truth = np.bitwise_xor.reduce(x, axis=1)
    for values in (dnf(7)(x), blocks(7)(x), nand_tree(x)[0], threshold_pair(x)[0]):
        assert np.array_equal(values, truth)


def test_the_correlation_of_a_term_with_parity() -> None:
    """A term of all n bits is true at one row: E (-1)^{term + parity} is ±2 / 2^n; a shorter one does not correlate."""
    assert abs(correlation(cube(3), 3, np.random.default_rng(0))) == 0.25 and correlation(cube(3), 2, np.random.default_rng(0)) == 0


def test_a_sum_product_network_and_its_polynomial() -> None:
    assert expand(4) == {frozenset([0, 1]): 1, frozenset([2, 3]): 1}
    x = np.random.default_rng(1).integers(-3, 4, (20, 16))
    p = x[:, 0::2] * x[:, 1::2]
    by_hand = (p[:, 0] + p[:, 1]) * (p[:, 2] + p[:, 3]) + (p[:, 4] + p[:, 5]) * (p[:, 6] + p[:, 7])
    assert np.array_equal(deep(x)[-1][:, 0], by_hand) and np.array_equal(flat(expand(16), x), by_hand)
