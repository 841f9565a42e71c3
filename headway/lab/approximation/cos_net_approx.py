from headway.lab.certified import certified_sup
from headway.lab.kit import (
    Checks,
    Experiment,
    Generator,
    Panel,
    at_most,
    because,
    close,
    equal,
    headline,
    np,
    param,
    published,
    slope,
)
from headway.lab.tools.curves import Curve, Function, bend, root
from headway.lab.tools.nets import RidgeNet

CENTRE, GIBBS = 0.3, 0.0894898722  # overshoot (1/π) ∫_0^π sin(t)/t dt - 1/2, of the jump
BEND, ROOT = bend(1, CENTRE), root()


def coefficients(f: Curve, n: int) -> np.ndarray:
    """a_k of f = Σ a_k cos kπx on [0, 1]: those of |x - c| in closed form, those of √x by Fresnel's integral S."""
    from scipy.special import fresnel

    k = np.arange(1, n + 1)
    if f is ROOT:
        return np.append(2 / 3, -2 / (k * np.pi) * fresnel(np.sqrt(2 * k))[0] / np.sqrt(2 * k))
    w = k * np.pi
    return np.append((CENTRE**2 + (1 - CENTRE) ** 2) / 2, 2 * (1 + np.cos(w) - 2 * np.cos(w * CENTRE)) / w**2)


def fejer(a: np.ndarray) -> np.ndarray:
    """The coefficients times 1 - k/(n+1): the mean of the first n + 1 partial sums."""
    return a * (1 - np.arange(a.size) / a.size)


def cosine_net(a: np.ndarray) -> RidgeNet:
    """Σ_k a_k cos(kπx), n + 1 units."""
    return RidgeNet(np.cos, np.arange(a.size)[:, None] * np.pi, np.zeros(a.size), a)


def circle_net(n: int) -> RidgeNet:
    """Fejér's mean of the distance to 0.3 on the circle of length 2π, with cosines and sines: 2n + 1 units."""
    k = np.arange(1, n + 1)
    a = fejer(np.append(np.pi / 2, -4 / np.pi / k**2 * (k % 2)))
    w, phase = np.concatenate([[0.0], k, k])[:, None], np.repeat([0.0, -np.pi / 2], [n + 1, n])  # cos(kx - π/2) = sin kx
    return RidgeNet(np.cos, w, phase, np.concatenate([a[:1], a[1:] * np.cos(CENTRE * k), a[1:] * np.sin(CENTRE * k)]))


def worst(n: int) -> float:
    """σ_n|t| at 0, the sharp constant for Lipschitz functions of period 2π: π/2 - (4/π) Σ_{odd k <= n} (1 - k/(n+1)) / k²."""
    k = np.arange(1, n + 1, 2)
    return float(np.pi / 2 - 4 / np.pi * np.sum((1 - k / (n + 1)) / k**2))


def square_wave(n: int) -> np.ndarray:
    """b_k of sign(sin x) = Σ b_k sin kx."""
    return np.append(0.0, np.arange(1, n + 1) % 2 * 4 / np.pi / np.arange(1, n + 1))


def sup_error(f: Curve, net: RidgeNet) -> float:
    """Certified. σ_n f is as Lipschitz as f; for √x in the variable s = √x, where σ_n f(s²) has slope at most 2 Σ |a_k| kπ."""
    if f is BEND:
        return certified_sup(lambda x: net(x[:, None]) - f(x), 2.0, 0, 1, rtol=0.02).high
    steepest = 2 * float(np.sum(np.abs(net.c) * net.w[:, 0])) + 1
    return certified_sup(lambda s: net((s * s)[:, None]) - s, steepest, 0, 1, rtol=0.2).high


def quadrature(f: Function, n: int) -> np.ndarray:
    """The same coefficients by scipy."""
    from scipy.integrate import quad

    parts = [quad(f, 0, 1, weight="cos", wvar=k * np.pi, epsabs=1e-11, limit=500)[0] for k in range(n + 1)]
    return np.array(parts) * np.append(1, np.full(n, 2))


class CosNetApprox(Experiment):
    """Fejér's means, which are nets of cosines, converge uniformly to every continuous periodic function.

        σ_n f = Σ_{|k|<=n} (1 - |k|/(n+1)) f_k e^{ikx},      2n + 1 units

        sup |σ_n f - f| <= ρ σ_n|t|(0) <= π ρ (½ + ln(n+1)) / (n+1)      f ρ-Lipschitz of period 2π; the first bound is attained by |t|

    A function on [0, 1] is reflected at 0 to an even one of period 2, which is continuous: n + 1 cosines cos kπx suffice, ρ becomes ρ/π,
    and for √x the same argument gives (8/3) / √(n+1). Partial sums without the factor overshoot a step by 8.95 % of the jump (Gibbs),
    Fejér's means never do, since their kernel is positive.

    Notes: A. Source: Fejér 1903, https://doi.org/10.1007/BF01447779; Zygmund 1959, Trigonometric Series, ch. III
    Assumes: f is continuous and periodic, or reflected to be so; f is Lipschitz for the rate.
    Deviates: the slope is that of the error after dividing by ½ + ln(n+1): because of the logarithm even the sharp bound has only -0.79.
    Also: Fejér means; trigonometric approximation; Gibbs phenomenon.
    """

    orders = param((4, 8, 16, 32, 64, 128, 256), "n", least=2, most=512, count=4, small=(4, 8, 16, 32))
    jump = param(255, "odd order n of the sums for the step", least=31, most=511, small=63)

    def conditions(self) -> list[tuple[bool, str]]:
        return [(self.jump % 2 == 1, "`jump` must be odd"), (list(self.orders) == sorted(self.orders), "`orders` must increase")]

    def measure(self, rng: Generator) -> Checks:
        n, law = np.array(self.orders), 0.5 + np.log(np.array(self.orders) + 1)
        nets = {f: [cosine_net(fejer(coefficients(f, k))) for k in self.orders] for f in (BEND, ROOT)}
        self.errors = {f.name: np.array([sup_error(f, net) for net in made]) for f, made in nets.items()}
        self.bounds, sharp = {BEND.name: law / (n + 1), ROOT.name: 8 / 3 / np.sqrt(n + 1)}, np.array([worst(k) for k in n])
        yield headline(at_most("sup |σ_n f - f| against the bound", self.errors, self.bounds))
        yield at_most("|x - 0.3|: against the sharp bound σ_n|t|(0) / π", self.errors[BEND.name], sharp / np.pi)
        yield at_most("the sharp bound against π(½ + ln(n+1)) / (n+1)", sharp, np.pi * law / (n + 1))
        falls = {name: e[1:] / e[:-1] for name, e in self.errors.items()}
        yield at_most("each error over the one before", falls, 1.0, kind="EXACT")
        yield slope("|x - 0.3|: error over ½ + ln(n+1), in n", n, self.errors[BEND.name] / law, -1, 0.1)
        found = [[coefficients(f, 8) for f in nets], [quadrature(f, 8) for f in nets]]
        yield close("coefficients against scipy's quadrature", *found, 1e-8)
        wave = [circle_net(k) for k in self.orders]
        sizes = np.array([[f.c.size for f in nets[ROOT]], [g.c.size for g in wave]])
        yield equal("units: n + 1 cosines, 2n + 1 on the circle", sizes, np.stack([n + 1, 2 * n + 1]))
        yield close("distance on the circle: error at its kink is sharp", [net(np.array([CENTRE])) for net in wave], sharp)
        top = np.pi / (self.jump + 1)  # the first maximum of the partial sum: its derivative is sin((n+1)x) / sin x up to a factor
        self.over = (float(np.sin(np.arange(self.jump + 1) * top) @ square_wave(self.jump)) - 1) / 2
        yield published(f"step, partial sum of order {self.jump}: overshoot (Gibbs)", self.over, GIBBS, 1e-3)
        mean, m = fejer(square_wave(63)), np.arange(64)
        high = certified_sup(lambda s: np.sin(s[:, None] * m) @ mean, 64 / np.pi, 0, np.pi, rtol=2e-3).high
        yield at_most("step, Fejér's mean of order 63: certified maximum", high, 1.0)

    def control(self, rng: Generator) -> Checks:
        yield because("partial sums have no positive kernel", at_most("step: maximum of the partial sum", 1 + 2 * self.over, 1.0))
        n, k, x = self.orders[-1], np.arange(1, self.orders[-1] + 1), 1e-9
        sawtooth = 0.5 - fejer(np.append(0.0, 1 / (np.pi * k)))[1:] @ np.sin(2 * np.pi * k * x)  # Fejér's mean of x, period 1
        check = at_most(f"x with period 1, n = {n}: error next to 0", sawtooth - x, self.bounds[BEND.name][-1])
        yield because("without reflection it jumps from 1 to 0", check)

    def plots(self) -> list[Panel]:
        x, b, k = np.linspace(-1, 2, 1200), square_wave(31), np.arange(32)
        left = Panel("Fejér's mean does not overshoot", "x", "value").target(x, np.sign(np.sin(x)), "step")
        left.control(x, np.sin(x[:, None] * k) @ b, "partial sum, n = 31").curve(x, np.sin(x[:, None] * k) @ fejer(b), "Fejér's mean")
        right = Panel("The means converge uniformly", "order n", "sup |σ_n f - f|", log="xy").series(self.orders, self.errors)
        for name, bound in self.bounds.items():
            right.bound(self.orders, bound, "bound" if name == ROOT.name else "bound, |x - 0.3|")
        return [left, right]
