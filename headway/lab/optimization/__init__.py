"""Backpropagation and first-order optimisation"""

ORDER = (
    "backprop-exercise",
    "autodiff-cost",
    "net-symmetries",
    "residual-identity",
    "activation-gradients",
    "gd-stepsize",
    "gd-sufficient-decrease",
    "gd-critical",
    "sgd-variance",
    "sgd-noise",
    "sgd-schedule",
    "epoch-arithmetic",
)  # of the lectures
