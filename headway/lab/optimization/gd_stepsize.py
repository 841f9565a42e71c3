from scipy.optimize import brentq
import torch

from headway.lab.kit import Checks, Experiment, Generator, Panel, at_least, at_most, because, close, headline, np, param, printed
from headway.lab.tools.quadratics import CORNER, Smooth, descend, quadratic

BOWL = Smooth("log cosh", lambda x: torch.log(torch.cosh(x)).sum(-1), 1.0)  # f'' = 1 - tanh² <= 1


class GDStepsize(Experiment):
    """Gradient descent on a quadratic converges exactly if the rate η is below 2/L, L the largest curvature; 1/L is the safe choice.

    For f = ½λx² and η > 0,

        x_{t+1} = (1 - ηλ) x_t,        f(x - ηf') = f - ηf'² (1 - ηf''/2),

    so that x -> 0 iff ηλ < 2; at η = 1/λ one step is enough, with the drop f'²/(2f''), and at η = 2/λ it swings for ever. In several
    dimensions each eigenvalue has its own factor. A function that is no quadratic may stay bounded beyond 2/L, but does not converge.

    Notes: C, E. Source: Nesterov 2004, Introductory Lectures on Convex Optimization, section 1.2.3
    Assumes: f has a second derivative of at most L everywhere; 0 < η < 2/L.
    Also: learning rate and curvature; 2/L; edge of stability.
    """

    cost = "M"
    L = param(1.0, "L, the largest curvature", least=0.01, most=100.0)
    d = param(8, "eigenvalues, from L/d to L", least=2, most=50)
    margin = param(0.005, "how far below and above 2/L the rates are, as a share", least=0.002, most=0.02, small=0.02)

    def measure(self, rng: Generator) -> Checks:
        self.swept = np.linspace(0.05, 2.1, 83)  # ηλ, one coordinate for each
        self.x = x = descend(quadratic(self.swept * self.L), np.ones(83), 100, rate=1 / self.L).points
        keep = np.abs(self.swept - 1) > 0.01
        powers = (1 - self.swept[keep]) ** np.arange(101)[:, None]
        yield headline(close("x_t / (1 - ηλ)^t x_0, t to 100, 82 rates", x[:, keep] / powers, np.ones(powers.shape)))
        special = descend(quadratic([self.L, 2 * self.L]), np.ones(2), 3, rate=1 / self.L).points
        yield close("ηλ = 1 and 2: one step, and a swing", special, [[1, 1], [0, -1], [0, 1], [0, -1]], 1e-14)
        self.f, self.fall = self.swept * self.L * x**2 / 2, (self.swept * self.L * x[0]) ** 2 / self.L
        self.drop = self.f[0] - self.f[1]
        yield close("drop of a step, ηf'² (1 - ηf''/2)", self.drop / self.f[0], self.fall * (1 - self.swept / 2) / self.f[0])
        f = quadratic(self.L * np.linspace(1 / self.d, 1, self.d), rng)
        steps = int(4 / self.margin)  # T: enough for a factor e^±16
        low, high = (2 / self.L * (1 + side * self.margin) for side in (-1, 1))
        down, up = (descend(f, np.ones(self.d), steps, rate).values for rate in (low, high))
        most = max(abs(1 - low * f.L), abs(1 - low * f.mu)) ** (2 * steps)
        yield at_most(f"η = {low:.4g}: f_T, max (1 - ηλ)^2T f_0", down[-1], most * down[0])
        yield at_least(f"η = {high:.4g}: f_T, f_0", up[-1], up[0])
        ends = descend(BOWL, np.array([3.0]), 2 * steps, 2 * (1 + self.margin)).points[-2:, 0]
        root = brentq(lambda x: x - (1 + self.margin) * np.tanh(x), 1e-3, 3)
        yield close("log cosh, η above 2/L: ±x with 2x = η tanh x", np.sort(ends), [-root, root], 1e-9)
        inside = descend(BOWL, np.array([3.0]), 2 * steps, 2 * (1 - self.margin)).values[-1]
        yield at_most("log cosh, η below 2/L: f at the end", inside, 1e-9)

    def control(self, rng: Generator) -> Checks:
        middle = int(np.argmin(np.abs(self.swept - 1)))
        yield printed(close("η = 1/λ: drop, f'²/f''", self.drop[middle] / self.fall[middle], 1.0), "E3")
        values = descend(CORNER, np.array([1.03]), 100, 0.1).values
        yield because("|x| has no second derivative at 0", at_most("|x|, η = 0.1: f at the end", values[-1], 1e-9))

    def plots(self) -> list[Panel]:
        left = Panel("Fastest at 1/λ, lost at 2/λ", "ηλ", "f after t steps / f at first", "y").mark(1.0, "1/λ").mark(2.0, "2/λ")
        left.curve(self.swept, {f"t = {t}": np.maximum(self.f[t] / self.f[0], 1e-16) for t in (1, 10, 100)})
        right = Panel("Creeping, swinging, diverging", "step t", "$x_t$").limits(y=(-2, 2))
        some = [int(np.argmin(np.abs(self.swept - r))) for r in (0.2, 1.0, 1.8, 2.05)]
        return [left, right.series(np.arange(16), {f"ηλ = {self.swept[i]:.3g}": self.x[:16, i] for i in some})]
