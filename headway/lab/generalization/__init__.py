"""Regularisation, generalisation, empirical tables"""

ORDER = (
    "mnist-table",
    "nyse-ar5",
    "imdb-sparse",
    "beta-lasso",
    "permuted-pixels",
)  # of the lectures
