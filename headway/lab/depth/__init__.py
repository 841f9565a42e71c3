"""Depth separation, smooth functions, composition, circuits"""

ORDER = (
    "sawtooth",
    "piece-count",
    "telgarsky-32",
    "yarotsky-square",
    "square-shallow-vs-deep",
    "yarotsky-product",
    "yarotsky-monomial",
    "yarotsky-pou",
    "yarotsky-network",
    "yarotsky-rate",
    "poggio-tree",
    "effective-dimension",
    "sum-product",
    "parity-circuits",
    "circuit-to-network",
)  # of the lectures
