from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, equal, headline, np, param, vacuous
from headway.lab.tools.bits import cube
from headway.lab.tools.parity import blocks, correlation, dnf, nand_tree, prime_implicants, threshold_pair
from headway.lab.tools.tents import teeth


class ParityCircuits(Experiment):
    """Parity of n bits takes 2^{n-1} terms at depth two, but 4(n - 1) NANDs, n + 1 thresholds or 3⌈log₂ n⌉ ReLU units.

        OR of ANDs:   2^{n-1} terms of n literals            depth 3, blocks of s = ⌈√n⌉ bits:   O(√n 2^{√n}) gates
        NAND tree:    4(n - 1) gates, depth 3⌈log₂ n⌉        thresholds:   1{Σ_k (-1)^{k+1} 1{Σx >= k} >= ½}, n + 1 gates
        ReLU:         Δ^p(Σx / 2^p) with the tent map Δ and p = ⌈log₂ n⌉, 3p units

    Flipping a bit flips the parity, so a term that leaves out a variable is true at an even row: every implicant is a minterm, and an OR
    of ANDs has all 2^{n-1} of them. For the same reason a term of fewer than n literals does not correlate with parity at all. At depth k
    AND/OR circuits need exp(Ω(n^{1/(k-1)})) gates (Håstad 1986, quoted, not measured); blocks reach that order at depth 3.

    Notes: A, E. Source: Håstad 1986, https://doi.org/10.1145/12130.12132; Telgarsky 2015, https://arxiv.org/abs/1509.08101
    Assumes: AND and OR take any number of literals; thresholds and ReLUs sums of bits. Also: parity and bounded depth; Håstad's theorem.
    """

    n = param(12, "bits; all from 2 on are tried, on all 2^n inputs", least=5, most=14, small=7)
    primes = param(6, "all 3^n terms are searched for prime implicants up to this n", least=2, most=7, small=4)
    terms = param(50, "random terms for each n that are correlated with parity", least=10, most=200, small=20)

    def measure(self, rng: Generator) -> Checks:
        few, found = np.arange(2, self.primes + 1), []
        for n in few.tolist():
            terms = prime_implicants(cube(n).sum(axis=1) % 2, n)
            found.append([len(terms), sum(2 in term for term in terms)])
        name = f"prime implicants, 2^(n-1), and those with fewer than n literals, 0, n = 2 … {self.primes}"
        yield headline(equal(name, found, np.stack([2 ** (few - 1), 0 * few], axis=1)))
        self.bits = bits = np.arange(2, self.n + 1)
        logs = np.array([int(n - 1).bit_length() for n in bits])  # ⌈log₂ n⌉
        size: dict[str, list[int]] = {}
        wrong, depths, correlations = [], [], []
        for n, p in zip(bits.tolist(), logs.tolist(), strict=True):
            x, flat, three, net = cube(n), dnf(n), blocks(n), teeth(p)
            (tree, gates, deep), (pair, thresholds) = nand_tree(x), threshold_pair(x)
            made = {"OR of ANDs": (flat(x), flat.size), "depth 3": (three(x), three.size), "NAND tree": (tree, gates)}
            made |= {"thresholds": (pair, thresholds), "ReLU": (net.at(x.sum(axis=1) / 2**p), net.nodes)}
            for form, (values, gates) in made.items():
                wrong.append(np.sum(values != x.sum(axis=1) % 2))
                size.setdefault(form, []).append(gates)
            depths.append(deep)
            correlations += [correlation(x, int(rng.integers(1, n)), rng) for _ in range(self.terms)]
        self.size = size
        yield equal("correlation with shorter terms", correlations, 0.0)
        yield equal(f"wrong values of the five, n = 2 … {self.n}", wrong, 0)
        yield equal("OR of ANDs: 2^(n-1) terms and one OR", size["OR of ANDs"], 2 ** (bits - 1) + 1)
        yield at_most("depth 3: gates, 4 √n 2^√n", size["depth 3"], 4 * np.sqrt(bits) * 2 ** np.sqrt(bits))
        yield equal("NAND tree: 4(n - 1) gates", size["NAND tree"], 4 * (bits - 1))
        yield equal("NAND tree: depth 3⌈log₂ n⌉", depths, 3 * logs)
        yield equal("thresholds: n + 1 gates", size["thresholds"], bits + 1)
        yield equal("ReLU: 3⌈log₂ n⌉ units", size["ReLU"], 3 * logs)

    def control(self, rng: Generator) -> Checks:
        n, p, x = self.n, int(self.n - 1).bit_length(), cube(self.n)
        either = prime_implicants(cube(4).max(axis=1), 4)
        yield because("OR: a flip need not change the value", equal("prime implicants, n = 4", len(either), 8))
        full = [correlation(x, n, rng) for _ in range(self.terms)]
        yield because("a term has all n literals", equal("correlation with such terms", full, 0.0))
        value = teeth(p).at(rng.random((500, n)).sum(axis=1) / 2**p)
        yield because("inputs are not bits", equal("ReLU: values are 0 or 1", value, np.round(value)))
        check = at_most(f"2^(n-1) gates are needed, n = {n}: those of depth 3", 2 ** (n - 1), blocks(n).size)
        yield because("the depth is 3, and what is small depends on it", vacuous(check, "A17"))

    def plots(self) -> list[Panel]:
        n, p = self.n, int(self.n - 1).bit_length()
        s, k = np.linspace(0, 2**p, 2 ** (p + 1) + 1), np.arange(n + 1)
        left = Panel("Depth two is exponential", "bits n", "gates or units", log="y").series(self.bits, self.size)
        right = Panel("Parity is a sawtooth of the sum", "Σx", f"value, n = {n}")
        return [left, right.curve(s, teeth(p).at(s / 2**p), f"Δ^{p}(Σx/{2**p})").points(k, k % 2, "parity", size=30)]
