from headway.lab.kit import Checks, Experiment, Generator, Panel, at_least, because, close, equal, headline, math, np, param
from headway.lab.tools.features import residual
from headway.lab.tools.kernels import polynomial as kernel
from headway.lab.tools.kernels import polynomial_features as phi
from headway.lab.tools.multiindex import exponents, multinomial


class PolyKernel(Experiment):
    """The kernel (1 + <x, z>)^k is an inner product of binomial(d + k, k) weighted monomials.

        (1 + <x, z>)^k = <φ(x), φ(z)>,
        φ_a(x) = sqrt(k! / (a_0! a_1! ... a_d!)) x_1^{a_1} ... x_d^{a_d},      a_0 + ... + a_d = k

    by the multinomial theorem. So a linear fit in feature space is a polynomial of degree k, a Gram matrix has rank binomial(d + k, k), and
    ridge regression is the same from features and kernel. The best linear fit of x_1 x_2 on a symmetric grid is 0; degree 2 is exact.

    Notes: A. Source: Schölkopf, Smola 2002, Learning with Kernels, ch. 2
    Assumes: points in general position; k is whole. Also: polynomial kernel; monomial feature map; polynomial against linear regression.
    """

    dimensions = param(4, "d = 1 … dimensions", least=1, most=5, small=3)
    degree = param(5, "k = 1 … degree", least=2, most=6, small=4)
    points = param(150, "random points of [-1, 1]^d", least=20, most=600, small=60)
    degrees = param(8, "up to which polynomial regression is drawn", least=5, most=12)

    def conditions(self) -> list[tuple[bool, str]]:
        count = math.comb(self.dimensions + self.degree, self.degree)
        return [(self.points > count, f"there must be more points than the {count} features of degree {self.degree}")]

    def measure(self, rng: Generator) -> Checks:
        gaps, wrong, off = [], [], []
        for d, k in [(d, k) for d in range(1, self.dimensions + 1) for k in range(1, self.degree + 1)]:
            x, z, whole = rng.uniform(-1, 1, (40, d)), rng.uniform(-1, 1, (40, d)), rng.integers(-4, 5, (30, d))
            gaps.append(np.max(np.abs(phi(x, k) @ phi(z, k).T - kernel(x, z, k))) / np.max(np.abs(kernel(x, z, k))))
            weights, m = np.array([multinomial(a) for a in exponents(d + 1, k)]), phi(whole, k, weighted=False)
            wrong.append(np.sum((m * weights) @ m[::-1].T != kernel(whole, whole[::-1], k)))
            many = rng.uniform(-1, 1, (self.points, d))
            rank = np.linalg.matrix_rank(kernel(many, many, k), hermitian=True)
            off.append([m.shape[1] - math.comb(d + k, k), rank - math.comb(d + k, k)])
        yield headline(close("<φ(x), φ(z)> minus the kernel, of its largest value", gaps, 0.0))
        yield equal("whole numbers: entries of both that differ", wrong, 0)
        yield equal(f"features, and the rank for {self.points} points, minus binomial(d + k, k)", off, 0)
        t, k, ridge = np.linspace(-1, 1, 15)[:, None], self.degree, 1e-2
        grid = np.stack([a.ravel() for a in np.meshgrid(t, t)], axis=1)
        y = grid[:, 0] * grid[:, 1]
        left = [residual(phi(grid, degree), y) / np.mean(y**2) for degree in (1, 2)]
        yield close("x₁x₂ on a grid: share left by degrees 1 and 2", left, [1.0, 0.0])
        self.x = np.sort(rng.uniform(-1, 1, 80))[:, None]
        self.y, F = np.sin(4 * self.x[:, 0]) + 0.1 * rng.normal(size=80), phi(self.x, k)
        primal = phi(t, k) @ np.linalg.solve(F.T @ F + ridge * np.eye(F.shape[1]), F.T @ self.y)
        dual = kernel(t, self.x, k) @ np.linalg.solve(kernel(self.x, self.x, k) + ridge * np.eye(80), self.y)
        yield close("ridge regression from features and from the kernel", primal, dual, 1e-9)

    def control(self, rng: Generator) -> Checks:
        d, k = self.dimensions, self.degree
        x, z = rng.uniform(-1, 1, (self.points, d)) / d, rng.uniform(-1, 1, (40, d))
        check = close("monomials against the kernel", phi(x, k, False) @ phi(z, k, False).T, kernel(x, z, k))
        yield because("the monomials have no weights", check)
        rank = np.linalg.matrix_rank((x @ x.T) ** k, hermitian=True)
        yield because("<x, z>^k without the 1", equal("rank of the Gram matrix", rank, math.comb(d + k, k)))
        least = np.linalg.eigvalsh(kernel(x, x, 1.5))[0]
        yield because("k = 3/2 is not whole", at_least("smallest eigenvalue of the Gram matrix", least, -1e-9))

    def plots(self) -> list[Panel]:
        t, k = np.linspace(-1, 1, 300)[:, None], range(1, self.degrees + 1)
        weights = [np.linalg.lstsq(phi(self.x, j), self.y, rcond=None)[0] for j in k]
        left = Panel("Linear fits in feature space", "x", "y").points(self.x[:, 0], self.y, "data")
        left.curve(t, {f"degree {j}": phi(t, j) @ weights[j - 1] for j in (1, 3, 5)})
        right = Panel("How much each degree leaves", "degree k", "mean squared residual", log="y")
        right.series(k, [residual(phi(self.x, j), self.y) for j in k], "least squares")
        return [left, right.level(0.01, "variance of the noise")]
