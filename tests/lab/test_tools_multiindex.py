"""Multi-indices beside scikit-learn's polynomial features and the multinomial theorem."""

import math

import numpy as np
from sklearn.preprocessing import PolynomialFeatures

from headway.lab.tools.multiindex import below, exponents, factors, monomials, multinomial


def test_the_monomials_are_those_of_scikit_learn() -> None:
    x = np.random.default_rng(0).normal(size=(5, 3))
    features = PolynomialFeatures(4).fit(x)
    assert below(3, 5) == [tuple(row) for row in features.powers_.tolist()]
    assert np.allclose(monomials(x, below(3, 5)), features.transform(x), rtol=1e-12)


def test_multinomial_coefficients_expand_a_power_of_a_sum() -> None:
    x = np.random.default_rng(1).normal(size=(6, 4))
    for k in range(6):
        alphas = exponents(4, k)
        assert len(alphas) == math.comb(4 + k - 1, k)
        assert np.allclose(monomials(x, alphas) @ [multinomial(a) for a in alphas], x.sum(axis=1) ** k)


def test_factors_multiply_to_the_monomial() -> None:
    x = np.random.default_rng(2).normal(size=(1, 3))
    for alpha in below(3, 5):
        assert np.isclose(math.prod(x[0, j] for j in factors(alpha)), monomials(x, [alpha])[0, 0])
