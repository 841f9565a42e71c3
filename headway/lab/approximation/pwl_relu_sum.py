from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, close, equal, headline, np, param
from headway.lab.pwl1d import Pwl, pwl1d, sup_distance
from headway.lab.relu_net import ReluNet, hinges, random_net
from headway.lab.tools.nets import as_hinges, interpolant, random_pwl, relative_distance
from headway.lab.tools.tents import teeth

SHOWN = Pwl(np.arange(-2.0, 3.0), np.array([0.5, -1.0, 1.0, -0.5, 1.0]), -0.5, -0.75)  # six pieces, drawn


class PwlReluSum(Experiment):
    """A continuous function with m linear pieces is an affine function plus m - 1 hinges, and needs all of them.

    With knots x_1 < ... < x_{m-1}, first slope a and slope jumps c_i,

        f(x) = a x + b + Σ_{i=1}^{m-1} c_i (x - x_i)_+ .

    Conversely a ReLU net with one hidden layer of N units bends in at most N places, so it has at most N + 1 pieces and
    fewer hinges cannot do. As a net the affine part costs two more units on the line (x = x_+ - (-x)_+), one on [0, 1].

    Notes: C. Source: Lebesgue 1898, Sur l'approximation des fonctions, Bulletin des Sciences Mathématiques 22
    Assumes: f is continuous and piecewise linear with finitely many pieces; one hidden layer (for the converse).
    Also: Lebesgue's representation; hinge decomposition; piecewise linear function as a sum of ReLUs.
    """

    pieces = param(50, "the largest number m of pieces; all from 2 on are tried", least=3, most=200, small=12)
    nets = param(200, "random networks that are converted to pieces and back", least=10, most=2000, small=20)
    units = param(12, "the largest number N of their hidden units", least=2, most=60)

    def measure(self, rng: Generator) -> Checks:
        m = np.arange(2, self.pieces + 1)
        functions = [random_pwl(k, rng) for k in m.tolist()]
        nets = [as_hinges(f) for f in functions]
        back = [*map(pwl1d, nets)]
        errors = [relative_distance(f, g) for f, g in zip(functions, back, strict=True)]
        yield headline(close("sup |f - hinges| on [-10, 10], relative", errors, 0.0, 1e-12))
        yield equal("hinges are m - 1", [net.nodes - 2 for net in nets], m - 1)
        yield equal("pieces of the net are m: no hinge is idle", [f.pieces() for f in back], m)
        knots = np.append(0.0, np.cumsum(rng.dirichlet(np.ones(self.pieces))))
        inside = Pwl(knots, rng.normal(size=knots.size), 0.0, 0.0)
        net = interpolant(inside, knots)
        yield equal("on [0, 1] m pieces need m units", net.nodes, self.pieces)
        yield close("on [0, 1]: sup |f - net|", sup_distance(inside, pwl1d(net)), 0.0, 1e-9)
        nets = [random_net([1, int(N), 1], rng) for N in rng.integers(1, self.units + 1, self.nets)]
        back, self.units_of = [*map(pwl1d, nets)], np.array([net.nodes for net in nets])
        self.pieces_found = [f.pieces(-1, 1) for f in back]
        yield at_most("pieces of a net with N units", [f.pieces() for f in back], self.units_of + 1, kind="EXACT")
        again = [relative_distance(f, pwl1d(as_hinges(f.simplified()))) for f in back]
        yield close("net, to pieces and back: sup of the difference, relative", again, 0.0, 1e-9)

    def examine(self, network: ReluNet, rng: Generator) -> Checks:
        f = pwl1d(network)
        if network.depth == 2:
            yield at_most(f"pieces of your net with {network.nodes} units", f.pieces(), network.nodes + 1, kind="EXACT")
        error = relative_distance(f, pwl1d(as_hinges(f.simplified())))
        yield headline(close(f"your net is a line and {f.pieces() - 1} hinges: sup, relative", error, 0.0, 1e-9))

    def control(self, rng: Generator) -> Checks:
        f = random_pwl(self.pieces, rng)
        short = hinges(f.knots[:-1], np.diff(f.slopes)[:-1], f.left, float(f.values[0] - f.left * f.knots[0]))
        few, deep = equal(f"pieces of {self.pieces - 2} hinges", pwl1d(short).pieces(), self.pieces), teeth(5)
        yield because("there is one hinge too few", few)
        many = at_most(f"pieces of {deep.nodes} units, 5 layers", pwl1d(deep).pieces(), deep.nodes + 1, kind="EXACT")
        yield because("there is more than one hidden layer", many)

    def plots(self) -> list[Panel]:
        f, x = SHOWN, np.linspace(-3.5, 3.5, 400)
        left = Panel("Six pieces: a line and five hinges", "x", "value").target(x, f(x), "f")
        left.curve(x, {"sum of all": as_hinges(f).at(x), "affine part": f.values[0] + f.left * (x - f.knots[0])})
        left.thin(x, (np.diff(f.slopes) * np.maximum(x[:, None] - f.knots, 0)).T)
        N = np.arange(1, max(self.units, 15) + 1)
        right = Panel("Depth makes more pieces than width", "hidden units N", "linear pieces", log="y")
        right.bound(N, N + 1, "N + 1").points(self.units_of, self.pieces_found, "one hidden layer, inside [-1, 1]")
        powers = [teeth(k) for k in range(1, 6)]
        right.control([net.nodes for net in powers], [pwl1d(net).pieces() for net in powers], "Δ^k, k layers")
        right.ticks(x={float(k): str(k) for k in N[2::3]})
        return [left.limits(y=(-4, 4)).note(-3.4, -3.7, "thin: the hinges"), right]
