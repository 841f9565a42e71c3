from headway.lab.kit import Checks, Experiment, Generator, Panel, at_least, at_most, because, close, equal, headline, np, param
from headway.lab.pwl1d import pwl1d
from headway.lab.relu_net import add, hinges, random_net
from headway.lab.tools.maximum_net import lattice, maximum, tangent_error, tangents

SIZES = {1: (2, 4, 8, 16, 32), 2: (2, 3, 4, 6, 8), 3: (2, 3, 4, 5)}  # tangents per axis, by d
THREE = np.array([0.0, 0.5, 1.0])  # where a monotone function is ¼ away from |x - ½|


class DeepNarrow(Experiment):
    """A ReLU net of width d + 1 and depth N computes the maximum of N planes on [0, 1]^d exactly.

    x >= 0 passes through d units unchanged; one more unit holds the running maximum:

        M_k = max(M_{k-1}, ℓ_k) = ℓ_k + relu(M_{k-1} - ℓ_k),        ℓ_k(x) = a_k·x + b_k.

    So width d + 1 is enough for convex functions, by tangents: ‖x‖² up to d/(4m²) with m^d planes, the error at the corners between them.
    Others are differences of two such maxima. Width d is too little: a net of width 1 is monotone, so it stays ¼ away from |x - ½|.

    Notes: A, D. Source: Hanin and Sellke 2017, https://arxiv.org/abs/1710.11278
    Assumes: x is in [0, 1]^d; a convex, piecewise linear function. Also: minimal width of deep ReLU nets; Hanin and Sellke's theorem.
    """

    dimensions = param((1, 2, 3, 4), "the dimensions d", least=1, most=10)
    planes = param(20, "how many planes the maximum is taken over", least=3, most=200)
    points = param(10000, "random points of the cube", least=100, most=100_000, small=1000)
    nets = param(200, "random nets of width 1", least=50, most=2000, small=50)

    def measure(self, rng: Generator) -> Checks:
        gaps, both, widths = [], [], []
        for d in self.dimensions:
            x, n = rng.random((self.points, d)), self.planes
            planes = [(rng.normal(size=(n, d)), rng.normal(0, 0.5, n)) for _ in range(2)]
            f, g = (maximum(a, b) for a, b in planes)
            exact = [np.max(x @ a.T + b, axis=1) for a, b in planes]
            gaps.append(np.max(np.abs(f(x)[:, 0] - exact[0])))
            both.append(np.max(np.abs(add(f, g, coefficients=[1, -1])(x)[:, 0] - (exact[0] - exact[1]))))
            widths.append(np.array(f.widths) - d)
        yield headline(close(f"net minus maximum of {self.planes} planes", gaps, 0.0))
        yield equal(f"depth {self.planes}: each of {self.planes - 1} widths minus d is 1", widths, 1)
        yield equal("hidden layers are one fewer than planes", [len(w) for w in widths], self.planes - 1)
        yield close("difference of two maxima, not convex", both, 0.0)
        self.depths, self.errors, inside, over = {}, {}, {}, []
        for d, sizes in SIZES.items():
            nets, corners = [tangents(d, m) for m in sizes], [lattice(d, np.arange(m + 1) / m) for m in sizes]
            self.depths[d] = np.array([net.depth for net in nets])
            self.errors[d] = [tangent_error(net, x) for net, x in zip(nets, corners, strict=True)]
            inside[f"d = {d}"] = tangent_error(nets[-1], rng.random((500, d))) / self.errors[d][-1]
            over += [e * 4 * m**2 / d for e, m in zip(self.errors[d], sizes, strict=True)]
        yield close("‖x‖² by tangents: error at the corners over d/(4m²)", over, 1.0)
        yield at_most("at 500 random points, over that at the corners", inside, 1.0)
        functions = [pwl1d(random_net([1, *[1] * int(rng.integers(1, 9)), 1], rng)) for _ in range(self.nets)]
        rises = [np.append(np.diff(f.values), [f.left, f.right]) for f in functions]
        yield equal("nets of width 1 that are not monotone", [min(r) < -1e-12 and max(r) > 1e-12 for r in rises], False)
        away = [np.max(np.abs(f(THREE) - np.abs(THREE - 0.5))) for f in functions]
        yield at_least("nets of width 1: distance to |x - ½|", away, 0.25)
        self.monotone = [f for f in functions if np.ptp(f(THREE)) > 0.1][:3]

    def control(self, rng: Generator) -> Checks:
        d, n = self.dimensions[-1], self.planes
        a, b, x = rng.normal(size=(n, d)), rng.normal(0, 0.5, n), rng.uniform(-1, 1, (1000, d))
        check = close(f"net and maximum on [-1, 1]^{d}", maximum(a, b)(x)[:, 0], np.max(x @ a.T + b, axis=1))
        yield because("x may be negative, and relu(x) is not x", check)
        away = np.max(np.abs(hinges([0, 0.5], [-1, 2], shift=0.5).at(THREE) - [0.5, 0, 0.5]))
        yield because("the width is 2", at_least("distance to |x - ½|", away, 0.25))

    def plots(self) -> list[Panel]:
        x, left = np.linspace(0, 1, 201), Panel("‖x‖² by tangent planes", "depth N", "sup error", log="xy")
        for d, errors in self.errors.items():
            N = self.depths[d]
            left.series(N, errors, f"width {d + 1}, d = {d}")
            left.bound(N, d / 4 * N ** (-2 / d), "(d/4) N^(-2/d)" if d == 3 else "")
        right = Panel("Width 1 cannot turn", "x", "value (nets scaled)").target(x, np.abs(x - 0.5), "|x - ½|")
        for i, f in enumerate(self.monotone):
            right.control(x, (f(x) - f(0.0)) / np.ptp(f(x)) / 2, "" if i else "width 1")
        return [left, right]
