"""Fourier features and dimension-free rates"""

ORDER = (
    "fourier-inversion",
    "barron-gaussian",
    "barron-calculus",
    "barron-infinite",
    "barron-subsample",
    "barron-cos-sigmoid",
    "barron-end-to-end",
)  # of the lectures
