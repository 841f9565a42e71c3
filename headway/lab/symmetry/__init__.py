"""Convolution, permutation, attention, recurrence, model arithmetic"""

ORDER = (
    "conv-algebra",
    "conv-shift",
    "conv-fourier",
    "lsi-is-conv",
    "conv-toeplitz",
    "conv-vs-xcorr",
    "conv-shapes",
    "conv-example",
    "conv-probability",
    "conv-smoothing",
    "pooling",
    "invariant-compose",
    "conv-params",
    "attention-permutation",
    "set-graph-equivariance",
)  # of the lectures
