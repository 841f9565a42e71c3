"""Linear regions, trajectory length, intrinsic dimension"""

ORDER = ("trajectory-relu", "trajectory-sparse", "trajectory-he", "hein-audibert", "mnist-intrinsic-dim")  # of the lectures
