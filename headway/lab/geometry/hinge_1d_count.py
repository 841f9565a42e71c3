from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, equal, headline, np, param
from headway.lab.relu_net import ReluNet, hinges, random_net
from headway.lab.tools.pieces import pieces_of
from headway.lab.tools.regions import cells, distinct_maps

TWINS = hinges([0.0, 0.0], [1.0, -1.0])  # σ(x) - σ(x)
PLATEAU = hinges([0.0, 1.0, 2.0, 3.0], [1.0, -1.0, -1.0, 1.0])  # 0, up, 1, down, 0


def counted(net: ReluNet) -> tuple[int, int, int]:
    """Activation regions, linear pieces, different affine maps."""
    found = cells(net)
    return len(found), pieces_of(net), distinct_maps(found)


class Hinge1DCount(Experiment):
    """A net may have more activation regions than linear pieces: neighbours can share an affine map.

        activation regions  >=  linear pieces  >=  different affine maps

    A unit that bends inside without an effect on the output (a zero outgoing weight, or a second unit with the same
    hinge and the opposite weight) separates activation regions but no pieces: σ(x) - σ(x) has two regions and one
    piece. And pieces that are not neighbours can share a map: a plateau is 0 on its left and on its right.

    Notes: C. Source: Hanin and Rolnick 2019, Deep ReLU networks have surprisingly few activation patterns, https://arxiv.org/abs/1906.00904
    Assumes: one input, so that pieces are intervals; for equality, every bend has an effect.
    Also: activation regions and linear regions.
    """

    units = param(8, "hinges with an effect", least=1, most=40)
    silent = param(3, "hinges whose outgoing weight is 0", least=1, most=20)
    twins = param(2, "pairs of equal hinges with opposite weights", least=1, most=20)
    nets = param(60, "random deep nets", least=10, most=500, small=20)

    def measure(self, rng: Generator) -> Checks:
        yield headline(equal("σ(x) - σ(x): regions, pieces, maps", np.array(counted(TWINS)), (2, 1, 1)))
        yield equal("a plateau: regions, pieces, maps", np.array(counted(PLATEAU)), (5, 5, 4))
        t, c = rng.uniform((-1, 0.5), (1, 1.5), (self.units + self.silent + self.twins, 2)).T
        c[self.units : self.units + self.silent] = 0.0
        self.net = hinges(np.append(t, t[-self.twins :]), np.append(c, -c[-self.twins :]))
        self.hinges, expected = t, (len(t) + 1, self.units + 1, self.units + 1)
        yield equal("silent hinges and twins: regions, pieces, maps", np.array(counted(self.net)), expected)
        sizes = [[1, *[int(k) for k in rng.integers(2, 7, 1 + i % 4)], 1] for i in range(self.nets)]
        self.regions, self.pieces, self.maps = np.array([counted(random_net(widths, rng)) for widths in sizes]).T
        yield at_most(f"pieces of {self.nets} random deep nets, activation regions", self.pieces, self.regions)
        yield at_most("their different maps, pieces", self.maps, self.pieces)

    def control(self, rng: Generator) -> Checks:
        near, apart = hinges([0.0, 0.0], [1.0, -0.9]), hinges([0.0, 0.1], [1.0, -1.0])
        yield because("the weights do not cancel", equal("σ(x) - 0.9 σ(x): pieces", pieces_of(near), 1))
        yield because("the hinges differ", equal("σ(x) - σ(x - 0.1): pieces", pieces_of(apart), 1))

    def plots(self) -> list[Panel]:
        x = np.linspace(-1.2, 1.2, 400)
        bent, flat = self.hinges[: self.units], self.hinges[self.units :]
        left = Panel("Some hinges leave no trace", "x", "output").target(x, self.net.at(x), "net")
        left.points(bent, self.net.at(bent), "bends")
        left.points(flat, self.net.at(flat), "hinges without a bend", "#d55e00", 26)
        ends = np.array([1, self.regions.max()])
        right = Panel("Random deep nets", "activation regions", "linear pieces")
        return [left, right.bound(ends, ends, "equal").points(self.regions, self.pieces, "nets")]
