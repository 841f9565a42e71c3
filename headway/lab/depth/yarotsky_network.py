from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, close, equal, headline, np, param, printed
from headway.lab.relu_net import ReluNet
from headway.lab.tools.gates import product_net
from headway.lab.tools.partition_of_unity import Smooth, of_sum, sine, taylor_error, unit_ball
from headway.lab.tools.taylor_net import TaylorNet

FINE = 0.001  # ε of the controls


def sup_error(net: TaylorNet, f: Smooth) -> float:
    """sup |f - f̃| from above."""
    return net.line_error(f) if net.d == 1 else taylor_error(f, net.N, net.n).high + net.gate_bound


class YarotskyNetwork(Experiment):
    """One architecture with about ε^{-d/n} ln(1/ε) weights reaches the error ε on every function with n bounded derivatives.

    For every ε in (0, 1) and all f on [0, 1]^d whose derivatives up to the order n are at most 1,

        depth <= c (ln(1/ε) + 1),     weights <= c ε^{-d/n} (ln(1/ε) + 1),     sup |f - f̃| <= ε.

    f̃ is Σ φ_m P_m with N = ⌈(n! / (2^d d^n) · ε/2)^{-1/n}⌉ (half of ε), each φ_m (x - m/N)^k a chain of multiplication gates that err by
    at most δ = ε / (2^{d+1} d^n (d + n)) (the other half); only the output weights, Taylor coefficients, depend on f. Where a bump is 0
    the chain is exactly 0, so 2^d terms of a kind count.

    Notes: A, B. Source: Yarotsky 2017, theorem 1, https://arxiv.org/abs/1610.01145
    Assumes: all derivatives up to the order n, not only of the order n, are at most 1 in modulus on [0, 1]^d; 0 < ε < 1.
    Deviates: for d = 1 the error is certified between the knots of f̃; for d = 2 it is the certified sup |f - Σ φ_m P_m| plus the proved
    error of the gates, and the net itself is evaluated at random places. Also: Yarotsky's theorem; approximation of Sobolev functions.
    """

    orders = param((1, 2, 3), "n, for functions of one variable", least=1, most=3, small=(2, 3))
    epsilons = param((0.3, 0.1, 0.03, 0.01, 0.003, 0.001), "errors ε, d = 1", least=5e-4, most=0.5, small=(0.3, 0.03))
    plane = param((0.3, 0.1, 0.03), "errors ε to reach, d = 2 and n = 2", least=0.01, most=0.5, small=(0.3,))
    points = param(600, "random places where the net of two variables is evaluated", least=50, most=10_000, small=50)

    def measure(self, rng: Generator) -> Checks:
        wanted = dict.fromkeys([(1, n) for n in self.orders], np.array(self.epsilons)) | {(2, 2): np.array(self.plane)}
        self.nets = {case: [TaylorNet.reaching(*case, float(e)) for e in wanted[case]] for case in wanted}
        self.wanted, self.errors, share, flat = wanted, {}, {}, unit_ball(2)
        for (d, n), nets in self.nets.items():
            e, name = wanted[d, n], f"d = {d}, n = {n}"
            self.errors[name] = np.array([[sup_error(net, f) for f in unit_ball(d)] for net in nets])
            (deep, large), log = nets[0].constants, np.log(1 / e) + 1
            sizes = np.array([[net.gate_bound, net.size.depth, net.size.weights] for net in nets])
            share[name] = np.max(sizes / np.stack([e, deep * log, large * e ** (-d / n) * log], axis=1), axis=0)
        *lines, (_, plane) = self.errors.items()
        yield headline(at_most("d = 1: certified error, ε, three functions", dict(lines), np.array(self.epsilons)[:, None]))
        yield at_most("d = 2: certified Taylor error + proved gate error, ε", plane, np.array(self.plane)[:, None])
        x, y = rng.random((self.points, 2)), rng.random((60, 2))
        seen = [np.max(np.abs(np.array([f(x) for f in flat]) - net(flat, x)), axis=1) for net in self.nets[2, 2]]
        yield at_most("d = 2: error of the net at random places, that sum", seen, plane)
        gates, depth, weights = ({name: found[i] for name, found in share.items()} for i in range(3))
        yield at_most("all gates together / ε", gates, 0.5)
        yield at_most("depth / c (ln 1/ε + 1)", depth, 1.0)
        yield at_most("weights / c ε^(-d/n) (ln 1/ε + 1)", weights, 1.0)
        small = TaylorNet(2, 2, 2, 4)
        built = [small.matrices(f) for f in flat]
        yield close("d = 2: built as matrices, and evaluated", [net(y)[:, 0] for net in built], small(flat, y))
        hidden = np.array([np.concatenate([np.append(w, b) for w, b in net.layers[:-1]]) for net in built])
        yield equal("three functions: hidden weights, those of the first", hidden[1:] - hidden[0], 0.0)

    def found(self, f: Smooth, rng: Generator, gate: ReluNet | None = None) -> float:
        """The largest error at random places for d = 1, n = 3 and the ε of the controls; `gate` in place of its own."""
        x = rng.random((2000, 1))
        return float(np.max(np.abs(f(x) - TaylorNet.reaching(1, 3, FINE)([f], x, gate)[0])))

    def control(self, rng: Generator) -> Checks:
        error = self.found(sine(1), rng, product_net(TaylorNet.reaching(1, 3, FINE).m, 0.5))
        yield because("factors are larger than M", at_most("gates for factors up to ½: error, ε", error, FINE))
        error = self.found(sine(1, 20.0), rng)
        yield because("derivatives are not at most 1", at_most("sin 20x: error, ε", error, FINE))
        error = self.found(sine(1), rng, product_net(2, 2.0))
        yield because("gates err by more than δ", at_most("gates of depth 2: error, ε", error, FINE))
        # its third derivative is 0; counting pieces forbids it to every net of this size if the factor is large enough
        high = of_sum("10⁵x²", 1, lambda j, s: 1e5 * (s**2, 2 * s, 2 + 0 * s)[j])
        yield printed(at_most('"derivatives of order 3" only, 10⁵x²: error, ε', self.found(high, rng), FINE), "A11")

    def plots(self) -> list[Panel]:
        left = Panel("What is wanted and what is reached", "wanted error ε", "sup |f - f̃|, worst of three f", log="xy")
        right = Panel("The depth grows like ln(1/ε)", "1/ε", "depth", log="x")
        for (name, errors), nets, e in zip(self.errors.items(), self.nets.values(), self.wanted.values(), strict=True):
            left.series(e, errors.max(axis=1), name)
            right.series(1 / e, [net.size.depth for net in nets], name)
        return [left.bound(self.epsilons, self.epsilons, "ε"), right]
