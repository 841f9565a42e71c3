"""Regularisation, generalisation, empirical tables"""

ORDER = (
    "finite-class-gap",
    "union-bound",
    "risk-decomposition",
    "bias-variance",
    "double-descent",
    "min-norm",
    "dropout-identity",
    "mnist-table",
    "nyse-ar5",
    "imdb-sparse",
    "beta-lasso",
    "permuted-pixels",
)  # of the lectures
