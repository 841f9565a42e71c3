from headway.lab import style
from headway.lab.kit import (
    Checks, Experiment, Generator, Panel, at_least, at_most, because, close, equal, headline, np, param, printed,
)
from headway.lab.tools.perceptron import labelled, path
from headway.lab.tools.programs import max_margin

PAIR = np.array([[0.1, 1.0], [0.1, -1.0]])  # x = ±0.1 with labels ±1, and the bias


def collinear(a: float) -> np.ndarray:
    """(a, ½), (a, -1), (a, 1): the second weight goes to and fro between ½ and -½ until t a² > ½, which makes 1/(2a²) + 1 updates."""
    return np.array([[a, 0.5], [a, -1.0], [a, 1.0]])


class PerceptronNovikoff(Experiment):
    """On data that a unit vector w* separates with margin γ, the perceptron makes at most ⌊R²/γ²⌋ updates, in any order.

    With R = max ‖x‖ and no bias, after t updates from w_0 = 0

        w*ᵀw_t >= tγ,     ||w_t|| <= R √t,     so     1 >= cos ∠(w*, w_t) >= √t γ/R     and     t <= ⌊R²/γ²⌋.

    n orthonormal points attain it: R²/γ² = n updates. Nearly collinear points need more than half of it at any margin. With a bias the
    points become (x, 1), R² becomes R² + 1 and γ is the margin of those.

    Notes: C. Source: Novikoff 1962, On convergence proofs on perceptrons, Symposium on the Mathematical Theory of Automata, pp. 615-622
    Assumes: a hyperplane through the origin separates the data; updates where y wᵀx <= 0, from w = 0, without a bias.
    Also: Novikoff's theorem; perceptron convergence theorem.
    """

    dimensions = param((2, 5, 20), "of the points", least=2, most=50, small=(2, 5))
    margins = param((0.05, 0.2, 0.5), "least distance to the true hyperplane", least=0.02, most=1.5, small=(0.2, 0.5))
    points = param(100, "in each set", least=4, most=300)
    orders = param(20, "random orders of each set", least=1, most=100, small=3, full=100)

    def conditions(self) -> list[tuple[bool, str]]:
        runs = len(self.dimensions) * len(self.margins) * self.orders
        return [(runs <= 2000, f"dimensions, margins and orders make {runs} runs, at most 2000 end in a minute")]

    def measure(self, rng: Generator) -> Checks:
        from headway.models.classical.perceptron import Perceptron

        sets = {f"d = {d}": [labelled(d, m, self.points, rng) for m in self.margins] for d in self.dimensions}
        sets["with a bias"] = [labelled(self.dimensions[0], m, self.points, rng, bias=0.7) for m in self.margins]
        self.scatter: dict[str, list[tuple[float, int]]] = {}
        self.longest = np.zeros((0, 2)), np.zeros(2), 0.0, 0.0
        along, norm, gaps = [], [], []
        for name, group in sets.items():
            for z in group:
                best, R = max_margin(z), float(np.linalg.norm(z, axis=1).max())
                gaps.append(best.limit - best.size)
                for _ in range(self.orders):
                    w = path(rng.permutation(z))
                    t = np.arange(1, len(w) + 1)
                    along.append(w @ best.direction / (t * best.size))
                    norm.append(np.linalg.norm(w, axis=1) / (R * np.sqrt(t)))
                    self.scatter.setdefault(name, []).append(((R / best.size) ** 2 // 1, len(w)))
                    if len(w) > len(self.longest[0]) and name != "with a bias":
                        self.longest = w, best.direction, best.size, R
        updates, bounds = ({name: [pair[i] for pair in found] for name, found in self.scatter.items()} for i in (1, 0))
        yield headline(at_most("updates, in every set and order", updates, bounds))
        yield close("γ is the largest margin: gap to its dual", gaps, np.zeros(len(gaps)))
        yield at_least("w*ᵀw_t / tγ at every t", np.concatenate(along), 1.0, rounding=1e-12)
        yield at_most("‖w_t‖ / R√t at every t", np.concatenate(norm), 1.0, rounding=1e-12)
        self.scatter["orthonormal"] = [(n, len(path(np.eye(n)))) for n in (1, 10, 100)]
        found = np.array(self.scatter["orthonormal"])
        yield equal("1, 10, 100 orthonormal points: R²/γ² updates", found[:, 1], found[:, 0])
        self.scatter["nearly collinear"] = [(4**k + 1, len(path(collinear(2.0**-k)))) for k in (2, 4, 6)]
        found = np.array(self.scatter["nearly collinear"])
        yield equal("nearly collinear, γ = 1/4, 1/16, 1/64: R²/2γ² + ½ updates", found[:, 1], (found[:, 0] + 1) // 2)
        z = max(sets[f"d = {self.dimensions[-1]}"], key=lambda z: len(path(z)))
        y, w = np.where(np.arange(len(z)) % 2, 1, -1), path(z)
        registered = Perceptron(passes=10**6, intercept=False).fit(y[:, None] * z, y)
        yield equal("updates of the model `perceptron` on the same points", registered.mistakes_, len(w))
        yield close("its weights", registered.coef_, w[-1], 1e-12)

    def control(self, rng: Generator) -> Checks:
        yield printed(at_most('"less than ⌊R²/γ²⌋": 10 orthonormal points', len(path(np.eye(10))), 10 - 1), "C1")
        z = labelled(2, 0.2, self.points, rng)
        best = max_margin(z)
        bound = int((np.linalg.norm(z, axis=1).max() / best.size) ** 2)
        z[np.argmax(z @ best.direction / np.linalg.norm(z, axis=1))] *= -1  # it is inside the cone of the others
        row = at_most("updates, stopped above the bound", len(path(z, bound + 1)), bound)
        yield because("one label is flipped, so nothing separates", row)
        yield because("R and γ are those without the bias", at_most("updates with a bias", len(path(PAIR)), 1))

    def plots(self) -> list[Panel]:
        left = Panel("Updates stay below the bound", "bound R²/γ²", "updates t", log="xy")
        for name, pairs in self.scatter.items():
            known = {"orthonormal": style.VERMILION, "nearly collinear": style.INK}.get(name)
            left.points([b for b, _ in pairs], [t for _, t in pairs], name, known, 45 if known else 12)
        ends = np.array([1, max(b for pairs in self.scatter.values() for b, _ in pairs)], dtype=float)
        w, best, gamma, R = self.longest
        t = np.arange(1, len(w) + 1)
        right = Panel(f"One run: {len(w)} updates, bound {int((R / gamma) ** 2)}", "update t", "length")
        right.bound(t, R * np.sqrt(t), "R√t").curve(t, np.linalg.norm(w, axis=1), "‖w_t‖")
        right.curve(t, w @ best, "w*ᵀw_t").bound(t, t * gamma, "tγ")
        return [left.bound(ends, ends, "t = R²/γ²"), right]
