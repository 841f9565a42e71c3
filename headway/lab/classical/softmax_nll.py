from functools import partial

import torch
from scipy import special

from headway.lab.kit import Checks, Experiment, Generator, Panel, at_least, because, close, equal, headline, np, param
from headway.lab.tools.differences import complex_step
from headway.lab.tools.markov_chain import conditional, cross_entropy, divergence, ngrams, sequences, windows
from headway.layers.cross_entropy import linear_cross_entropy


softmax = partial(special.softmax, axis=-1)


class SoftmaxNll(Experiment):
    """The loss of the next token is least at the true conditional law, and there it is the conditional entropy.

        p = softmax(z),   ∂p/∂z = diag(p) - ppᵀ (psd, rank K-1),   ∂(-log p_y)/∂z = p - e_y,   softmax(z + c) = softmax(z)

    softmax(z/T) is the argmax for T -> 0 and uniform for T -> ∞. For a model q of the next token

        E[-log q(x_t | context)] = H(x_t | context) + KL(p ‖ q) >= H(x_t | context),

    and the product of the q(x_t | x_{<t}) sums to one over all sequences. A chain of order 2 reaches its entropy with two of context.

    Notes: C, D, E. Source: Cover, Thomas 2006, Elements of Information Theory; Bridle 1990, https://doi.org/10.1007/978-3-642-76153-9_28
    Assumes: every token has positive probability; the chain is stationary, of order 2; a model sees the past only.
    Deviates: ½ is added to each count, or an unseen token costs ∞. Also: softmax cross-entropy; next-token loss; negative log-likelihood.
    """

    K = param(8, "tokens of the alphabet", least=3, most=10, small=4)
    longest = param(4, "context of the longest model, in tokens", least=2, most=4)
    chains = param(1000, "sequences of 102 tokens that n-grams are counted in", least=100, most=10_000, small=500)
    logits = param(50, "random vectors for the identities", least=2, most=1000)

    def measure(self, rng: Generator) -> Checks:
        K, z, y = self.K, 2 * rng.normal(size=(self.logits, self.K)), rng.integers(0, self.K, self.logits)
        p, target = softmax(z), np.eye(K)[y]
        yield close("softmax(z + c) = softmax(z)", softmax(z + 100 * rng.normal(size=(self.logits, 1))), p, 1e-12)
        J = np.einsum("bi,ij->bij", p, np.eye(K)) - p[:, :, None] * p[:, None, :]
        yield close("Jacobian diag(p) - ppᵀ, by a complex step", complex_step(softmax, z), J, 1e-12)
        yield equal("its positive eigenvalues, K - 1", np.sum(np.linalg.eigvalsh(J) > 1e-12, axis=1), K - 1)
        given, one = torch.from_numpy(z).requires_grad_(), torch.eye(K, dtype=torch.float64)
        total, _ = linear_cross_entropy(given, one, torch.from_numpy(y))
        yield close("the project's loss against Σ -log p_y", total.item(), -np.log(p)[target > 0].sum(), 1e-12)
        yield close("its gradient against p - e_y", torch.autograd.grad(total, given)[0], p - target, 1e-12)
        cold = softmax(z * 50 / np.diff(np.sort(z, axis=1)[:, -2:]))  # T is a fiftieth of the lead of the largest
        ends = [np.eye(K)[z.argmax(axis=1)], np.full_like(z, 1 / K)]
        yield close("T → 0: argmax; T → ∞: uniform", [cold, softmax(z / 1e14)], ends, 1e-12)
        table = softmax(rng.normal(size=(K, K, K)))
        self.laws = laws = windows(table)
        self.floor = np.diff([special.entr(law).sum() for law in laws], prepend=0.0)  # given 0, 1, 2, … tokens
        same = [*self.floor[3:], cross_entropy(laws[2], table)]
        yield close("entropy given 3 and 4 tokens, and loss of the true model", same, self.floor[2])
        x, self.trained, gaps, divergences = sequences(table, laws[1], self.chains, 102, rng), [], [], []
        for m in range(self.longest + 1):
            counts, log_p = ngrams(x, K, m + 1), np.log(conditional(laws[m]))
            models = [softmax(log_p + size * rng.normal(size=log_p.shape)) for size in (0, 0.01, 0.1, 1, 3)]
            models.append(conditional(counts + 0.5))
            gaps.append([cross_entropy(laws[m], q) - self.floor[m] for q in models])
            divergences.append([divergence(laws[m], q) for q in models])
            self.trained.append(cross_entropy(counts / counts.sum(), conditional(counts + 1e-300)))
        self.counted = self.floor[: self.longest + 1] + np.array(gaps)[:, -1]
        self.gain = self.trained[-1] - cross_entropy(counts / counts.sum(), table)
        yield headline(close("loss less entropy = KL, counted, true and perturbed models", gaps, divergences))
        yield at_least("loss less entropy", gaps, -1e-12)
        wild = [softmax(3 * rng.normal(size=[K] * m)) for m in range(1, 6)]  # a random model of the past
        totals = [laws[4].sum(), np.einsum("a,ab,abc,abcd,abcde->", *wild, optimize=True)]
        yield close(f"probability of all {K**5} sequences of 5, chain and random model", totals, 1.0, 1e-12)

    def control(self, rng: Generator) -> Checks:
        joint = self.laws[2]
        masked = np.prod([joint / joint.sum(axis=i, keepdims=True) for i in range(3)], axis=0)
        yield because("each token sees all others", close("total over sequences of 3", masked.sum(), 1.0, 1e-12))
        yield because("the model sees one token only", close("loss of the best model", self.floor[1], self.floor[2]))
        gain = at_least("loss of frequencies less that of the true model", self.gain, 0)
        yield because("both are measured on the tokens that were counted", gain)

    def plots(self) -> list[Panel]:
        m, z, T = np.arange(self.longest + 1), np.array([2.0, 1.0, 0.5, -1.0]), np.geomspace(0.05, 50, 200)
        left = Panel("More context, down to the entropy", "tokens of context", "loss (nats per token)")
        left.level(self.floor[2], "entropy").series(m, {"best model": self.floor[m], "counted, + ½": self.counted})
        left.control(m, self.trained, "on counted tokens").ticks({int(k): str(k) for k in m})
        right = Panel("From argmax to uniform", "temperature T", "softmax(z/T)", log="x")
        return [left, right.curve(T, {f"z = {v:g}": row for v, row in zip(z, softmax(z / T[:, None]).T, strict=True)})]
