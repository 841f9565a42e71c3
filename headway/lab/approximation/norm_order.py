from itertools import pairwise

from headway.lab import style
from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, close, equal, headline, np, param
from headway.lab.pwl1d import Pwl, constant, l1_distance, pwl1d, sup_distance
from headway.lab.relu_net import hinges


def random_pair(knots: int, end: float, rng: Generator) -> tuple[Pwl, Pwl]:
    """Two functions, continuous and piecewise linear on [0, end], with normal values at random knots."""
    s, t = np.sort(np.hstack([np.zeros((2, 1)), rng.uniform(0, end, (2, knots - 2)), np.full((2, 1), end)]))
    return Pwl(s, rng.normal(size=knots), 0.0, 0.0), Pwl(t, rng.normal(size=knots), 0.0, 0.0)


class NormOrder(Experiment):
    """Small everywhere implies small on average, for a probability measure; the converse is false.

    For every probability measure μ

        ‖f - g‖_{L1(μ)} = ∫ |f - g| dμ <= sup |f - g|,

    with equality for a constant difference, because the largest value is never below the mean. A measure of mass M has M sup |f - g| on
    the right. There is no converse: the spike of height 1 and width w has L1 norm w/2, as small as one likes, and supremum 1.

    Notes: A. Source: Rudin 1987, Real and Complex Analysis, ch. 3
    Assumes: μ is a probability measure, its mass is 1; f - g is bounded. Also: average versus everywhere; L1 against sup norm.
    """

    pairs = param(200, "random pairs f, g", least=20, most=2000, small=30)
    knots = param(8, "of each function", least=2, most=200)
    atoms = param(20, "points of the discrete measure, and steps of the density", least=2, most=200)
    widths = param(10, "spikes of width 1/2, 1/4, … 2^-widths", least=2, most=40)

    def measure(self, rng: Generator) -> Checks:
        pairs = [random_pair(self.knots, 1, rng) for _ in range(self.pairs)]
        cells, place = list(pairwise(np.linspace(0, 1, self.atoms + 1))), rng.random(self.atoms)
        density, mass = rng.dirichlet(np.full(self.atoms, 0.3)) * self.atoms, rng.dirichlet(np.ones(self.atoms))
        gaps = np.array([np.abs(f(place) - g(place)) for f, g in pairs])
        parts = np.array([[l1_distance(*p, *cell) for cell in cells] for p in pairs])
        self.sup, self.sums = np.array([sup_distance(*p) for p in pairs]), gaps.sum(axis=1)
        self.l1 = {"length": parts.sum(axis=1), "a random density": parts @ density, "point masses": gaps @ mass}
        yield headline(at_most("∫ |f - g| dμ against sup |f - g|", self.l1, self.sup))
        f, up = pairs[0][0], Pwl(pairs[0][0].knots, pairs[0][0].values + 0.75, 0.0, 0.0)
        yield close("constant difference ¾: L1 is the supremum", l1_distance(f, up), sup_distance(f, up), 1e-12)
        wide = [random_pair(self.knots, 2, rng) for _ in pairs] + [(f, up)]
        self.wide = np.array([[sup_distance(*p, 0, 2), l1_distance(*p, 0, 2)] for p in wide]).T
        yield at_most("mass 2, length on [0, 2]: L1 against 2 sup", self.wide[1], 2 * self.wide[0], rounding=1e-12)
        self.w = 0.5 ** np.arange(1, self.widths + 1)
        spikes = [pwl1d(hinges([0, w / 2, w], [2 / w, -4 / w, 2 / w])) for w in self.w]
        self.spikes = np.array([l1_distance(f, constant(0)) for f in spikes])
        yield close("spikes of three ReLUs: L1 norm over w", self.spikes / self.w, 0.5, 1e-12)
        yield equal("spikes: supremum is 1", [sup_distance(f, constant(0)) for f in spikes], 1.0)

    def control(self, rng: Generator) -> Checks:
        yield because("the mass is 2", at_most("length on [0, 2]: L1 against sup", self.wide[1], self.wide[0]))
        yield because("each point has the mass 1", at_most(f"{self.atoms} values of |f - g| against sup", self.sums, self.sup))

    def plots(self) -> list[Panel]:
        left, top = Panel("With mass 1 the average is below", "sup |f - g|", "∫ |f - g| dμ"), [0.0, self.sup.max()]
        for name, l1 in self.l1.items():
            left.points(self.sup, l1, name, size=9)
        left.points(self.wide[0], self.wide[1], "mass 2", colour=style.VERMILION, size=9).bound(top, top, "L1 = sup")
        right = Panel("A spike is small on average only", "width w of the spike", "norm", log="xy")
        right.series(self.w, np.ones(self.w.size), "supremum").series(self.w, self.spikes, "L1 norm")
        return [left, right.bound(self.w, self.w / 2, "w/2")]
