"""A scaling law: the loss as a sum of powers of what was spent on it.

    L(N, D) = E + A N^-alpha + B D^-beta          N: parameters, D: tokens or examples seen in training
    L(x)    = E + A x^-alpha                      one variable

E is the irreducible loss: the entropy of the data, which no model goes below. Fitted as in the third approach of Hoffmann et al. 2022,
"Training compute-optimal large language models", https://arxiv.org/abs/2203.15556, appendix D.3, from a grid of starts:

    min  sum over runs of huber(log L(N_i, D_i) - log L_i),      log L = logsumexp(log E, log A - alpha log N, log B - beta log D)

They minimise by L-BFGS, which takes hundreds of steps in the narrow valley of E against the exponents. Here it is Levenberg and Marquardt's
method (Marquardt 1963) with the weights of Huber, for all starts and all refits of the bootstrap at once.
The first laws of this kind are those of Kaplan et al. 2020, https://arxiv.org/abs/2001.08361.
"""

import dataclasses
import itertools

import numpy as np
from jaxtyping import Float
from scipy.optimize import nnls

# Beyond this distance of logarithms a run counts as an outlier. Hoffmann et al. have 1e-3 and over 400 runs. With a dozen that would be
# the method of least absolute deviations, which passes exactly through as many runs as there are coefficients.
DELTA = 1e-2
STARTS = (0.1, 0.25, 0.5, 1.0)  # exponents that the search begins with
LEAST, MOST = 1e-3, 3.0  # of an exponent; one at an end is not determined by the runs
LEVELS = 3  # different values of a variable that a power and a constant need
NEGLIGIBLE = 1e-6  # share of the loss below which a term is not followed
STEPS = 200


@dataclasses.dataclass(frozen=True)
class Law:
    """A fitted law of k variables, or a batch of them. Each term is given at the centre of the runs, where it is a loss:

    L(x) = E + sum over k of term_k (x_k / centre_k)^-exponent_k
    """

    irreducible: Float[np.ndarray, "*b"]
    terms: Float[np.ndarray, "*b k"]
    exponents: Float[np.ndarray, "*b k"]
    centre: Float[np.ndarray, "k"]

    def __call__(self, x: Float[np.ndarray, "*n k"]) -> Float[np.ndarray, "*m"]:
        """The loss at x; a batch of laws takes one x, or `x[:, None]` for several."""
        return np.asarray(self.irreducible + (self.terms * (x / self.centre) ** -self.exponents).sum(-1))

    @property
    def factors(self) -> Float[np.ndarray, "*b k"]:
        """A and B of the equation."""
        return self.terms * self.centre**self.exponents


@dataclasses.dataclass(frozen=True)
class Refits:
    """A bootstrap: laws that were fitted again, and how far (in logarithms) a run lies from the law."""

    laws: Law
    distances: Float[np.ndarray, "n"]


def fit_law(x: Float[np.ndarray, "n k"], loss: Float[np.ndarray, "n"]) -> Law:
    """The law that fits best, from every combination of starting exponents."""
    z, centre = centred(x)
    starts = np.stack([first_guess(z, loss, exponents) for exponents in itertools.product(STARTS, repeat=x.shape[1])])
    found, values = minimise(starts, z, np.log(loss), np.ones(len(loss)))
    return as_law(found[values.argmin()], centre)


def bootstrap(law: Law, x: Float[np.ndarray, "n k"], loss: Float[np.ndarray, "n"], times: int, seed: int) -> Refits:
    """Refits to as many runs, drawn with replacement (Efron and Tibshirani 1993, "An introduction to the bootstrap", section 9.3).

    A draw that leaves too few values of a variable to determine the law is made again.
    """
    z, centre = centred(x)
    generator = np.random.default_rng(seed)
    counts: list[np.ndarray] = []
    while len(counts) < times:
        drawn = generator.integers(len(loss), size=len(loss))
        if min(len(np.unique(column)) for column in x[drawn].T) >= LEVELS:
            counts.append(np.bincount(drawn, minlength=len(loss)))
    start = np.concatenate([np.log([law.irreducible]), np.log(law.terms), law.exponents])
    found, _ = minimise(start[None].repeat(times, 0), z, np.log(loss), np.array(counts))
    free = max(1, len(loss) - len(start))  # the law comes nearer to its own runs than to new ones
    return Refits(as_law(found, centre), np.log(loss / law(x)) * np.sqrt(len(loss) / free))


def centred(x: Float[np.ndarray, "n k"]) -> tuple[Float[np.ndarray, "n k"], Float[np.ndarray, "k"]]:
    """z = log(x / centre), and the centre: the geometric mean."""
    centre = np.exp(np.log(x).mean(0))
    return np.log(x / centre), centre


def first_guess(
    z: Float[np.ndarray, "n k"], loss: Float[np.ndarray, "n"], exponents: tuple[float, ...]
) -> Float[np.ndarray, "p"]:
    """With the exponents given the law is linear in the rest: least squares of the relative error, with nothing negative."""
    columns = np.column_stack([np.ones(len(loss)), np.exp(-z * exponents)])
    solution, _ = nnls(columns / loss[:, None], np.ones(len(loss)))
    return np.concatenate([np.log(np.maximum(solution, NEGLIGIBLE * loss.min())), exponents])


def minimise(
    theta: Float[np.ndarray, "b p"],
    z: Float[np.ndarray, "n k"],
    wanted: Float[np.ndarray, "n"],
    counts: Float[np.ndarray, "*b n"],
) -> tuple[Float[np.ndarray, "b p"], Float[np.ndarray, "b"]]:
    """From every start the nearest minimum, and its value; `counts` says how often each run counts.

    (H + damping diag H) step = -gradient          H = J^T W J; a step that does not improve is not taken, and the damping grows
    """
    k, p = z.shape[1], theta.shape[1]
    low, high = np.log(NEGLIGIBLE) + wanted.min(), wanted.max()
    bounds = np.array([low] * (1 + k) + [LEAST] * k), np.array([high] * (1 + k) + [MOST] * k)
    theta, counts = theta.copy(), np.broadcast_to(counts, (len(theta), len(wanted)))
    value, gradient, curvature = objective(theta, z, wanted, counts)
    damping, active = np.full(len(theta), 1e-2), np.arange(len(theta))
    for _ in range(STEPS):
        diagonal = damping[active, None] * curvature[active][:, range(p), range(p)]
        system = curvature[active] + np.eye(p) * (diagonal + 1e-9)[:, None]  # never singular
        tried = np.clip(theta[active] - np.linalg.solve(system, gradient[active, :, None])[..., 0], *bounds)
        new = objective(tried, z, wanted, counts[active])
        fall = value[active] - new[0]
        better = fall > 0
        taken = active[better]
        theta[taken], value[taken], gradient[taken], curvature[taken] = tried[better], *(part[better] for part in new)
        damping[active] = np.where(better, damping[active] / 3, damping[active] * 4)
        active = active[np.where(better, fall > 1e-9 * value[active], damping[active] < 1e6)]  # the others have arrived
        if not len(active):
            break
    return theta, value


def objective(
    theta: Float[np.ndarray, "b p"],
    z: Float[np.ndarray, "n k"],
    wanted: Float[np.ndarray, "n"],
    counts: Float[np.ndarray, "*b n"],
) -> tuple[Float[np.ndarray, "b"], Float[np.ndarray, "b p"], Float[np.ndarray, "b p p"]]:
    """Huber's loss in units of DELTA, its gradient, and J^T W J. The derivative of logsumexp is softmax."""
    k = z.shape[1]
    powers = theta[:, None, 1 : 1 + k] - theta[:, None, 1 + k :] * z
    exponents = np.concatenate([np.broadcast_to(theta[:, None, :1], (*powers.shape[:2], 1)), powers], -1)
    top = exponents.max(-1, keepdims=True)
    shares = np.exp(exponents - top)
    total = shares.sum(-1, keepdims=True)
    r = ((top + np.log(total))[..., 0] - wanted) / DELTA
    shares /= total
    jacobian = np.concatenate([shares, -shares[..., 1:] * z], -1) / DELTA
    weighted = (jacobian * (counts / np.maximum(1, np.abs(r)))[..., None]).swapaxes(-1, -2)
    value = (counts * np.where(np.abs(r) <= 1, 0.5 * r**2, np.abs(r) - 0.5)).sum(-1)
    return value, (weighted @ r[..., None])[..., 0], weighted @ jacobian


def as_law(theta: Float[np.ndarray, "*b p"], centre: Float[np.ndarray, "k"]) -> Law:
    k = len(centre)
    return Law(np.exp(theta[..., 0]), np.exp(theta[..., 1 : 1 + k]), theta[..., 1 + k :], centre)
