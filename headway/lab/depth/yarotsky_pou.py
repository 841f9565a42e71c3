from headway.lab.kit import Checks, Experiment, Generator, Panel, at_least, at_most, because, close, headline, math, np, param, slope, table
from headway.lab.relu_net import hinges
from headway.lab.tools.partition_of_unity import kink, local_taylor, partition, sine, sine_error, taylor_bound

REFERENCE = {1: 1.04e-2, 2: 1.02e-4, 3: 1.9e-7}  # sup error for sin x, N = 32, by n
NARROW = hinges([-1.5, -0.5, 0.5, 1.5], [1, -1, -1, 1])  # clip(3/2 - |z|, 0, 1)


class YarotskyPou(Experiment):
    """Taylor polynomials glued by a partition of unity approximate a function with n bounded derivatives up to N^{-n}.

    With ψ(z) = clip(2 - |z|, 0, 1), four ReLU units, and a bump at each m/N, m in {0 … N}^d,

        φ_m(x) = ∏_k ψ(3N(x_k - m_k/N)),   Σ_m φ_m = 1,     f_1 = Σ_m φ_m P_m,     |f - f_1| <= (2^d d^n / n!) N^{-n}

    for f with all derivatives up to order n at most 1 on [0, 1]^d and P_m its Taylor polynomial of degree n - 1 at m/N. At most 2^d
    bumps are not 0 at a point. They add up to 1, so f_1 is a mean of the P_m and even (2d/3N)^n / n! bounds the error. Errors are those
    of sin(x_1 + … + x_d), certified: an attained value and a true upper bound.

    Notes: B. Source: Yarotsky 2017, theorem 1, https://arxiv.org/abs/1610.01145
    Assumes: derivatives up to order n are at most 1 on [0, 1]^d; the bumps add up to 1. Also: partition of unity; local Taylor polynomials.
    """

    grids = param((4, 8, 16, 32, 64), "N: centres m/N along each axis", least=2, most=128, count=4, small=(2, 4, 8, 16))
    orders = param((1, 2, 3), "n: Taylor polynomials of degree n - 1", least=1, most=4, small=(1, 3))

    def conditions(self) -> list[tuple[bool, str]]:
        return [(max(self.grids) >= 8 * min(self.grids), "`grids` must reach from one N to 8 times of it")]

    def measure(self, rng: Generator) -> Checks:
        N, cases = np.array(self.grids, dtype=float), [(d, n) for d in (1, 2) for n in self.orders]
        sups = {(d, n): [sine_error(d, k, n) for k in self.grids] for d, n in cases}
        self.errors = {case: np.array([sup.high for sup in found]) for case, found in sups.items()}
        named = {f"d = {d}, n = {n}": errors for (d, n), errors in self.errors.items()}
        yield headline(at_most("error, 2^d d^n / n! N^-n", named, [taylor_bound(d, n, N) for d, n in cases]))
        yield at_most("error, (2d/3N)^n / n!", named, [(2 * d / (3 * N)) ** n / math.factorial(n) for d, n in cases])
        sums, bumps = [], {}
        for d, few in ((1, 8), (2, 8), (3, 4)):
            phi = partition(np.vstack([rng.random((2000, d)), rng.integers(0, 3 * few + 1, (200, d)) / (3 * few)]), few)
            sums.append(phi.sum(axis=1))
            bumps[f"d = {d}"] = np.sum(phi > 1e-13, axis=1).max() / 2**d
        yield close("Σ φ_m = 1, d = 1, 2, 3", sums, 1.0, 1e-14)
        yield at_most("bumps that are not 0 at a point / 2^d", bumps, 1.0, kind="EXACT")
        for (d, n), found in sups.items():
            yield slope(f"d = {d}, n = {n}: error in N", N, [sup.low for sup in found], -n, 0.1)
        if 32 in self.grids:
            at = {n: self.errors[1, n][self.grids.index(32)] / REFERENCE[n] for n in self.orders if n in REFERENCE}
            yield from table(dict.fromkeys(REFERENCE, 1.0), at, 0.01, "sin x, N = 32, n = {}: error / reference")

    def control(self, rng: Generator) -> Checks:
        x, N, n, steep = rng.random((4000, 1)), max(self.grids), max(self.orders), sine(1, frequency=20.0)
        least = partition(x, N, NARROW).sum(axis=1).min()
        yield because("bumps are too narrow", at_least("least Σ φ_m of clip(3/2 - |z|, 0, 1)", least, 1.0, 1e-14))
        found = np.max(np.abs(steep(x) - local_taylor(steep, x, N, n)))
        yield because("derivatives are not at most 1", at_most(f"sin 20x, {n = }: error", found, taylor_bound(1, n, N)))
        fine = np.linspace(0, 1, 20001)[:, None]
        rough = [np.max(np.abs(kink()(fine) - local_taylor(kink(), fine, k, 2))) for k in self.grids]
        yield because("it has one derivative", slope("|x - 1/√2|, n = 2: error in N", self.grids, rough, -2, 0.1))

    def plots(self) -> list[Panel]:
        x, N = np.linspace(0, 1, 601), np.array(self.grids)
        phi = partition(x[:, None], 4)
        bumps = Panel("Bumps, d = 1, N = 4", "x", "φₘ(x)").curve(x, {f"m = {m}": phi[:, m] for m in range(5)})
        panels = [bumps.bound(x, phi.sum(axis=1), "sum")]
        for d in (1, 2):
            panel = Panel(f"d = {d}: error like N^-n", "grid N", "sup |f - f₁|", log="xy")
            for n in self.orders:
                panel.series(N, self.errors[d, n], f"n = {n}").bound(N, taylor_bound(d, n, N), f"bound, {n}")
            panels.append(panel)
        return panels
