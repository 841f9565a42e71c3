"""Linear regions, trajectory length, intrinsic dimension"""

ORDER = (
    "trajectory-relu",
    "trajectory-sparse",
    "trajectory-weights",
    "trajectory-htanh",
    "trajectory-he",
    "init-variance",
    "hein-audibert",
    "mnist-intrinsic-dim",
)  # of the lectures
