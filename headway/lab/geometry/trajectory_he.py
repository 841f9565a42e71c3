from headway.lab.kit import Checks, Experiment, Generator, Panel, at_least, at_most, because, headline, math, np, param, printed, table
from headway.lab.tools.trajectories import Draw, gaussian, growth, random_stretch, relu_factor, sparse, z_score

SIGMAS = (1.2, math.sqrt(2), 1.7)
PUBLISHED = {10: 0.93564, 30: 0.97896, 100: 0.99373}  # √2 c_n


class TrajectoryHe(Experiment):
    """At He initialisation, σ_w^2 = 2, a random ReLU network shrinks curves slowly, the faster the narrower it is.

    With the factor c_n of one layer of width n (experiment trajectory-relu),

        E length(z^L) / length(x) = (√2 c_n)^L ≈ exp(-5 L/(8n)) <= 1 .

    Growth needs α σ_w^2 > 2, where α is the share of weights that are not zero: that α or σ_w is "not small" does not do.

    Notes: B. Source: Hanin, Jeong, Rolnick 2022, Deep ReLU networks preserve expected length, https://arxiv.org/abs/2102.10492
    Assumes: independent Gaussian weights with variance 2/n; symmetric biases; equal widths.
    Also: expected length at He initialisation; Hanin and Rolnick on length.
    """

    cost = "M"
    widths = param((10, 30, 100), "of the layers, n", least=10, most=200, small=(10, 30))
    depth = param(60, "layers L", least=20, most=100, small=30)
    draws = param(50, "networks for each seed", least=50, most=500)

    def through(self, rng: Generator, n: int, sigmas: tuple[float, ...], weights: Draw = gaussian) -> np.ndarray:
        return random_stretch(rng, n, self.depth, self.draws, sigmas, 0.1, weights)

    def measure(self, rng: Generator) -> Checks:
        n = np.arange(1, 501)
        factor = math.sqrt(2) * np.array([relu_factor(int(i)) for i in n])
        yield at_most("√2 c_n, n = 1 … 500", factor, 1)
        yield at_most("n² |ln(√2 c_n) + 5/(8n)|", n**2 * abs(np.log(factor) + 5 / (8 * n)), 0.41)
        yield from table(PUBLISHED, dict(zip(n.tolist(), factor, strict=True)), 1e-5, "√2 c_n, n = {}")

    def sample(self, rng: Generator) -> Checks:
        self.lengths = {n: self.through(rng, n, SIGMAS) for n in self.widths}
        ratios = {n: growth(lengths)[1] for n, lengths in self.lengths.items()}
        away = {f"n = {n}": z_score(r, math.sqrt(2) * relu_factor(n)) for n, r in ratios.items()}
        yield headline(at_most("mean growth of a layer: away from √2 c_n, in s.e.", away, 4, kind="STAT"))
        self.half = growth(self.through(rng, self.widths[0], (2.0,), sparse(0.5)))[0]
        away = {"α = 1": z_score(ratios[self.widths[0]] ** 2, 1), "α = ½": z_score(self.half**2, 1)}
        yield at_most("mean square where α σ_w^2 = 2: away from 1, in s.e.", away, 4, kind="STAT")

    def control(self, rng: Generator) -> Checks:
        n = self.widths[-1]
        length = float(self.lengths[n][-1, 2].mean())
        yield because("σ_w^2 = 2.89 is more than 2", at_most(f"σ_w = 1.7, n = {n}: mean length after {self.depth} layers", length, 1))
        few = self.widths[0]
        for name, ratios in (("σ_w = √2, α = 1", growth(self.lengths[few])[1]), ("σ_w = 2, α = ½", self.half)):
            yield printed(at_least(f"grows unless σ_w or α is small: n = {few}, {name}", float(np.nanmean(ratios)), 1), "B6")

    def plots(self) -> list[Panel]:
        layer, n = np.arange(self.depth + 1), self.widths[-1]
        left = Panel("Two phases, and the boundary $σ_w^2=2$", "layer L", f"mean length, n = {n}", log="y")
        left.curve(layer, {f"$σ_w$ = {s:.3g}": self.lengths[n][:, i].mean(axis=1) for i, s in enumerate(SIGMAS)})
        left.bound(layer, (math.sqrt(2) * relu_factor(n)) ** layer, "$(√2\\,c_n)^L$")
        right = Panel("He: narrow networks shrink curves", "layer L", "mean length, $σ_w$ = √2", log="y")
        for width in self.widths:
            mean = np.cumprod(np.append(1, [np.nanmean(r) for r in np.split(growth(self.lengths[width])[1], self.depth)]))
            law = np.exp(-5 * layer / (8 * width))
            right.curve(layer, mean, f"n = {width}").bound(layer, law, "exp(-5L/8n)" if width == n else "")
        return [left, right]
