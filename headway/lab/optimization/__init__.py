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
