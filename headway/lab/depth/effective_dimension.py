from headway.lab.checks import Check, loglog_slope
from headway.lab.kit import Checks, Experiment, Generator, Panel, because, headline, np, param, slope
from headway.lab.tools.monotone import SIDES, constants, random_monotone, square_root, step, tree_of_constants
from headway.lab.tools.multiindex import below
from headway.lab.tools.partition_of_unity import kink, local_taylor, sine_error


def rate(name: str, dimension: float, parameters: np.ndarray, errors: list[float]) -> Check:
    """error ~ parameters^{-1/dimension}, up to 15 %."""
    return slope(f"{name}: slope, -1/{dimension:.3g}", parameters, errors, -1 / dimension, 0.15 / dimension)


class EffectiveDimension(Experiment):
    """The effective dimension of a class is read off the slope of error against parameters: smoothness and composition lower it.

    If N parameters reach the error ε with N ~ ε^{-d_eff},

        error ~ N^{-1/d_eff},     d_eff = d for Lipschitz functions of d variables,     d/m with m derivatives,     2/m for binary trees.

    Each slope is that of a construction, an upper bound on what the class needs (its optimality is quoted): the best constants on
    cells for random Lipschitz functions, Taylor polynomials on a partition of unity for sin(x_1 + … + x_d), and constants on cells for
    the constituents of a tree. All errors are suprema: the functions are monotone in every variable, so a cell's extremes are at its
    corners, and for the sines they are certified. Trees have d_eff = 2 for every number n of variables.

    Notes: B. Source: Poggio et al. 2017, https://arxiv.org/abs/1611.00740; DeVore, Howard and Micchelli 1989, https://doi.org/10.1007/BF01171759
    Assumes: functions are Lipschitz or have m bounded derivatives; a known tree. Also: effective dimensionality; rate and dimension.
    """

    leaves = param((2, 8, 32), "n, variables of the trees, powers of two", least=2, most=32, small=(2, 8))
    dimensions = param(4, "Lipschitz functions of 1 … dimensions variables", least=2, most=5, small=3)
    cells = param((16, 32, 64, 128, 256), "K: a constituent of a tree stores K² values", least=16, most=512, count=4)
    grids = param((8, 16, 32, 64), "N: Taylor polynomials at m/N along each axis", least=4, most=128, count=4)

    def conditions(self) -> list[tuple[bool, str]]:
        wide = all(max(sizes) >= 8 * min(sizes) for sizes in (self.cells, self.grids))
        powers = all(n & (n - 1) == 0 for n in self.leaves)
        return [(powers, "`leaves` must be powers of two"), (wide, "`cells` and `grids` must reach to 8 times the first")]

    def measure(self, rng: Generator) -> Checks:
        self.families: dict[str, tuple[float, np.ndarray, list[float]]] = {}  # d_eff by theory, parameters, errors
        N, K = np.array(self.grids), np.array(self.cells)
        for d in range(1, self.dimensions + 1):
            g, sides = random_monotone(d, rng), np.array(SIDES[d])
            self.families[f"Lipschitz, d = {d}"] = d, sides**d, [constants(g, d, side) for side in sides]
        for d, m in ((1, 2), (1, 3), (2, 2)):
            stored = (N + 1) ** d * len(below(d, m))
            self.families[f"m = {m}, d = {d}"] = d / m, stored, [sine_error(d, k, m).high for k in self.grids]
        for n in self.leaves:
            self.families[f"tree, n = {n}"] = 2.0, (n - 1) * K**2, [tree_of_constants(n, k) for k in self.cells]
        for name, family in self.families.items():
            yield headline(rate(name, *family)) if name == f"tree, n = {max(self.leaves)}" else rate(name, *family)

    def control(self, rng: Generator) -> Checks:
        errors = [constants(step, 1, side) for side in SIDES[1]]
        yield because("a step is not Lipschitz", rate("step, d = 1", 1.0, np.array(SIDES[1]), errors))
        near = np.append(0.5**0.5, np.linspace(0.5, 0.9, 4001))[:, None]
        errors = [float(np.max(np.abs(kink()(near) - local_taylor(kink(), near, k, 2)))) for k in self.grids]
        yield because("it has one derivative, not two", rate("|x - 1/√2|", 0.5, 2 * (np.array(self.grids) + 1), errors))
        errors = [tree_of_constants(8, k, (square_root,)) for k in self.cells]
        check = rate("tree, n = 8", 2.0, 7 * np.array(self.cells) ** 2, errors)
        yield because("constituents √((a + b)/2) are not Lipschitz", check)

    def plots(self) -> list[Panel]:
        left, last = Panel("The slope is -1/d_eff", "parameters N", "sup error", log="xy"), max(self.leaves)
        for name in ("Lipschitz, d = 1", f"Lipschitz, d = {self.dimensions}", f"tree, n = {last}", "m = 2, d = 2"):
            left.series(*self.families[name][1:], name)
        right = Panel("Measured beside theory", "d_eff", "class").ticks(y=dict(enumerate(self.families)))
        names, (theory, stored, errors) = range(len(self.families)), zip(*self.families.values(), strict=True)
        measured = [-1 / loglog_slope(N, e)[0] for N, e in zip(stored, errors, strict=True)]
        return [left, right.points(theory, names, "theory", size=60).points(measured, names, "measured", size=18)]
