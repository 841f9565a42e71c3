from headway.lab.kit import (
    Checks, Experiment, Generator, Panel, at_most, because, headline, math, mean_is, np, param, slope,
)
from headway.lab.pwl1d import pwl1d
from headway.lab.relu_net import ReluNet, affine, compose, random_net
from headway.lab.tools.pieces import pieces_met, pieces_of, product_bound
from headway.lab.tools.tents import teeth

DEPTHS = (1, 2, 4, 8)


class RegionRandom(Experiment):
    """Along a line, a random ReLU net of any depth has about as many pieces as units, far below the maximum.
     Of N = depth × width units with weights N(0, 2/fan-in) and biases N(0, σ_b^2), each bends about once on a line. For
    one layer, n inputs and the part |t| <= T of a line through 0 the mean is known, since b/⟨w, u⟩ is a Cauchy
    variable:

        E pieces = 1 + N (2/π) arctan(T √(2/n) / σ_b),             maximum = (N/depth + 1)^depth.

    Deep units fold a line only where weights are chosen for it; at random, the folds of one layer rarely meet those of
    the next.

    Notes: A, B, C. Source: Hanin and Rolnick 2019, Complexity of linear regions in deep networks,
    https://arxiv.org/abs/1901.09021
    Assumes: random independent weights of He's variance; biases that are not too small.
    Deviates: the paper proves a bound with an unnamed constant; a factor of 2 between depths and at most N + 1 pieces
    are measured.
    Also: complexity of linear regions; regions at initialization.
    """

    cost = "M"
    units = param((96, 144, 216, 320), "numbers N of hidden units", least=96, most=640, count=4)
    inputs = param(10, "dimension n of the input", least=2, most=100)
    bias = param(0.5, "standard deviation σ_b of the biases", least=0.3, most=1.0)
    reach = param(3.0, "the line is looked at for |t| <= T", least=2.0, most=4.0)
    nets = param(50, "random nets for each N, depth and seed", least=40, most=500, small=40)

    def conditions(self) -> list[tuple[bool, str]]:
        return [(all(N % 8 == 0 for N in self.units), "units must be multiples of 8"),
                (sum(self.units) * self.nets <= 100_000, "units times nets is too large")]  # fmt: skip

    def on_a_line(self, depth: int, units: int, rng: Generator) -> ReluNet:
        """A random net along t u for a random unit vector u: a net with one input."""
        net, u = random_net([self.inputs, *[units // depth] * depth, 1], rng, self.bias), rng.normal(size=self.inputs)
        return compose(net, affine(u[:, None] / np.linalg.norm(u), np.zeros(self.inputs)))

    def measure(self, rng: Generator) -> Checks:
        nets = [self.on_a_line(8, self.units[0], rng) for _ in range(self.nets)]
        counts = np.array([pwl1d(net).pieces(-self.reach, self.reach) for net in nets])
        walked = [pieces_met(net, np.linspace(-self.reach, self.reach, 2001)) for net in nets]
        yield at_most("pieces met on a walk, of all", walked, counts, kind="EXACT")
        maximum = product_bound((self.units[0] // 8,) * 8)
        yield at_most(
            f"largest of {self.nets} nets / maximum, depth 8, N = {self.units[0]}", counts.max() / maximum, 1e-2
        )
        self.means: list[np.ndarray] = []

    def sample(self, rng: Generator) -> Checks:
        shape = len(DEPTHS), len(self.units), self.nets
        nets = (self.on_a_line(depth, N, rng) for depth in DEPTHS for N in self.units for _ in range(self.nets))
        counts = np.reshape([pwl1d(net).pieces(-self.reach, self.reach) for net in nets], shape)
        means, N = counts.mean(axis=2), np.array(self.units)
        self.means.append(means)
        self.law = 1 + N * (2 / math.pi) * math.atan(self.reach * math.sqrt(2 / self.inputs) / self.bias)
        yield headline(slope("mean pieces in N, depth 8", N, means[-1], 1.0, 0.3))
        yield at_most(
            "largest / smallest mean over depths, equal N", means.max(axis=0) / means.min(axis=0), 2.0, kind="STAT"
        )
        yield at_most("mean pieces / (N + 1), all depths", means / (N + 1), 1.0, kind="STAT")
        yield mean_is(f"depth 1, N = {N[-1]}: mean pieces", counts[0, -1], float(self.law[-1]))

    def control(self, rng: Generator) -> Checks:
        saw = teeth(8)
        row = at_most(f"sawtooth of depth 8: pieces / ({saw.nodes} + 1)", pieces_of(saw) / (saw.nodes + 1), 1.0)
        yield because("the weights are chosen, not random", row)

    def resolution(self, rng: Generator) -> Checks:
        yield slope("mean pieces in N, depth 8, if they grew like the maximum", self.units, self.means[0][-1], 8.0, 0.3)

    def plots(self) -> list[Panel]:
        N, means = np.array(self.units), np.mean(self.means, axis=0)
        left = Panel("Depth does not matter", "hidden units N", "mean pieces along a line", log="xy")
        left.series(N, {f"depth {d}": row for d, row in zip(DEPTHS, means, strict=True)}).bound(
            N, self.law, "law of depth 1"
        )
        right = Panel("The maximum is far away", "hidden units N", "pieces", log="xy").series(
            N, means[-1], "random, depth 8"
        )
        for depth in (2, 4, 8):
            right.bound(N, [float(product_bound((k // depth,) * depth)) for k in N.tolist()], f"maximum, depth {depth}")
        return [left, right]
