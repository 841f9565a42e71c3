from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, close, headline, math, np, param
from headway.lab.tools.boxes import LINEAR, TERMS, Boxes, Term, extremes, random_tree, sup_error, uniform, value, worst_and_best

STEP = (Term(lambda x: (x >= 1 / math.pi).astype(float), (1 / math.pi, float(np.nextafter(1 / math.pi, 0))), 3.0),)


class PartitionLemma(Experiment):
    """A function that varies by at most ε within a distance δ is constant on boxes of side δ, up to ε.

    If |g(x) - g(x')| <= ε whenever max_j |x_j - x'_j| <= δ, then for every partition of [0, 1]^d into boxes R_i with sides at most δ,

        h = Σ_i α_i 1_{R_i},   α_i = g at any point of R_i:                    sup |g - h| <= ε,
                               α_i = (max_{R_i} g + min_{R_i} g) / 2:          sup |g - h| <= ε/2,

    since two points of a box are not further than δ apart. Linear functions attain both. Here g(x) = sin 3x_1 + cos 4x_2 + 2|x_3 - 0.3|
    (the first d terms), ε = 3δ, 7δ, 9δ; g is a sum over the axes, so its extremes on a box are exact.

    Notes: A. Source: Telgarsky, Deep Learning Theory lecture notes, ch. 2, https://mjt.cs.illinois.edu/dlt/
    Assumes: g has the modulus ε at δ, max norm; no side is longer than δ. Also: piecewise constant on a partition; box partition lemma.
    """

    deltas = param((0.5, 0.25, 0.1), "the longest side δ of a box", least=0.06, most=0.9, small=(0.5, 0.25))
    dimensions = param(3, "d = 1 … dimensions", least=1, most=3)
    points = param(500, "random points at which h is evaluated", least=50, most=2000, small=100)

    def conditions(self) -> list[tuple[bool, str]]:
        return [(min(self.deltas) <= 0.25, "the smallest δ must be at most 0.25")]

    def measure(self, rng: Generator) -> Checks:
        worst, middle, epsilon, seen, linear = {}, {}, {}, {}, []
        for d in range(1, self.dimensions + 1):
            terms, rho, x = TERMS[:d], sum(t.rho for t in TERMS[:d]), rng.random((self.points, d))
            flat, trees = [uniform(d, s) for s in self.deltas], [random_tree(d, s, rng) for s in self.deltas]
            for name, partitions in ((f"d = {d}, equal boxes", flat), (f"d = {d}, random boxes", trees)):
                worst[name], middle[name] = zip(*[worst_and_best(terms, b) for b in partitions], strict=True)
                epsilon[name] = rho * np.array(self.deltas)
            tree = trees[-1]._replace(alpha=value(terms, trees[-1].lo))
            seen[f"d = {d}"] = np.max(np.abs(value(terms, x) - tree.member(x) @ tree.alpha)) / sup_error(terms, tree)
            linear.append(np.array(worst_and_best(LINEAR[:d], flat[-1])) / (rho * flat[-1].hi[0, 0]))
        yield headline(at_most("sup |g - h|, α from the worst points of the boxes, against ε", worst, epsilon))
        yield at_most("sup |g - h|, mid-range α, against ε/2", middle, [e / 2 for e in epsilon.values()])
        yield close("linear g: the errors over ε are 1 and ½", linear, np.tile([1, 0.5], (self.dimensions, 1)), 1e-12)
        yield at_most("|g - h| at random points, α from corners, over the supremum", seen, 1.0)
        boxes = random_tree(2, self.deltas[-1], rng)
        self.shown = boxes._replace(alpha=np.mean(extremes(TERMS[:2], boxes), axis=0))

    def control(self, rng: Generator) -> Checks:
        delta = self.deltas[-1]
        _, error = worst_and_best(TERMS[:2], Boxes(np.zeros((1, 2)), np.full((1, 2), 3 * delta)))
        yield because("the sides are 3δ", at_most("mid-range α, d = 2: sup |g - h| against ε/2", error, 3.5 * delta))
        _, error = worst_and_best(STEP, uniform(1, delta))
        yield because("a step varies by 1 within any δ", at_most("mid-range α, d = 1, as if ε = 3δ", error, 1.5 * delta))

    def plots(self) -> list[Panel]:
        x = np.stack(np.meshgrid(*[(np.arange(200) + 0.5) / 200] * 2, indexing="ij"), axis=-1)
        g, h = value(TERMS[:2], x), (self.shown.member(x.reshape(-1, 2)) @ self.shown.alpha).reshape(200, 200)
        bound, size, ends = 3.5 * min(self.deltas), (0.0, 1.0, 0.0, 1.0), (float(g.min()), float(g.max()))
        left = Panel(f"h on {len(self.shown.lo)} random boxes", "x₁", "x₂").image(h.T, size, scale="h", limits=ends)
        right = Panel(f"It is never {bound:.2g} = ε/2 away", "x₁", "x₂")
        return [left, right.image(np.abs(g - h).T, size, scale="|g - h|", limits=(0, bound))]
