from collections import Counter
from math import isqrt

from headway.lab.kit import Checks, Experiment, Generator, Panel, because, equal, headline, np, param, table
from headway.lab.tools.sum_products import deep, expand, flat


class SumProduct(Experiment):
    """A deep sum-product network has n - 1 units; written out as one sum of products it has 2^{√n - 1} product units.

    On n = 4^i inputs let layers of products of two and sums of two alternate. A product squares the number of monomials, a sum doubles it,

        M_0 = 1,   M_{i+1} = 2 M_i²,     M_i = 2^{√n - 1},     while the deep network has n/2 + n/4 + … + 1 = n - 1 inner units.

    All monomials are different, of degree √n and coefficient 1, and a polynomial has one expansion only; so one layer of products of
    inputs needs a unit for each. Witness: where the variables of one monomial are 1 and the others 0, every other monomial is 0.

    Notes: A. Source: Delalleau and Bengio 2011, https://proceedings.neurips.cc/paper/2011/hash/8e6b42f1644ecb1327dc03ab345e618b-Abstract.html
    Assumes: every input enters once; a flat unit multiplies inputs, not sums. Also: sum-product networks; deep against shallow polynomials.
    """

    largest = param(4, "i: the deep networks have n = 4^i inputs, i = 1 … largest", least=3, most=5)
    expanded = param(3, "up to this i the polynomial is written out", least=2, most=4, small=2, full=4)
    points = param(50, "places of small integers where both forms are compared", least=5, most=1000)

    def measure(self, rng: Generator) -> Checks:
        self.n = [4**i for i in range(1, self.largest + 1)]
        # at 1 everywhere a unit has as its value how many monomials it has: their coefficients are 1
        self.layers = {n: [v[0] for v in deep(np.ones((1, n), dtype=object))] for n in self.n}
        self.units = [sum(v.size for v in layers) for layers in self.layers.values()]
        self.monomials = [int(layers[-1][0]) for layers in self.layers.values()]
        written = {n: expand(n) for n in self.n[: self.expanded]}
        counts, wanted = [len(terms) for terms in written.values()], [2 ** (isqrt(n) - 1) for n in written]
        yield headline(equal(f"monomials written out, 2^(√n - 1), n = 4 … {max(written)}", counts, wanted))
        yield equal("units of the deep network, n - 1", self.units, np.array(self.n) - 1)
        yield from table({64: 128, 256: 32768}, dict(zip(self.n, self.monomials, strict=True)), 0, "n = {}: monomials")
        odd = [len(v) != isqrt(n) or c != 1 for n, terms in written.items() for v, c in terms.items()]
        yield equal("monomials of another degree than √n or another coefficient than 1", sum(odd), 0)
        x = {n: rng.integers(-2, 3, (self.points, n)) for n in written}
        values = [deep(x[n])[-1][:, 0] for n in written]
        yield equal("deep and flat at integers", values, np.array([flat(terms, x[n]) for n, terms in written.items()]))
        own = {n: np.array([[k in v for k in range(n)] for v in terms], dtype=np.int64) for n, terms in written.items()}
        ones = np.concatenate([deep(rows)[-1][:, 0] for rows in own.values()])
        yield equal("f where the variables of one monomial are 1", ones, 1)
        alone = [np.sum(rows @ rows.T == isqrt(n)) - len(rows) for n, rows in own.items() if n <= 64]
        yield equal("other monomials that are not 0 there", alone, 0)

    def control(self, rng: Generator) -> Checks:
        four = rng.integers(1, 3, (self.points, 4))
        merged = {frozenset(v % 4 for v in variables) for variables in expand(16)}  # 16 inputs that are 4 variables
        yield because("an input enters four times", equal("n = 16: different products of inputs", len(merged), 8))
        values = deep(np.concatenate([four] * 4, axis=1))[-1][:, 0]
        yield because("an input enters four times", equal("n = 16: flat and deep", flat(Counter(merged), four), values))

    def plots(self) -> list[Panel]:
        n = self.n[-1]
        growth = {"monomials of one": [float(v[0]) for v in self.layers[n]], "units": [v.size for v in self.layers[n]]}
        left = Panel(f"Products square, sums double, n = {n}", "layer", "number", log="y")
        left.series(np.arange(1, len(self.layers[n]) + 1), growth)
        right = Panel("Deep and flat sizes", "inputs n", "units", log="xy").series(self.n, self.units, "deep: n - 1")
        return [left, right.series(self.n, [float(m) for m in self.monomials], "flat: 2^(√n - 1)")]
