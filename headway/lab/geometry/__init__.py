"""Linear regions, trajectory length, intrinsic dimension"""

ORDER = ("hein-audibert",)  # of the lectures
