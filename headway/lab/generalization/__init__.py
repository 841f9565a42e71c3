"""Regularisation, generalisation, empirical tables"""

ORDER = (
    "finite-class-gap",
    "union-bound",
    "risk-decomposition",
    "bias-variance",
    "double-descent",
    "min-norm",
    "dropout-identity",
    "dropout-training",
    "weight-decay",
    "noise-augmentation",
    "early-stopping",
    "ensemble-average",
    "scaling-law",
    "mnist-table",
    "nyse-ar5",
    "imdb-sparse",
    "default-spam",
    "beta-lasso",
    "permuted-pixels",
)  # of the lectures
