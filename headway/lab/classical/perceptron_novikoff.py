from headway.lab import style
from headway.lab.kit import Checks, Experiment, Generator, Panel, at_least, at_most, because, close, equal, headline, np, param, printed
from headway.lab.tools.perceptron import labelled, path
from headway.lab.tools.programs import max_margin
from headway.models.classical.perceptron import Perceptron


class PerceptronNovikoff(Experiment):
    """On data that a unit vector w* separates with margin γ, the perceptron makes at most ⌊R²/γ²⌋ updates, in any order.

    With R = max ‖x‖ and no bias, after t updates from w_0 = 0

        w*ᵀw_t >= tγ,     ||w_t|| <= R √t,     so     1 >= cos ∠(w*, w_t) >= √t γ/R     and     t <= ⌊R²/γ²⌋.

    n orthonormal points attain it: R²/γ² = n updates. (a, ½), (a, -1), (a, 1) need more than half of it at any margin a: the second weight
    goes to and fro between ½ and -½ until t a² > ½. With a bias the points become (x, 1), R² becomes R² + 1 and γ is the margin of those.

    Notes: C. Source: Novikoff 1962, On convergence proofs on perceptrons, Symposium on the Mathematical Theory of Automata, pp. 615-622
    Assumes: a hyperplane through 0 separates the data; updates where y wᵀx <= 0. Also: Novikoff's theorem; perceptron convergence theorem.
    """

    dimensions = param((2, 5, 20), "of the points", least=2, most=50, small=(2, 5))
    margins = param((0.05, 0.2, 0.5), "least distance to the true hyperplane", least=0.02, most=1.5, small=(0.2, 0.5))
    points = param(100, "in each set", least=4, most=300)
    orders = param(20, "random orders of each set", least=1, most=100, small=3, full=100)

    def conditions(self) -> list[tuple[bool, str]]:
        runs = len(self.dimensions) * len(self.margins) * self.orders
        return [(runs <= 2000, f"dimensions, margins and orders make {runs} runs, at most 2000 end in a minute")]

    def measure(self, rng: Generator) -> Checks:
        sets = {f"d = {d}": [labelled(d, m, self.points, rng) for m in self.margins] for d in self.dimensions}
        sets["with a bias"] = [labelled(self.dimensions[0], m, self.points, rng, bias=0.7) for m in self.margins]
        runs = []
        for name, z in ((name, z) for name, group in sets.items() for z in group):
            best, R = max_margin(z), float(np.linalg.norm(z, axis=1).max())
            runs += [(name, path(rng.permutation(z)), best, R) for _ in range(self.orders)]
        self.longest = max(runs, key=lambda run: len(run[1]))[1:]
        pairs = {name: [(R**2 / best.size**2 // 1, len(w)) for n, w, best, R in runs if n == name] for name in sets}
        self.pairs = {name: np.array(each).T for name, each in pairs.items()}  # bounds and updates
        bounds, updates = ({name: pair[i] for name, pair in self.pairs.items()} for i in (0, 1))
        yield headline(at_most("updates, in every set and order", updates, bounds))
        yield close("γ is the largest margin: gap to its dual", [best.limit - best.size for _, _, best, _ in runs], 0.0)
        along = [w @ best.direction / best.size / np.arange(1, len(w) + 1) for _, w, best, _ in runs]
        yield at_least("w*ᵀw_t / tγ at every t", np.concatenate(along), 1.0, rounding=1e-12)
        norm = [np.linalg.norm(w, axis=1) / R / np.sqrt(np.arange(1, len(w) + 1)) for _, w, _, R in runs]
        yield at_most("‖w_t‖ / R√t at every t", np.concatenate(norm), 1.0, rounding=1e-12)
        orthonormal = [len(path(np.eye(n))) for n in (1, 10, 100)]
        yield equal("1, 10, 100 orthonormal points: R²/γ² updates", np.array(orthonormal), [1, 10, 100])
        collinear = [len(path(np.array([[a, 0.5], [a, -1], [a, 1]]))) for a in (1 / 4, 1 / 16, 1 / 64)]
        yield equal("a = 1/4, 1/16, 1/64: 1/(2a²) + 1 of the 1/a² + 1 updates", np.array(collinear), [9, 129, 2049])
        self.tight = {"orthonormal": ([1, 10, 100], orthonormal), "nearly collinear": ([17, 257, 4097], collinear)}
        z = max(sets[f"d = {self.dimensions[-1]}"], key=lambda z: len(path(z)))
        y, w = np.where(np.arange(len(z)) % 2, 1, -1), path(z)
        model = Perceptron(passes=10**6, intercept=False).fit(y[:, None] * z, y)
        found, expected = np.append(model.coef_, model.mistakes_), np.append(w[-1], len(w))
        yield close("weights and updates of the model `perceptron`", found, expected, 1e-12)

    def control(self, rng: Generator) -> Checks:
        yield printed(at_most('"less than ⌊R²/γ²⌋": 10 orthonormal points', len(path(np.eye(10))), 10 - 1), "C1")
        z = labelled(2, 0.2, self.points, rng)
        best = max_margin(z)
        bound = int((np.linalg.norm(z, axis=1).max() / best.size) ** 2)
        z[np.argmax(z @ best.direction / np.linalg.norm(z, axis=1))] *= -1  # it is inside the cone of the others
        yield because("one label is flipped", at_most("updates, stopped above it", len(path(z, bound + 1)), bound))
        pair = np.array([[0.1, 1.0], [0.1, -1.0]])  # x = ±0.1 with labels ±1, and the bias
        yield because("R and γ are those without the bias", at_most("updates with a bias", len(path(pair)), 1))

    def plots(self) -> list[Panel]:
        left = Panel("Updates stay below the bound", "bound R²/γ²", "updates t", log="xy")
        for name, (bounds, updates) in self.pairs.items():
            left.points(bounds, updates, name, size=12)
        for (name, (most, found)), colour in zip(self.tight.items(), (style.VERMILION, style.INK), strict=True):
            left.points(most, found, name, colour, 45)
        ends, (w, best, R) = [1, max(b.max() for b, _ in self.pairs.values())], self.longest
        t = np.arange(1, len(w) + 1)
        right = Panel(f"One run: {len(w)} updates, bound {int((R / best.size) ** 2)}", "update t", "length")
        right.bound(t, R * np.sqrt(t), "R√t").curve(t, np.linalg.norm(w, axis=1), "‖wₜ‖")
        right.curve(t, w @ best.direction, "w*ᵀwₜ").bound(t, t * best.size, "tγ")
        return [left.bound(ends, ends, "t = R²/γ²"), right]
