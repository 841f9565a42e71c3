from headway.lab.kit import (
    Checks, Experiment, Generator, Panel, at_least, because, close, equal, headline, linear_slope, np, param, printed,
)
from headway.lab.tools.quadratics import Smooth, descend

# L is that of the square of starts: |y| <= 1.5
SADDLE = Smooth("strict", lambda z: z[..., 0] ** 2 / 2 - z[..., 1] ** 2 / 2 + z[..., 1] ** 4 / 4, 5.75)
DEGENERATE = Smooth("degenerate", lambda z: z[..., 0] ** 2 / 2 + z[..., 1] ** 3 / 3 + z[..., 1] ** 4 / 4, 9.75)


class StrictSaddle(Experiment):
    """Descent from a random start leaves a strict saddle, after a time that grows like the logarithm of the distance.

        f(x, y) = ½x² - ½y² + ¼y⁴:   saddle at (0, 0), Hessian diag(1, -1), minima at (0, ±1),
        η < 1/L, start (1, ε):   ln(1/ε)/ln(1 + ηλ) + constant ≈ ln(1/ε)/(ηλ) steps, λ = 1,

    because near 0 each step multiplies y by 1 + ηλ. The starts that do not leave, y = 0, have volume 0. "Strict" says that the Hessian has
    an eigenvalue below 0: where it has none, as for ½x² + ⅓y³ + ¼y⁴ at 0, every start with y > 0 ends at the saddle.

    Notes: D, E. Source: Lee, Simchowitz, Jordan and Recht 2016, https://arxiv.org/abs/1602.04915
    Assumes: all saddles are strict; f is L-smooth and η < 1/L; the start has a density.
    Also: saddle points; gradient descent avoids saddles; escape time of a saddle.
    """

    eta = param(0.1, "η, the learning rate", least=0.02, most=0.17)
    starts = param(1000, "random starts in [-1.5, 1.5]²", least=50, most=2000, small=200)
    digits = param((2, 4, 6, 8, 10, 12), "k of the starts ε = 10^-k", least=2, most=100, count=4)

    def minima(self, h: Smooth, rng: Generator, level: float) -> int:
        """Random starts that end where the value is `level`, that of the minima."""
        self.path = descend(h, rng.uniform(-1.5, 1.5, (self.starts, 2)), int(60 / self.eta), rate=self.eta)
        return int(np.sum(self.path.values[-1] < level + 1e-6))

    def measure(self, rng: Generator) -> Checks:
        yield close("eigenvalues of the Hessian at the saddle", SADDLE.curvature(np.zeros(2)), np.array([-1.0, 1.0]))
        near = np.stack([np.ones(len(self.digits)), 10.0 ** -np.array(self.digits)], axis=1)
        bend = 1 / np.log1p(self.eta)
        path = descend(SADDLE, near, int(bend * (max(self.digits) * np.log(10) + 5)), rate=self.eta)
        self.times = np.argmax(np.abs(path.points[:, :, 1]) > 0.5, axis=0)
        yield linear_slope("steps until |y| > ½, in ln(1/ε)", -np.log(near[:, 1]), self.times, bend, 0.05 * bend)

    def sample(self, rng: Generator) -> Checks:
        found = self.minima(SADDLE, rng, -0.25)
        self.shown = self.path.points[:, :40]
        yield headline(equal("random starts that end at a minimum", found, self.starts))

    def control(self, rng: Generator) -> Checks:
        on = descend(SADDLE, np.array([1.0, 0.0]), int(60 / self.eta), rate=self.eta).points[-1]
        yield because("the start lies on the line y = 0", at_least("|y| at the end", abs(on[1]), 0.5))
        yield printed(at_least("the Hessian is psd: its least eigenvalue", SADDLE.curvature(np.zeros(2))[0], 0.0), "E8")
        yield printed(equal("degenerate saddle: starts that end at a minimum", self.minima(DEGENERATE, rng, -1 / 12), self.starts), "D9")

    def plots(self) -> list[Panel]:
        left = Panel("Random starts leave the saddle at 0", "x", "y")
        left.thin(self.shown[..., 0], self.shown[..., 1].T).points(self.shown[0, :, 0], self.shown[0, :, 1], "starts", size=8)
        left.points([0, 0], [-1, 1], "minima", colour="black", size=40).points([0], [0], "saddle", colour="#D55E00", size=40)
        x = np.array(self.digits) * np.log(10)
        line = self.times[0] + (x - x[0]) / np.log1p(self.eta)
        right = Panel("Ten times closer costs the same again", "ln(1/ε)", "steps until |y| > ½")
        return [left, right.series(x, self.times, "measured").bound(x, line, "slope 1/ln(1 + η)")]
