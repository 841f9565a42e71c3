from headway.lab.checks import at_least, at_most, because, close, equal, headline
from headway.lab.kit import Checks, Experiment, Generator, Panel, np, param
from headway.lab.pwl1d import pwl1d
from headway.lab.relu_net import ReluNet, add, hinges, random_net

SIZES = {1: (2, 4, 8, 16, 32), 2: (2, 3, 4, 6, 8), 3: (2, 3, 4, 5)}  # tangents per axis, by d
THREE = np.array([0.0, 0.5, 1.0])  # where a monotone function is ¼ away from |x - ½|


def maximum(a: np.ndarray, b: np.ndarray) -> ReluNet:
    """max_k (a_k·x + b_k) on [0, 1]^d: d channels hold x, one holds u_k = relu(M_{k-1} - ℓ_k), and M_k = ℓ_k + u_k."""
    N, d = a.shape
    keep = np.hstack([np.eye(d), np.zeros((d, 1))])
    layers = [(np.vstack([np.eye(d), a[0] - a[1]]), np.append(np.zeros(d), b[0] - b[1]))]
    for k in range(2, N):
        layers.append((np.vstack([keep, np.append(a[k - 1] - a[k], 1.0)]), np.append(np.zeros(d), b[k - 1] - b[k])))
    return ReluNet((*layers, (np.append(a[-1], 1.0)[None], b[-1:])))


def lattice(d: int, points: np.ndarray) -> np.ndarray:
    return np.stack(np.meshgrid(*[points] * d, indexing="ij"), axis=-1).reshape(-1, d)


def tangents(d: int, m: int) -> ReluNet:
    """The maximum of the tangent planes 2c·x - ‖c‖² of ‖x‖² at the m^d middles c of a grid."""
    c = lattice(d, (np.arange(m) + 0.5) / m)
    return maximum(2 * c, -np.sum(c**2, axis=1))


def gap(net: ReluNet, x: np.ndarray) -> float:
    """The largest difference to ‖x‖² at points x."""
    return float(np.max(np.abs(np.sum(x**2, axis=1) - net(x)[:, 0])))


class DeepNarrow(Experiment):
    """A ReLU net of width d + 1 and depth N computes the maximum of N planes on [0, 1]^d exactly.

    x >= 0 passes through d units unchanged; one more unit holds the running maximum:

        M_k = max(M_{k-1}, ℓ_k) = ℓ_k + relu(M_{k-1} - ℓ_k),        ℓ_k(x) = a_k·x + b_k.

    So every convex piecewise-linear function has width d + 1, and convex functions are approximated by tangents: ‖x‖²
    up to d/(4m²) with m^d planes, the error at the corners between them. Others are differences of two such maxima.
    Width d is too little: a net of width 1 is monotone, so it stays ¼ away from |x - ½|.

    Notes: A, D. Source: Hanin and Sellke 2017, https://arxiv.org/abs/1710.11278
    Assumes: x is in [0, 1]^d, so that relu(x) = x; the function is convex and piecewise linear.
    Also: minimal width of deep ReLU nets; Hanin and Sellke's theorem.
    """

    dimensions = param((1, 2, 3, 4), "the dimensions d", least=1, most=10)
    planes = param(20, "how many planes the maximum is taken over", least=3, most=200)
    points = param(10000, "random points of the cube", least=100, most=100_000, small=1000)
    nets = param(200, "random nets of width 1", least=50, most=2000, small=50)

    def measure(self, rng: Generator) -> Checks:
        gaps, both, widths, depths = [], [], [], []
        for d in self.dimensions:
            x = rng.random((self.points, d))
            planes = [(rng.normal(size=(self.planes, d)), rng.normal(0, 0.5, self.planes)) for _ in range(2)]
            f, g = (maximum(a, b) for a, b in planes)
            exact = [np.max(x @ a.T + b, axis=1) for a, b in planes]
            gaps.append(np.max(np.abs(f(x)[:, 0] - exact[0])))
            both.append(np.max(np.abs(add(f, g, coefficients=[1, -1])(x)[:, 0] - (exact[0] - exact[1]))))
            widths.append(np.array(f.widths) - d)
            depths.append(f.depth)
        zeros = np.zeros(len(self.dimensions))
        yield headline(close(f"net minus maximum of {self.planes} planes", gaps, zeros))
        yield equal("every width is d + 1", np.array(widths), np.ones((zeros.size, self.planes - 1), dtype=int))
        yield equal("the depth is the number of planes", np.array(depths), np.full(zeros.size, self.planes))
        yield close("difference of two maxima, not convex", both, zeros)
        self.depths, self.errors, inside = {}, {}, {}
        for d, sizes in SIZES.items():
            nets, x = [tangents(d, m) for m in sizes], rng.random((500, d))
            corners = [lattice(d, np.arange(m + 1) / m) for m in sizes]
            self.depths[d] = np.array([net.depth for net in nets])
            self.errors[d] = np.array([gap(net, c) for net, c in zip(nets, corners, strict=True)])
            inside[f"d = {d}"] = gap(nets[-1], x) / self.errors[d][-1]
        tangent = np.concatenate([d / (4 * np.array(m) ** 2.0) for d, m in SIZES.items()])
        found = np.concatenate(list(self.errors.values()))
        yield close("‖x‖² by tangents: error at the corners is d/(4m²)", found, tangent)
        yield at_most("at 500 random points, over that at the corners", inside, 1.0)
        functions = [pwl1d(random_net([1, *[1] * int(rng.integers(1, 9)), 1], rng)) for _ in range(self.nets)]
        turning = sum(bool(np.any(f.slopes > 0) and np.any(f.slopes < 0)) for f in functions)
        yield equal(f"of {self.nets} nets of width 1, those not monotone", turning, 0)
        away = [np.max(np.abs(f(THREE) - np.abs(THREE - 0.5))) for f in functions]
        yield at_least("nets of width 1: distance to |x - ½|", away, 0.25)
        self.monotone = [f for f in functions if np.ptp(f(THREE)) > 0.1][:3]

    def control(self, rng: Generator) -> Checks:
        d = self.dimensions[-1]
        a, b, x = rng.normal(size=(self.planes, d)), rng.normal(0, 0.5, self.planes), rng.uniform(-1, 1, (1000, d))
        check = close(f"net and maximum on [-1, 1]^d, d = {d}", maximum(a, b)(x)[:, 0], np.max(x @ a.T + b, axis=1))
        yield because("x may be negative, and relu(x) is not x", check)
        away = float(np.max(np.abs(pwl1d(hinges([0, 0.5], [-1, 2], shift=0.5))(THREE) - [0.5, 0, 0.5])))
        yield because("the width is 2", at_least("distance to |x - ½|", away, 0.25))

    def plots(self) -> list[Panel]:
        x, left = np.linspace(0, 1, 201), Panel("‖x‖² by tangent planes", "depth N", "sup error", log="xy")
        for d, errors in self.errors.items():
            N = self.depths[d]
            left.series(N, errors, f"width {d + 1}, d = {d}")
            left.bound(N, d / 4 * N ** (-2 / d), "(d/4) N^(-2/d)" if d == 3 else "")
        right = Panel("Width 1 cannot turn", "x", "value (nets scaled)").target(x, np.abs(x - 0.5), "|x - ½|")
        for i, f in enumerate(self.monotone):
            shown = f(x) - f(np.array(0.0))
            right.control(x, shown / np.max(np.abs(shown)) / 2, "" if i else "width 1")
        return [left, right]
