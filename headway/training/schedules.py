"""Learning-rate schedules: the rate at step n of N as a share of the highest one, after a linear warm-up of W steps.

    x = (n - W) / (N - W) is the share of the steps after the warm-up that are done.

`training.schedule` takes the names of these functions. Lecture D, "Learning rate schedules".
"""

import math

from headway.core import registry

DROP, DROPS = 0.1, 3  # of the step schedule: a tenth after each third
LAST = 0.01  # of the exponential schedule: the share of the highest rate at the end
FALL = 0.6  # of the trapezoid: the share of all steps in which the rate falls


def rate_factor(schedule: str, step: int, total: int, warmup: int) -> float:
    """The learning rate at a step over the highest one: (n + 1) / W in the warm-up, then what the schedule of this name says.

    Warm-up: Goyal et al. 2017, https://arxiv.org/abs/1706.02677.
    """
    if step < warmup:
        return (step + 1) / warmup
    return float(registry.get("schedules", schedule).load()(step, total, warmup))


def _share(step: int, total: int, warmup: int) -> float:
    """x: from 0 at the end of the warm-up to 1 at the end of training."""
    return (step - warmup) / max(1, total - warmup)


def constant(step: int, total: int, warmup: int) -> float:
    """1: the rate stays as it is after the warm-up.

    Also called constant schedule, constant learning rate.
    """
    return 1.0


def step(step: int, total: int, warmup: int) -> float:
    """(1/10)^floor(3 x): a tenth of the rate after each third of training. He et al. 2016, https://arxiv.org/abs/1512.03385.

    Also called step schedule, step decay, staircase schedule.
    """
    return DROP ** min(DROPS - 1, math.floor(DROPS * _share(step, total, warmup)))


def exponential(step: int, total: int, warmup: int) -> float:
    """(1/100)^x: every step multiplies the rate by the same number; the last rate is a hundredth of the highest.

    Also called exponential schedule, exponential decay.
    """
    return float(LAST ** _share(step, total, warmup))


def cosine(step: int, total: int, warmup: int) -> float:
    """(1 + cos(pi x)) / 2: half a period of a cosine, down to zero. Loshchilov & Hutter 2017, https://arxiv.org/abs/1608.03983.

    Also called cosine schedule, cosine annealing.
    """
    return 0.5 * (1 + math.cos(math.pi * _share(step, total, warmup)))


def inverse_root(step: int, total: int, warmup: int) -> float:
    """sqrt(W / n): does not depend on the number of steps. Vaswani et al. 2017, https://arxiv.org/abs/1706.03762.

    Also called inverse square root schedule, Noam schedule.
    """
    return math.sqrt(max(1, warmup) / max(1, step + 1))


def linear(step: int, total: int, warmup: int) -> float:
    """1 - x: a straight line down to zero, as the linear warm-up is one up. Devlin et al. 2019, https://arxiv.org/abs/1810.04805.

    Also called linear schedule, linear decay.
    """
    return 1 - _share(step, total, warmup)


def trapezoid(step: int, total: int, warmup: int) -> float:
    """min(1, (1 - n/N) / 0.6): the highest rate, then a straight line down to zero in the last three fifths of training.

    Hägele et al. 2024, "Scaling laws and compute-optimal training beyond fixed training durations", https://arxiv.org/abs/2405.18392.
    Also called trapezoidal schedule, warm-up stable decay, WSD.
    """
    return min(1.0, (1 - step / max(1, total)) / FALL)
