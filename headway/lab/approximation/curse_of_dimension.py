from headway.lab.kit import Checks, Experiment, Generator, Panel, at_least, at_most, because, close, headline, math, np, param, slope
from headway.lab.tools.lipschitz import SIDES, cell_error, centres, ring, tents
from headway.lab.tools.programs import minimax


def space(kind: str, M: int, x: np.ndarray, rng: Generator) -> np.ndarray:
    """M random functions at points x: cosines or ReLUs of random directions."""
    z = x @ rng.normal(0, 6, (x.shape[1], M)) + rng.uniform(-6, 6, M)
    return np.cos(z) if kind == "cosines" else np.maximum(z, 0)


class CurseOfDimension(Experiment):
    """Approximating every Lipschitz function on [0, 1]^d to accuracy ε takes about (1/ε)^d parameters.

    For functions that are 1-Lipschitz in the max norm and h = N^{-1/d}:

        N cells of side h with the value at the centre:                      sup error <= h/2
        the 2^N functions Σ_i ±(h/2 - |x - c_i|_∞)_+ on N cells:             any two are h apart
        a linear space of dimension M < N: for one of them                   sup error >= h/2

    For the last line take z ≠ 0 orthogonal to the M features at the N centres and the signs of z: every v of the space has Σ_i z_i (s_i
    h/2 - v_i) = Σ_i |z_i| h/2. For continuous choices of fewer than N parameters it is a theorem that is not tested here.

    Notes: A, B. Source: DeVore, Howard, Micchelli 1989, https://doi.org/10.1007/BF01171759
    Assumes: Lipschitz; uniform error; the space is chosen before g. Also: curse of dimensionality; worst case Lipschitz approximation.
    """

    dimensions = param(6, "d = 1 … dimensions for the rate", least=1, most=6, small=3)
    functions = param(8, "random functions (sines of a distance), of which the worst counts", least=4, most=40)
    features = param((2, 8, 24, 32), "M, dimensions of spaces; the grid has 36 cells", least=1, most=35, small=(2, 24))
    epsilon = param(0.1, "accuracy of the right panel", least=0.01, most=0.49)

    def measure(self, rng: Generator) -> Checks:
        dims = range(1, self.dimensions + 1)
        self.N = {d: np.array(SIDES[d], dtype=float) ** d for d in dims}
        self.drawn = {d: [ring(d, rng) for _ in range(self.functions)] for d in dims}
        self.errors = {d: np.array([max(cell_error(*f, n) for f in self.drawn[d]) for n in SIDES[d]]) for d in dims}
        named, halves = {f"d = {d}": self.errors[d] for d in dims}, [0.5 / np.array(SIDES[d]) for d in dims]
        yield headline(at_most("sup |g - h| of N cells against N^(-1/d)/2", named, halves))
        for d in dims:
            yield slope(f"d = {d}: error in N", self.N[d], self.errors[d], -1 / d, 0.15 / d)
        fits, slopes, heights = {}, {}, []
        for d, n in ((1, 36), (2, 6)):
            middle, name = centres(n, d), f"d = {d}"
            for kind in ("cosines", "ReLUs"):
                spaces = [space(kind, M, middle, rng) for M in self.features]
                normals = [np.linalg.svd(A.T)[2][-1] for A in spaces]  # z, orthogonal to every feature
                signs = [np.where(z >= 0, 1.0, -1.0) for z in normals]
                fits[f"{name}, {kind}"] = [minimax(A, s)[0] for A, s in zip(spaces, signs, strict=True)]
            s, (x, y) = rng.choice([-1.0, 1.0], (20, n**d)), rng.random((2, 400, d))
            rise = np.abs(tents(s, middle, 1 / n, x) - tents(s, middle, 1 / n, y))
            slopes[name] = np.max(rise / np.max(np.abs(x - y), axis=1)[:, None])
            heights.append(tents(s, middle, 1 / n, middle).T * 2 * n - s)
        yield at_least("M < N = 36: error of the best fit (LP) over h/2", fits, 1.0, rounding=1e-7)
        yield close("20 of the 2^N functions at the centres: ±h/2", heights, 0.0)
        yield at_most("their slopes between 400 pairs of points", slopes, 1.0, rounding=1e-9)

    def control(self, rng: Generator) -> Checks:
        d, n = self.dimensions, SIDES[self.dimensions][-1]
        steep = max(cell_error(*f, n, steep=3.0) for f in self.drawn[d])
        yield because("g is 3-Lipschitz", at_most(f"d = {d}: sup |g - h| against N^(-1/d)/2", steep, 0.5 / n))
        error = minimax(space("cosines", 36, centres(6, 2), rng), rng.choice([-1.0, 1.0], 36))[0]
        yield because("M = N", at_least("36 cosines: error of the best fit over h/2", error, 1.0))

    def plots(self) -> list[Panel]:
        d, cells = np.array(list(self.errors)), math.ceil(1 / (2 * self.epsilon) - 1e-9)  # for each side: h/2 <= ε
        left = Panel("The more variables, the slower", "cells N", "sup |g - h| (dashed: bound)", log="xy")
        for k, errors in self.errors.items():
            left.series(self.N[k], errors, f"d = {k}").bound(self.N[k], 0.5 / np.array(SIDES[k]))
        right = Panel(f"What ε = {self.epsilon:g} costs", "dimension d", "parameters", log="y")
        right.series(d, float(cells) ** d, "cells suffice")
        return [left, right.bound(d, float(cells - 1) ** d, "too few for any space")]
