"""Five estimators of intrinsic dimension in one pass, against scikit-dimension with the same estimator.

    pip install --target FOLDER --no-deps scikit-dimension && PYTHONPATH=FOLDER python benchmarks/intrinsic_dimension.py

N points of a hidden manifold, tanh(CF/√d) with d = 10, in 784 dimensions. Both compute on one thread and take turns; medians of
five rounds, in seconds of the processor, which other programs do not disturb. `ratio` is scikit-dimension's time for one estimator
over ours for all five. Peak memory is that of a process that does nothing else.
"""

import argparse
import multiprocessing
import resource
import statistics
import time
from collections.abc import Callable

import numpy as np
import torch
from rows import Row, append_rows

from headway.lab.tools.intrinsic_dimension import correlation, hein_audibert, levina_bickel, survey, takens, two_nn

ROUNDS = 5


def sample(n: int, dimensions: int = 784, latent: int = 10) -> np.ndarray:
    rng = np.random.default_rng(0)
    c, f = rng.standard_normal((n, latent)), rng.standard_normal((latent, dimensions))
    return np.tanh(c @ f / latent**0.5).astype(np.float32)


def ours(points: np.ndarray) -> dict[str, float]:
    seen = survey(points)
    return {
        "CorrInt": correlation(seen),
        "MLE": levina_bickel(seen, 20, 20),
        "TwoNN": two_nn(seen),
        "Takens": takens(seen),
        "Hein-Audibert": hein_audibert(seen),
    }


def theirs(points: np.ndarray, name: str) -> float:
    from skdim import id as skdim

    return float(getattr(skdim, name)().fit(points).dimension_)


def seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def peak(n: int) -> float:
    """Gigabytes of this process after our pass."""
    torch.set_num_threads(1)
    ours(sample(n))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


if __name__ == "__main__":
    from threadpoolctl import threadpool_limits

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=10_000)
    parser.add_argument("--rows", metavar="FILE", help="append the ratios to this file")
    given = parser.parse_args()
    n = given.points
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(f"{n:,} points in 784 dimensions, one thread; peak memory of our pass {pool.apply(peak, (n,)):.2f} GB")
    torch.set_num_threads(1)
    points, names = sample(n), ("MLE", "TwoNN", "CorrInt")
    with threadpool_limits(1):
        values = ours(points)
        times: dict[str, list[float]] = {name: [] for name in ("ours", *names)}
        for _ in range(ROUNDS):
            times["ours"].append(seconds(lambda: ours(points)))
            for name in names:
                times[name].append(seconds(lambda name=name: theirs(points, name)))
        mine = statistics.median(times["ours"])
        print(f"ours, all five: {mine:.2f} s; " + ", ".join(f"{name} {value:.2f}" for name, value in values.items()))
        print("estimator   scikit-dimension (s)   ratio   its value   our value")
        for name in names:
            other = statistics.median(times[name])
            print(f"{name:9}   {other:20.2f}   {other / mine:5.1f}   {theirs(points, name):9.3f}   {values[name]:9.3f}")
            append_rows(given.rows, [Row(f"intrinsic dimension by {name}, {n:,} points", "scikit-dimension", other / mine, least=1.0)])
