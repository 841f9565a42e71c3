import torch
from scipy.optimize import brentq

from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, close, headline, np, param
from headway.lab.tools.convex_losses import overlapping_classes
from headway.lab.tools.flat_network import exchanged, square_loss
from headway.lab.tools.quadratics import descend, least_squares, wells

INPUTS = torch.tensor([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]], dtype=torch.float64)  # XOR: their product


class ConvexLocalGlobal(Experiment):
    """Descent on a convex function ends at the same value from every start; on others the start decides.

        h(λa + (1 - λ)b) <= λh(a) + (1 - λ)h(b)      =>      every local minimum is a global one,

    because towards a lower point a convex function falls from the first step on. In one dimension with η <= 1/L the
    basins of descent are exactly the intervals between local maxima. The loss of a network is not convex: a network and
    its copy with two hidden units exchanged have the same loss, the network half-way between them has another one.

    Notes: D. Source: Boyd and Vandenberghe 2004, section 4.2.2, https://web.stanford.edu/~boyd/cvxbook/
    Assumes: h is convex and smooth and has a minimum; the rate is below 2/L.
    Also: local and global minima; basins of attraction; multi-start gradient descent.
    """

    starts = param(200, "random starts", least=50, most=500, small=60)
    steps = param(500, "steps of each", least=300, most=2000)
    width = param(14.0, "of the interval of starts around the wells", least=10.0, most=100.0)

    def measure(self, rng: Generator) -> Checks:
        U, V = (np.linalg.qr(rng.normal(size=(n, 4)))[0] for n in (20, 6))
        squares = least_squares(U * [1, 0.8, 0.5, 0.3] @ V.T, rng.normal(size=20))
        convex = {"logistic": (overlapping_classes(200, rng)[0], 3), "least squares of rank 4": (squares, 6)}
        lasts, wanted, low, high = [], [], {}, {}
        for name, (h, d) in convex.items():
            a, b, mix = *rng.normal(0, 3, (2, self.starts, d)), rng.random(self.starts)
            low[name], high[name] = h(mix[:, None] * a + (1 - mix[:, None]) * b), mix * h(a) + (1 - mix) * h(b)
            lasts.append(descend(h, a, self.steps).values[-1])
            wanted.append(np.full(self.starts, h.least))
        yield headline(close("convex: last values from all starts, the minimum by other means", lasts, wanted, 1e-9))
        yield at_most("convex: h(λa + (1-λ)b), λh(a) + (1-λ)h(b)", low, high, rounding=1e-12)
        h, slope, grid = wells(1), lambda x: np.sin(x) + 0.1 * x, np.linspace(-30, 30, 1000)
        turns = np.diff(np.sign(slope(grid)))
        root = lambda i: brentq(slope, grid[i], grid[i + 1])  # noqa: E731
        self.minima, maxima = ([root(i) for i in np.flatnonzero(turns == sign)] for sign in (2, -2))
        self.x = rng.uniform(-self.width, self.width, self.starts)
        self.ends = descend(h, self.x[:, None], self.steps).points[-1, :, 0]
        own = np.array(self.minima)[np.searchsorted(maxima, self.x)]  # the one between the maxima around the start
        yield close("wells: ends, the minimum between the maxima around the start", self.ends, own)
        self.h, self.net = h, square_loss(INPUTS, INPUTS.prod(1), width=2)
        a = rng.normal(0, 1.5, (self.starts, 9))
        yield close("network: loss with two units exchanged", self.net(exchanged(a, 2)), self.net(a), 1e-12)
        path = descend(self.net, a, self.steps, rate=0.3)
        self.last, best = path.values[-1], path.points[-1, np.argmin(path.values[-1])][None]
        self.pair = best, exchanged(best, 2)

    def control(self, rng: Generator) -> Checks:
        wells, middle = self.h(self.ends[:, None]), self.net((self.pair[0] + self.pair[1]) / 2)[0]
        yield because("wells are not convex", close("last values from all starts, the minimum", wells, 0.0, 1e-9))
        why, least = "the loss of a network is not convex", self.last.min()
        yield because(why, close("XOR: last losses from all starts, the least", self.last, least, 1e-9))
        yield because(why, at_most("XOR: half-way between the best network and its copy", middle, least))

    def plots(self) -> list[Panel]:
        x = np.linspace(-self.width, self.width, 600)
        left = Panel("Where descent ends depends on its start", "x", "h").target(x, self.h(x[:, None]), "wells")
        for m in self.minima:
            mine = np.abs(self.ends - m) < 0.1
            left.points(self.x[mine], self.h(self.x[mine][:, None]), size=9)
            left.points([m], self.h(np.array([[m]])), size=60, colour="black")
        s = np.linspace(-0.2, 1.2, 200)[:, None]
        middle = Panel("From a network to its copy", "way from one to the other", "loss on XOR")
        middle.curve(s, self.net((1 - s) * self.pair[0] + s * self.pair[1]))
        return [left, middle, Panel("XOR: last losses", "loss", "starts").histogram(self.last, density=False)]
