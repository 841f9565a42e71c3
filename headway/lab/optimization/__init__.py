"""Backpropagation and first-order optimisation"""

ORDER = (
    "sgd-variance",
    "sgd-noise",
    "sgd-schedule",
    "epoch-arithmetic",
)  # of the lectures
