"""Threshold units, perceptrons, counting, associative memory, regression"""

ORDER = (
    "mp-gates",
    "threshold-function-count",
    "xor-relu",
    "signed-distance",
    "perceptron-novikoff",
    "perceptron-nonseparable",
    "version-space",
    "cover-count",
    "hopfield-energy",
    "hopfield-crosstalk",
    "hopfield-capacity-0138",
    "hopfield-capacity-log",
    "hopfield-diagonal",
    "dense-memory",
    "modern-hopfield",
    "ols",
    "logistic",
    "softmax-nll",
)  # of the lectures
