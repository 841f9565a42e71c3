"""Regularisation, generalisation, empirical tables"""

ORDER = ("beta-lasso", "permuted-pixels")  # of the lectures
