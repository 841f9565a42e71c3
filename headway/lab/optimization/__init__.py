"""Backpropagation and first-order optimisation"""

ORDER = (
    "backprop-exercise",
    "autodiff-cost",
    "net-symmetries",
    "sgd-variance",
    "sgd-noise",
    "sgd-schedule",
    "epoch-arithmetic",
)  # of the lectures
