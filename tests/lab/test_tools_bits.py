"""Inputs and Boolean functions against enumeration and the numbers of the OEIS."""

from itertools import product

import numpy as np

from headway.lab.tools.bits import codes, cube, tables
from headway.lab.tools.boolean_functions import by_signs, by_weights, classes, one_relu
from headway.lab.tools.logic_gates import circuit, clause, conjunction, literals, term, total


def test_the_cube_has_every_input_once_and_its_row_is_its_number() -> None:
    assert {tuple(row) for row in cube(4).tolist()} == set(product((0, 1), repeat=4))
    assert [int("".join(map(str, row[::-1])), 2) for row in cube(4).tolist()] == list(range(16))


def test_tables_and_codes_are_inverse() -> None:
    assert np.array_equal(codes(tables(3)), np.arange(256))
    assert codes(np.array([0, 1, 1, 0])) == 6


def test_classes_and_functions_of_small_weights() -> None:
    assert [classes(n)[0].size for n in (1, 2, 3)] == [2, 4, 14]  # A000370
    assert [classes(n)[1].sum() for n in (1, 2, 3)] == [4, 16, 256]
    assert [by_weights(n, n).size for n in (1, 2, 3)] == [4, 14, 104]  # A000609: weights up to n are enough here
    assert set(by_signs(3)) <= set(by_weights(3, 1)) and by_signs(3).size == 2 + 3 * 8


def test_clauses_and_terms_are_those_of_python() -> None:
    for a, b, c in product((0, 1), repeat=3):
        assert clause(np.array([1, -1, 0]))([[a, b, c]])[0] == (a or not b)
        assert term(np.array([1, -1, -1]))([[a, b, c]])[0] == (a and not b and not c)
        assert literals(np.array([[a, b, c]]), np.array([1, 0, -1])).tolist() == [[a == 1, c == 0]]


def test_circuits_of_clauses_and_of_sums() -> None:
    for f in (np.array([0, 1, 1, 0]), np.array([1, 0, 0, 0])):
        assert np.array_equal(circuit(cube(2), conjunction(cube(2)[f == 0]))[:, -1], f)
    assert [total(2)[a + 4 * b] for a, b in ((0, 0), (1, 2), (3, 3), (2, 3))] == [0, 3, 6, 5]


def test_one_relu_computes_what_is_monotone_along_a_line() -> None:
    """All functions of two inputs but XOR and XNOR with a threshold; exactly, those with at most one value besides a constant."""
    found = [(one_relu(f.astype(float), True) > 0, one_relu(f.astype(float), False) > 0) for f in tables(2)]
    assert [code for code, (_, threshold) in enumerate(found) if not threshold] == [6, 9]
    assert not any(exact and not threshold for exact, threshold in found) and found[8][0] and found[10][0]
