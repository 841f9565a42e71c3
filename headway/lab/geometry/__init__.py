"""Linear regions, trajectory length, intrinsic dimension"""

ORDER = (
    "zaslavsky",
    "central-arrangement",
    "line-sweep",
    "pascanu-inequality",
    "region-exact",
    "montufar-fold",
    "region-random",
    "region-slice",
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
    "hinge-1d-count",
)  # of the lectures
