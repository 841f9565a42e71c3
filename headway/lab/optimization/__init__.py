"""Backpropagation and first-order optimisation"""

ORDER = (
    "backprop-exercise",
    "autodiff-cost",
    "sgd-variance",
    "sgd-noise",
    "sgd-schedule",
    "epoch-arithmetic",
)  # of the lectures
