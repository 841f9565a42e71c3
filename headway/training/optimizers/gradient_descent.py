"""Gradient descent: every step follows the gradient of the mean loss over the whole training set.

    w <- w - r grad L(w)        L = (1/N) sum_n l_n

The rule is that of `sgd.py`; what differs is the gradient. `full_batch` tells the plan to add up the batches of a whole epoch before each
step. Cauchy 1847; lectures C, D, E. With r < 2/beta, beta the largest curvature, the loss falls at every step.
"""

from headway.training.optimizers.sgd import SGD


class GradientDescent(SGD):
    """Gradient descent on the whole training set: one step for each epoch."""

    aliases = ("full-batch gradient descent", "batch gradient descent", "steepest descent")  # type: ignore[assignment]
    rate = 0.3
    full_batch = True
