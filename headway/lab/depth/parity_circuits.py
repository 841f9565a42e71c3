from headway.lab.depth.sawtooth import teeth
from headway.lab.kit import (
    Checks,
    Experiment,
    Generator,
    Panel,
    at_least,
    at_most,
    because,
    equal,
    headline,
    np,
    param,
    vacuous,
)
from headway.lab.tools.bits import cube
from headway.lab.tools.parity import AndOr, blocks, dnf, nand_tree, prime_implicants, threshold_pair


class ParityCircuits(Experiment):
    """Parity of n bits takes 2^{n-1} terms at depth two, but 4(n - 1) NANDs, n + 1 thresholds or 3⌈log₂ n⌉ ReLU units.

        OR of ANDs:   2^{n-1} terms of n literals            depth 3, blocks of s = ⌈√n⌉ bits:   O(√n 2^{√n}) gates
        NAND tree:    4(n - 1) gates, depth 3⌈log₂ n⌉        thresholds:   1{Σ_k (-1)^{k+1} 1{Σx >= k} >= ½}, n + 1 gates
        ReLU:         Δ^p(Σx / 2^p) with the tent map Δ and p = ⌈log₂ n⌉, 3p units

    Flipping a bit flips the parity, so a term that leaves out a variable is true at an even row: every implicant is a minterm, and an OR of
    ANDs has all 2^{n-1} of them. For the same reason a term of fewer than n literals does not correlate with parity at all. At depth k AND/OR
    circuits need exp(Ω(n^{1/(k-1)})) gates (Håstad 1986, quoted, not measured); blocks reach that order at depth 3.

    Notes: A, E. Source: Håstad 1986, https://doi.org/10.1145/12130.12132; Telgarsky 2015, https://arxiv.org/abs/1509.08101
    Assumes: AND and OR gates have any number of inputs, and literals are free; thresholds and ReLU units take sums of bits.
    Also: parity and bounded depth; Håstad's theorem.
    """

    n = param(12, "bits; all from 2 on are tried, on all 2^n inputs", least=5, most=14, small=7)
    primes = param(6, "all 3^n terms are searched for prime implicants up to this n", least=2, most=7, small=4)
    terms = param(50, "random terms for each n that are correlated with parity", least=10, most=1000, small=20)

    def measure(self, rng: Generator) -> Checks:
        self.bits = np.arange(2, self.n + 1)
        logs = np.array([int(n - 1).bit_length() for n in self.bits])  # ⌈log₂ n⌉
        self.size: dict[str, list[int]] = {}
        wrong, depths, correlations = [], [], []
        for n, p in zip(self.bits.tolist(), logs.tolist(), strict=True):
            x = cube(n)
            parity, net = x.sum(axis=1) % 2, teeth(p)
            (tree, gates, deep), (layer, thresholds) = nand_tree(x), threshold_pair(x)
            made = {
                "OR of ANDs": (dnf(n)(x), dnf(n).size),
                "depth 3": (blocks(n)(x), blocks(n).size),
                "NAND tree": (tree, gates),
            }
            made |= {"thresholds": (layer, thresholds), "ReLU": (net.at(x.sum(axis=1) / 2**p), net.nodes)}
            wrong.append([int(np.sum(values != parity)) for values, _ in made.values()])
            for form, (_, size) in made.items():
                self.size.setdefault(form, []).append(size)
            depths.append(deep)
            correlations += [correlation(x, parity, int(rng.integers(1, n)), rng) for _ in range(self.terms)]
        size, few = {form: np.array(sizes) for form, sizes in self.size.items()}, range(2, self.primes + 1)
        found = {n: prime_implicants(cube(n).sum(axis=1) % 2, n) for n in few}
        primes = np.array([len(terms) for terms in found.values()])
        yield headline(equal(f"prime implicants, 2^(n-1), n = 2 … {self.primes}", primes, 2 ** (np.array(few) - 1)))
        short = sum(2 in term for terms in found.values() for term in terms)
        yield equal("prime implicants with fewer than n literals", short, 0)
        yield equal(
            "correlation with terms of fewer than n literals", np.array(correlations), np.zeros(len(correlations))
        )
        yield equal(
            f"wrong values of the five, all inputs, n = 2 … {self.n}",
            np.array(wrong),
            np.zeros((self.bits.size, 5), dtype=int),
        )
        yield equal("OR of ANDs: 2^(n-1) terms and one OR", size["OR of ANDs"], 2 ** (self.bits - 1) + 1)
        yield at_most("depth 3: gates, 4 √n 2^√n", size["depth 3"], 4 * np.sqrt(self.bits) * 2.0 ** np.sqrt(self.bits))
        yield equal("NAND tree: 4(n - 1) gates", size["NAND tree"], 4 * (self.bits - 1))
        yield equal("NAND tree: depth 3⌈log₂ n⌉", np.array(depths), 3 * logs)
        yield equal("thresholds: n + 1 gates", size["thresholds"], self.bits + 1)
        yield equal("ReLU: 3⌈log₂ n⌉ units", size["ReLU"], 3 * logs)

    def control(self, rng: Generator) -> Checks:
        n, x = self.n, cube(self.n)
        either = prime_implicants(cube(4).any(axis=1), 4)
        yield because(
            "a flip need not change the value", equal("OR in place of parity: prime implicants, n = 4", len(either), 8)
        )
        full = [correlation(x, x.sum(axis=1) % 2, n, rng) for _ in range(self.terms)]
        yield because(
            "the term has all n literals",
            equal("correlation with terms of n literals", np.array(full), np.zeros(self.terms)),
        )
        net, inside = teeth(int(n - 1).bit_length()), rng.random((500, n))
        value = net.at(inside.sum(axis=1) / 2 ** int(n - 1).bit_length())
        yield because(
            "inputs are not bits",
            equal("ReLU: values that are neither 0 nor 1", int(np.sum((value != 0) & (value != 1))), 0),
        )
        claim = at_least(f"gates of an AND/OR circuit, 2^(n-1), n = {n}", blocks(n).size, 2 ** (n - 1))
        yield because("the depth is 3, and small depends on it", vacuous(claim, "A17"))

    def resolution(self, rng: Generator) -> Checks:
        (kind, terms), _ = dnf(self.n).layers
        fewer = AndOr(((kind, terms[1:]), ("or", np.ones((1, len(terms) - 1), dtype=int))))
        x = cube(self.n)
        yield equal("OR of ANDs, wrong values with one term fewer", int(np.sum(fewer(x) != x.sum(axis=1) % 2)), 0)

    def plots(self) -> list[Panel]:
        n, p = self.n, int(self.n - 1).bit_length()
        left = Panel("Depth two is exponential, others are not", "bits n", "gates or units", log="y").series(
            self.bits, self.size
        )
        s = np.linspace(0, 2**p, 2 ** (p + 1) + 1)
        right = Panel(f"Parity is a sawtooth of the sum, n = {n}", "Σx", "value").curve(
            s, teeth(p).at(s / 2**p), f"Δ^{p}(Σx/{2**p})"
        )
        return [left, right.points(np.arange(n + 1), np.arange(n + 1) % 2, "parity", size=30)]


def correlation(x: np.ndarray, parity: np.ndarray, literals: int, rng: Generator) -> float:
    """E (-1)^{term + parity} over all inputs x for a random term: a fraction with the denominator 2^n, exact."""
    chosen = rng.permutation(x.shape[1])[:literals]
    term = np.all(x[:, chosen] == rng.integers(0, 2, literals), axis=1)
    return float(np.mean((1 - 2 * term) * (1 - 2 * parity)))
