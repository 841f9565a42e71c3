"""Linear regions, trajectory length, intrinsic dimension"""

ORDER = (
    "trajectory-relu",
    "trajectory-sparse",
    "trajectory-weights",
    "trajectory-htanh",
    "trajectory-he",
    "circle-picture",
    "init-variance",
    "hein-audibert",
    "mnist-intrinsic-dim",
    "hidden-manifold",
    "manifold-rate",
)  # of the lectures
