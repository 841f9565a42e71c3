from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, headline, math, np, param, slope
from headway.lab.pwl1d import pwl1d
from headway.lab.relu_net import ReluNet, random_net
from headway.lab.tools.pieces import pieces_of, product_bound
from headway.lab.tools.tents import teeth

DEPTHS = (1, 2, 4, 8)


class RegionRandom(Experiment):
    """Along a line, a random ReLU net of any depth has about as many pieces as units, far below the maximum.

    For N units in L layers of m = N/L, n inputs, weights N(0, 2/fan-in), biases N(0, σ_b^2), and the part |t| <= T of a
    line through 0, with r = T √(2/n) / σ_b,

        E pieces <= 1 + (2/π) r N,      E pieces -> 1 + (2/π) m Σ_{ℓ<=L} arctan(r/√ℓ)  (wide layers),      maximum (m + 1)^L.

    A unit z = w·h + b bends where b = -w·h: on average at most 2T times E|z'| <= √(2/n) √(2/π) times the density of b at
    0. In wide layers z is Gaussian with E z² = 2t²/n + ℓσ_b^2, E z'² = 2/n and E zz' = 2t/n, and the formula of Kac and
    Rice counts its zeros: biases add up, so deep units bend a little less often. Narrow layers fall below the law: all m
    units are off at once with probability 2^{-m}, and then nothing passes.

    Notes: A, B, C. Source: Hanin and Rolnick 2019, Complexity of linear regions in deep networks, https://arxiv.org/abs/1901.09021
    Assumes: random independent weights of He's variance; biases of one variance in all layers; for the law, wide layers.
    Deviates: the paper's bound has an unnamed constant; the constant and the law here are derived for He's variance.
    Also: complexity of linear regions; regions at initialization.
    """

    cost = "M"
    units = param((96, 144, 216, 320), "numbers N of hidden units, for 8 layers of 12 or more", least=96, most=640, count=4)
    inputs = param(10, "dimension n of the input", least=2, most=100)
    bias = param(0.5, "standard deviation σ_b of the biases", least=0.3, most=1.0)
    reach = param(3.0, "the line is looked at for |t| <= T", least=2.0, most=4.0)
    nets = param(50, "random nets for each N, depth and seed", least=40, most=500, small=40)

    def conditions(self) -> list[tuple[bool, str]]:
        self.r = self.reach * math.sqrt(2 / self.inputs) / self.bias
        return [(all(N % 8 == 0 for N in self.units), "`units` must be multiples of 8"),
                (sum(self.units) * self.nets <= 100_000, "`units` times `nets` is too large"),
                (self.r >= 2, "`reach` √(2/`inputs`)/`bias` must be 2 or more, or units bend outside")]  # fmt: skip

    def pieces(self, depth: int, units: int, rng: Generator, deep: float = 1.0) -> np.ndarray:
        """Of random nets along t u for random unit vectors u; biases after the first layer are `deep` times as large."""
        found = []
        for _ in range(self.nets):
            u, widths = rng.normal(size=self.inputs), [self.inputs, *[units // depth] * depth, 1]
            (w, b), *rest = random_net(widths, rng, self.bias).layers
            line = ReluNet(((w @ u[:, None] / np.linalg.norm(u), b), *((v, deep * c) for v, c in rest)))
            found.append(pwl1d(line).pieces(-self.reach, self.reach))
        return np.array(found)

    def law(self, depth: int, units: int) -> float:
        return 1 + 2 / math.pi * units / depth * float(np.arctan(self.r / np.sqrt(np.arange(1, depth + 1))).sum())

    def from_law(self, depth: int, counts: np.ndarray) -> float:
        """How far the mean is from the law for the largest N, over 4 standard errors and the share L/2m of the law."""
        law = self.law(depth, self.N[-1])
        allowed = 4 * counts.std(ddof=1) / math.sqrt(self.nets) + law * depth**2 / (2 * self.N[-1])
        return float(abs(counts.mean() - law) / allowed)

    def measure(self, rng: Generator) -> Checks:
        self.N = sorted(self.units)
        deep = [np.concatenate([self.pieces(8, n, rng) for _ in range(3)]) for n in self.N]
        share = deep[0].max() / product_bound((self.N[0] // 8,) * 8)
        yield at_most(f"largest of {deep[0].size} nets / maximum, depth 8, N = {self.N[0]}", share, 1e-2)
        yield slope("mean pieces in N, depth 8", self.N, [counts.mean() for counts in deep], 1.0, 0.3)
        self.means: list[np.ndarray] = []

    def sample(self, rng: Generator) -> Checks:
        counts, N = np.array([[self.pieces(d, n, rng) for n in self.N] for d in DEPTHS]), np.array(self.N)
        means, errors = counts.mean(axis=2), counts.std(axis=2, ddof=1) / math.sqrt(self.nets)
        self.means.append(means)
        low = dict(zip((f"depth {d}" for d in DEPTHS), means - 4 * errors, strict=True))
        yield headline(at_most("mean pieces less 4 s.e., 1 + (2/π) r N", low, 1 + 2 / math.pi * self.r * N, kind="STAT"))
        away = {f"depth {d}": self.from_law(d, rows[-1]) for d, rows in zip(DEPTHS, counts, strict=True)}
        yield at_most(f"N = {N[-1]}: distance from the law / (4 s.e. and its share L/2m)", away, 1.0, kind="STAT")
        yield at_most("largest / smallest mean over depths, equal N", means.max(axis=0) / means.min(axis=0), 2.0, kind="STAT")

    def control(self, rng: Generator) -> Checks:
        saw = teeth(8)
        row = at_most(f"sawtooth of depth 8: pieces / ({saw.nodes} + 1)", pieces_of(saw) / (saw.nodes + 1), 1.0)
        yield because("the weights are chosen, not random", row)
        row = at_most("depth 4: distance from the law", self.from_law(4, self.pieces(4, self.N[-1], rng, 10.0)), 1.0)
        yield because("biases after the first layer are ten times as large", row)

    def plots(self) -> list[Panel]:
        N, means = self.N, np.mean(self.means, axis=0)
        left = Panel("Depth matters little", "hidden units N", "mean pieces along a line", log="xy")
        left.series(N, {f"depth {d}": row for d, row in zip(DEPTHS, means, strict=True)})
        for d in DEPTHS:
            left.bound(N, [self.law(d, k) for k in N], "law of wide layers" if d == 8 else "")
        right = Panel("The maximum is far away", "hidden units N", "pieces", log="xy")
        right.series(N, means[-1], "random, depth 8")
        for d in (2, 4, 8):
            right.bound(N, [float(product_bound((k // d,) * d)) for k in N], f"maximum, depth {d}")
        return [left, right]
