"""Backpropagation and first-order optimisation"""

ORDER = (
    "gd-pl",
    "gd-convex",
    "convex-local-global",
    "strict-saddle",
    "heavy-ball-sum",
    "momentum-rates",
    "adagrad",
    "adam-bias",
    "sgd-variance",
    "sgd-noise",
    "sgd-schedule",
    "epoch-arithmetic",
)  # of the lectures
