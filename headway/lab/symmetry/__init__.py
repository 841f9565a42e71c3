"""Convolution, permutation, attention, recurrence, model arithmetic"""

ORDER = (
    "causal-mask",
    "sqrt-dk",
    "unit-norm-qk",
    "multihead-params",
    "attention-cost",
    "path-length",
    "posenc-rotation",
    "linear-attention",
    "rnn-gradient",
    "bptt-check",
    "gated-memory",
    "lru-stability",
    "prefix-scan",
    "param-census",
    "bleu-flops",
    "token-stats",
)  # of the lectures
