"""Softmax, the loss of the next token, and its floor."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from scipy.special import entr, rel_entr

from headway.core.config import require
from headway.lab import style
from headway.lab.checks import Check, at_least, at_most, close, equal
from headway.lab.old import Experiment


@dataclass(frozen=True)
class Config:
    K: int = 8  # tokens of the alphabet
    longest: int = 4  # context of the longest model, in tokens
    chains: int = 2000  # sequences of 102 tokens that n-grams are counted in
    logits: int = 50  # random vectors for the identities

    def __post_init__(self) -> None:
        require((3 <= self.K <= 10, "K is 3 to 10"), (2 <= self.longest <= 4, "longest is 2 to 4"))
        require((100 <= self.chains <= 20000, "chains are 100 to 20000"), (2 <= self.logits <= 1000, "logits are 2 to 1000"))


def softmax(z: np.ndarray) -> np.ndarray:
    """exp z_i / Σ_j exp z_j along the last axis."""
    e = np.exp(z - z.real.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def derivative(f: Callable[[np.ndarray], np.ndarray], z: np.ndarray) -> np.ndarray:
    """∂f(z)/∂z_j along a new last axis, by a complex step: no difference is taken, so there is no cancellation."""
    steps = z[..., None, :] + 1e-30j * np.eye(z.shape[-1])
    return np.moveaxis(f(steps).imag / 1e-30, z.ndim - 1, -1)


def windows(table: np.ndarray) -> list[np.ndarray]:
    """The joint laws of 1, 2, 3, 4, 5 neighbours of the stationary chain with p(c | a, b) = table[a, b, c]."""
    K = len(table)
    pairs = np.einsum("abc,be->abec", table, np.eye(K))  # (a, b) → (b, c)
    system = np.vstack([pairs.reshape(K * K, K * K).T - np.eye(K * K), np.ones(K * K)])
    two = np.linalg.lstsq(system, np.append(np.zeros(K * K), 1.0), rcond=None)[0].reshape(K, K)
    laws = [two.sum(axis=0), two]
    for _ in range(3):
        laws.append(laws[-1][..., None] * table)  # table broadcasts over all but the last two tokens
    return laws


def conditional(joint: np.ndarray) -> np.ndarray:
    """p(next | context), the next token last; a context that never occurs gets the uniform law."""
    total = joint.sum(axis=-1, keepdims=True)
    return np.where(total > 0, joint / np.where(total > 0, total, 1), 1 / joint.shape[-1])


def cross_entropy(joint: np.ndarray, model: np.ndarray) -> float:
    """E[-log q(next | context)] in nats; `joint` may know more tokens of the past than the model."""
    return float(-np.sum(joint * np.log(model)))


def sequences(table: np.ndarray, start: np.ndarray, chains: int, rng: np.random.Generator) -> np.ndarray:
    """Sequences of 102 tokens: two of the stationary law, then 100 of the table."""
    K, steps = len(table), np.cumsum(table, axis=2)
    x = np.empty((chains, 102), dtype=np.int64)
    x[:, 0], x[:, 1] = np.divmod(rng.choice(K * K, chains, p=start.ravel() / start.sum()), K)
    for t in range(2, 102):
        x[:, t] = np.minimum((rng.random((chains, 1)) > steps[x[:, t - 2], x[:, t - 1]]).sum(axis=1), K - 1)
    return x


class SoftmaxNll(Experiment):
    """The loss of the next token is least at the true conditional law, and there it is the conditional entropy.

        p = softmax(z),   ∂p/∂z = diag(p) - ppᵀ (psd, rank K-1),   ∂(-log p_y)/∂z = p - e_y,   softmax(z + c) = softmax(z)

    softmax(z/T) is the argmax for T → 0 and uniform for T → ∞. For a model q of the next token

        E[-log q(x_t | context)] = H(x_t | context) + KL(p ‖ q) >= H(x_t | context),

    and the product of the q(x_t | x_{<t}) sums to one over all sequences. A chain of order 2 reaches its entropy with two of context.
    Pure frequencies (maximum likelihood) lose ∞ where a rare token was never seen, so each count has ½ added as well.
    """

    lecture = "C, D, E"
    kinds = ("EXACT",)
    cost = "S"
    source = "Cover, Thomas 2006, Elements of Information Theory, ch. 2 and 4; Bridle 1990, https://doi.org/10.1007/978-3-642-76153-9_28"
    assumptions = ("every token has positive probability", "the chain is stationary, of order 2")
    aliases = ("softmax cross-entropy", "next-token loss", "negative log-likelihood")
    panels = 2
    small = {"K": 4, "chains": 1000}

    def measure(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        z, y = 2 * rng.normal(size=(c.logits, c.K)), rng.integers(0, c.K, c.logits)
        p = softmax(z)
        yield close("softmax(z + c) = softmax(z)", softmax(z + 100 * rng.normal(size=(c.logits, 1))), p, 1e-12)
        J = np.einsum("bi,ij->bij", p, np.eye(c.K)) - p[:, :, None] * p[:, None, :]
        yield close("Jacobian diag(p) - ppᵀ", derivative(softmax, z), J, 1e-12)
        yield at_least("its least eigenvalue", np.linalg.eigvalsh(J)[:, 0], -1e-15)
        yield equal("its rank", np.linalg.matrix_rank(J, tol=1e-12), np.full(c.logits, c.K - 1))
        given = torch.from_numpy(z).requires_grad_()
        nll = F.cross_entropy(given, torch.from_numpy(y), reduction="none")
        yield close("-log p_y and torch", nll.detach().numpy(), -np.log(p[np.arange(c.logits), y]), 1e-12)
        yield close(
            "its gradient p - e_y and torch's autograd", torch.autograd.grad(nll.sum(), given)[0].numpy(), p - np.eye(c.K)[y], 1e-12
        )
        cold = softmax(z * 50 / np.diff(np.sort(z, axis=1)[:, -2:]))  # T is a fiftieth of the lead of the largest logit
        yield close("T → 0: argmax", cold, np.eye(c.K)[z.argmax(axis=1)], 1e-12)
        yield close("T → ∞: uniform", softmax(z / 1e14), np.full_like(z, 1 / c.K), 1e-12)
        self.table = table = softmax(rng.normal(size=(c.K, c.K, c.K)))
        self.laws = laws = windows(table)
        yield close("the chain is stationary", laws[2].sum(axis=0), laws[1], 1e-12)
        self.floor = np.diff([float(entr(law).sum()) for law in laws], prepend=0.0)  # entropy of the next token, given 0, 1, 2, … tokens
        yield close("entropy given 2 tokens and given more", self.floor[3:], np.full(2, self.floor[2]))
        yield close("loss of the true model", cross_entropy(laws[2], table), self.floor[2])
        x = sequences(table, laws[1], c.chains, rng)
        self.counted, self.trained, gaps, divergences = [], [], [], []
        for m in range(c.longest + 1):
            code = sum(x[:, k : k + 102 - m] * c.K ** (m - k) for k in range(m + 1))
            counts = np.bincount(np.ravel(code), minlength=c.K ** (m + 1)).reshape([c.K] * (m + 1)).astype(float)
            self.trained.append(float(-np.sum(counts * np.log(np.where(counts > 0, conditional(counts), 1))) / counts.sum()))
            true, weight = conditional(laws[m]), laws[m].sum(axis=-1, keepdims=True)
            models = [conditional(counts + 0.5), true, *([conditional(counts)] if counts.all() else [])]
            models += [softmax(np.log(true) + size * rng.normal(size=counts.shape)) for size in (0.01, 0.1, 1, 3)]
            self.counted.append(cross_entropy(laws[m], models[0]))
            gaps += [cross_entropy(laws[m], q) - self.floor[m] for q in models]
            divergences += [float(np.sum(weight * rel_entr(true, q))) for q in models]
        yield close("loss less entropy = KL, counted, true and perturbed models", gaps, divergences)
        yield at_least("loss less entropy", gaps, -1e-12)
        yield at_most(f"training loss of frequencies, {c.longest} tokens (below the floor: overfitted)", self.trained[-1], self.floor[2])
        yield close(f"total probability of all {c.K**5} sequences of 5", float(laws[4].sum()), 1.0, 1e-12)
        wild = [softmax(3 * rng.normal(size=[c.K] * m)) for m in range(1, 6)]  # a random model that sees everything before
        total = float(np.einsum("a,ab,abc,abcd,abcde->", *wild, optimize=True))
        yield close("the same for a random model of order 4", total, 1.0, 1e-12)

    def control(self, c: Config, rng: np.random.Generator) -> Iterator[Check]:
        joint, table = self.laws[2], self.table
        masked = conditional(np.moveaxis(joint, 0, 2)).transpose(2, 0, 1) * conditional(np.moveaxis(joint, 1, 2)).transpose(0, 2, 1) * table
        yield close("each token given all others: total over sequences of 3", float(masked.sum()), 1.0, 1e-12)
        q = softmax(np.log(table) + rng.normal(size=table.shape))
        backwards = float(np.sum(self.laws[1][..., None] * rel_entr(q, table)))
        yield close("loss less entropy = KL(q ‖ p), the wrong way round", cross_entropy(joint, q) - self.floor[2], backwards)
        yield close("one token of context reaches the entropy", self.floor[1], self.floor[2])

    def plot(self, c: Config, axes: "style.Panels") -> None:
        m = np.arange(c.longest + 1)
        axes[0].plot(m, self.floor[m], **style.MEASURED, label="best model of that context")
        axes[0].plot(m, self.counted, **style.series(1), label=f"counted in {100 * c.chains} tokens, + ½")
        axes[0].plot(m, self.trained, **style.CONTROL, label="frequencies on their own data")
        axes[0].axhline(self.floor[2], **style.BOUND, label="entropy of the chain")
        axes[0].set(title="More context, down to the entropy", xlabel="tokens of context", ylabel="loss (nats per token)", xticks=m)
        axes[0].legend()
        z, T = np.array([2.0, 1.0, 0.5, -1.0]), np.geomspace(0.05, 50, 200)
        for i, (row, value) in enumerate(zip(softmax(z / T[:, None]).T, z, strict=True)):
            axes[1].semilogx(T, row, **style.CURVE | {"color": style.SERIES[i]}, label=f"z = {value:g}")
        axes[1].set(title="From argmax to uniform", xlabel="temperature T", ylabel="softmax(z/T)")
        axes[1].legend()
