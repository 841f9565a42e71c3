"""Regularisation, generalisation, empirical tables"""

ORDER = ("mnist-table", "nyse-ar5", "beta-lasso", "permuted-pixels")  # of the lectures
