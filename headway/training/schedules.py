"""Learning-rate schedules: the rate at step n of N as a share of the highest, after a linear warm-up of W steps.

cosine         (1 + cos(pi x)) / 2, x = (n - W) / (N - W)      Loshchilov & Hutter 2017, https://arxiv.org/abs/1608.03983
inverse_root   sqrt(W / n)                                     Vaswani et al. 2017, https://arxiv.org/abs/1706.03762
constant       1
"""

import math


def rate_factor(schedule: str, step: int, total: int, warmup: int) -> float:
    """Schedule: the learning rate at a step over the highest one: a linear warm-up, then cosine, inverse root or constant.

    Also called learning rate schedule, cosine schedule, inverse square root schedule, constant schedule, linear warm-up, warmup.
    """
    if step < warmup:
        return (step + 1) / warmup
    if schedule == "cosine":
        return 0.5 * (1 + math.cos(math.pi * (step - warmup) / max(1, total - warmup)))
    if schedule == "inverse_root":
        return math.sqrt(max(1, warmup) / max(1, step + 1))
    return 1.0
