from itertools import product

from headway.lab.kit import (
    Checks, Experiment, Generator, Panel, at_least, at_most, because, close, equal, headline, np, param, printed, slope,
)
from headway.lab.tools.curves import Function
from headway.lab.tools.features import rank, residual, tanh_power, tanh_power_bound, unit_columns

POLYNOMIALS: dict[str, Function] = {"z²": lambda z: z**2, "z³": lambda z: z**3}  # of degree 2 and 3
OTHERS: dict[str, Function] = {"tanh": np.tanh, "ReLU": lambda z: np.maximum(z, 0)}
OTHERS |= {"sin": np.sin, "exp(z/2)": lambda z: np.exp(z / 2)}
TARGETS: dict[str, Function] = {"|x|": np.abs, "sin 9x": lambda x: np.sin(9 * x)}
X, H = np.linspace(-1, 1, 401), np.array([0.2, 0.1, 0.05, 0.025])


class Leshno(Experiment):
    """One hidden layer approximates every continuous function exactly if its activation is not a polynomial.

    The span of φ(ax + b) is dense in C(R) if and only if φ is not a polynomial. A φ of degree k spans on R^n at most the polynomials of
    degree k, of dimension binomial(n + k, k). Why a smooth φ succeeds: differences in the weight a at a = 0 give every power,

        Σ_j (-1)^j binomial(k, j) φ(b + (k/2 - j) h x) / h^k  =  x^k φ^{(k)}(b) + O(h²).

    Only continuous targets on compact sets are meant: at a jump a net with continuous φ errs by half of it.

    Notes: C, D. Source: Leshno et al. 1993, https://doi.org/10.1016/S0893-6080(05)80131-5; Pinkus 1999, https://doi.org/10.1017/S0962492900002919
    Assumes: φ is locally bounded and continuous almost everywhere; the target is continuous, the set compact.
    Also: Leshno's theorem; universal approximation needs a non-polynomial activation.
    """

    units = param(200, "random units in the feature matrix", least=100, most=1000)
    points = param(100, "where they are evaluated", least=60, most=1000)
    sizes = param((4, 8, 16, 32, 64, 128), "units of the nets that are fitted", least=4, most=256, small=(4, 16, 64))
    scale = param(6.0, "deviation of the weights a; biases are uniform on [-scale, scale]", least=4.0, most=9.0)

    def conditions(self) -> list[tuple[bool, str]]:
        return [(self.sizes[0] <= 4 and self.sizes[-1] >= 64, "`sizes` must reach from 4 to 64 or more")]

    def measure(self, rng: Generator) -> Checks:
        self.fits: dict[tuple[str, str], list[np.ndarray]] = {}  # by target and activation, one for each seed
        errors = {k: [np.max(np.abs(tanh_power(k, h, X) - X**k)) for h in H] for k in (1, 2, 3)}
        for k, found in errors.items():
            yield slope(f"x^{k} from {k + 1} tanh units: error against h", H, found, 2.0, 0.1)
        yield at_most("x²: error against max|φ''''| h² / (12 |φ''(b)|)", errors[2], tanh_power_bound(H))

    def weights(self, count: int, n: int, rng: Generator) -> tuple[np.ndarray, np.ndarray]:
        return rng.normal(0, self.scale, (count, n)), rng.uniform(-self.scale, self.scale, count)

    def sample(self, rng: Generator) -> Checks:
        ranks, growth, shares, M = [], {}, {}, self.sizes[-1]
        for n in (1, 2):
            x, units = rng.uniform(-1, 1, (self.points, n)), self.weights(self.units, n, rng)
            ranks += [rank(unit_columns(phi, x, *units)) for phi in POLYNOMIALS.values()]
            for name, phi in OTHERS.items():
                columns = unit_columns(phi, x, *units)
                growth[f"{name}, {n} variables"] = np.diff([rank(columns[:, :m]) for m in (4, 12, self.units)])
        yield equal("rank of z², z³ units is binomial(n + k, k), n = 1, 2", ranks, [3, 4, 6, 10])
        yield at_least("the others: rank of 12 over that of 4 units, of all over 12", growth, 1, kind="STAT")
        units = self.weights(M, 1, rng)
        for (t, g), (name, phi) in product(TARGETS.items(), (POLYNOMIALS | OTHERS).items()):
            found = np.sqrt([residual(unit_columns(phi, X[:, None], *units)[:, :m], g(X), 1e-11) for m in self.sizes])
            best = residual(np.vander(X, 3 if name == "z²" else 4), g(X)) ** 0.5  # the best parabola, or cubic
            self.fits.setdefault((t, name), []).append(found)
            shares[t, name] = found / best
        last = {f"{t} by {name}": share[-1] for (t, name), share in shares.items() if name in OTHERS}
        yield headline(at_most(f"{M} other units: residual over that of the best cubic", last, 0.25, kind="STAT"))
        falls = {f"{t} by {name}": share[-1] / share[0] for (t, name), share in shares.items() if name in OTHERS}
        yield at_most(f"the same over that of {self.sizes[0]} units", falls, 0.5, kind="STAT")
        flat = [share for (_, name), share in shares.items() if name in POLYNOMIALS]
        yield close("z², z³: residual over that of the best polynomial", flat, 1.0, 1e-7)

    def control(self, rng: Generator) -> Checks:
        fits, M = self.fits["|x|", "z²"][0], self.sizes[-1]
        yield because("z² is a polynomial", at_most(f"|x|: residual of {M}, {self.sizes[0]} units", fits[-1], 0.5 * fits[0]))
        a, b = self.weights(M, 1, rng)
        c = np.linalg.lstsq(np.tanh(X[:, None] @ a.T + b), (X >= 0) * 1.0, rcond=1e-11)[0]
        error = 0.5 + abs(np.tanh(b) @ c - 0.5)  # at 0: the net is continuous, the target jumps there from 0 to 1
        yield printed(at_most(f'"any function": sup error of {M} tanh units for a step', error, 0.49), "D1")

    def plots(self) -> list[Panel]:
        panels = {t: Panel(f"{t}: polynomials stay behind", "hidden units", "root mean square residual", log="xy") for t in TARGETS}
        for (t, name), found in self.fits.items():
            draw = panels[t].series if name in OTHERS else panels[t].control
            draw(self.sizes, np.maximum(np.mean(found, axis=0), 1e-9), name)
        return list(panels.values())
