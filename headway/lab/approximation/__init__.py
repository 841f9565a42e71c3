"""Universal approximation by construction"""

ORDER = (
    "norm-order",
    "threshold-1d",
    "relu-bump",
    "pwl-relu-sum",
    "pwl-density",
    "partition-lemma",
    "relu-3layer-box",
    "curse-of-dimension",
    "bernstein",
    "poly-kernel",
    "gauss-kernel",
    "stone-weierstrass-closure",
    "cos-net-approx",
    "leshno",
    "sigmoid-uat-1d",
    "lifting-ridge",
    "linear-vs-nonlinear",
    "deep-narrow",
    "infinite-net-1d",
)  # of the lectures
