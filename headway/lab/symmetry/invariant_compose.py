import torch
from torch import nn

from headway.lab.kit import Checks, Experiment, Generator, Panel, because, close, headline, np, param
from headway.lab.tools.layers import Net, applied, drawn
from headway.layers.convolutions.average_pooling import AveragePooling
from headway.layers.convolutions.boundaries import Boundary, Circular, Same
from headway.layers.convolutions.convolution_2d import Convolution2d
from headway.layers.convolutions.group_convolution import turn
from headway.layers.convolutions.max_pooling import MaxPooling
from headway.models import cnn, group_cnn, mlp


class InvariantCompose(Experiment):
    """Equivariant layers followed by an invariant one are invariant; so is the mean of any network over a group.

        F(g x) = g F(x)  and  P(g y) = P(y)   =>   P(F(g x)) = P(F(x)),      R f(x) = (1/|G|) Σ_{g in G} f(g x)

    Each layer hands the group's action on to the next one, and the last one forgets it. The mean R f runs over the same terms for
    x and for g x. Both hold for shifts of a torus (circular convolutions, global pooling) and for quarter turns (group convolutions).

    Notes: D. Source: Bronstein, Bruna, Cohen, Velickovic 2021, Geometric deep learning, section 3, https://arxiv.org/abs/2104.13478
    Assumes: every layer is equivariant (so no zeros at the ends); the last one is invariant.
    Also: invariance by composition; Reynolds operator; group averaging; global pooling.
    """

    side = param(8, "rows and columns of the picture", least=5, most=16, small=6)
    depth = param(2, "layers", least=1, most=3)
    channels = param(4, "of every layer", least=1, most=16)

    def stack(self, boundary: Boundary, last: nn.Module, rng: Generator) -> nn.Sequential:
        sizes = [1, *[self.channels] * (self.depth - 1)]
        layers = [(Convolution2d(c, self.channels, 3, boundary), nn.LeakyReLU()) for c in sizes]
        return drawn(nn.Sequential(*(module for pair in layers for module in pair), last, nn.Flatten()), rng)

    def change(self, net: Net) -> np.ndarray:
        """How far the outputs move under every shift of the picture."""
        outputs = applied(net, np.concatenate([np.roll(self.x, s, (2, 3)) for s in self.shifts]))
        return np.max(np.abs(outputs - outputs[:1]), axis=1)

    def mean(self, net: Net) -> Net:
        """R f, over all shifts."""
        return lambda x: torch.stack([net(x.roll(s, (2, 3))) for s in self.shifts]).mean(0)

    def measure(self, rng: Generator) -> Checks:
        n = self.side
        self.x, self.shifts = rng.normal(size=(1, 1, n, n)), [(y, x) for y in range(n) for x in range(n)]
        net = drawn(mlp.MLP(mlp.Config(width=16), n * n, 3), rng)
        done, other = (self.stack(Circular(), pool, rng) for pool in (MaxPooling(n), AveragePooling(n)))
        nets: dict[str, Net] = {"max pool": done, "mean pool": other, "R of MLP": self.mean(lambda x: net(x.flatten(1)))}
        self.changes = {name: self.change(f) for name, f in nets.items()}
        yield headline(close("circular layers, then the maximum: all shifts", self.changes["max pool"], 0))
        yield close("circular layers, then the mean: all shifts", self.changes["mean pool"], 0)
        yield close("an MLP, averaged over all shifts", self.changes["R of MLP"], 0)
        yield close("averaging leaves an invariant net as it is", applied(self.mean(done), self.x), applied(done, self.x))
        group = drawn(group_cnn.GroupCNN(group_cnn.Config(filters=3, depth=self.depth, width=8), 1, 3), rng)
        turned = np.concatenate([np.rot90(self.x, k, (2, 3)) for k in range(4)])
        features = applied(lambda x: turn(group.features(x)), self.x)
        yield close("a group CNN: features turn with the picture", applied(group.features, turned[1:2]), features)
        answers = applied(lambda x: group.logits(group(x)), turned)
        yield close("a group CNN: answers to four turns", answers, np.tile(answers[:1], (4, 1)))
        plain = drawn(cnn.CNN(cnn.Config(filters=3, depth=self.depth, width=8), 1, n, n, 3), rng)
        self.plain = applied(lambda x: plain.logits(plain(x)), turned)

    def control(self, rng: Generator) -> Checks:
        self.changes["zeros"] = self.change(self.stack(Same(), AveragePooling(self.side), rng))
        self.changes["no pool"] = self.change(self.stack(Circular(), nn.Identity(), rng))
        yield because("zeros stand beyond the ends", close("zeros at the ends, then the mean", self.changes["zeros"], 0, 1e-3))
        yield because("the last layer is not invariant", close("circular layers, then every value", self.changes["no pool"], 0, 1e-3))
        yield because("its filters do not turn", close("a CNN: four turns", self.plain, np.tile(self.plain[:1], (4, 1)), 1e-3))

    def plots(self) -> list[Panel]:
        left = Panel("Zeros at the ends: the answer changes with the shift", "shift to the right", "shift down")
        left.image(self.changes["zeros"].reshape(self.side, self.side), scale="change", stretch=False)
        right = Panel("Invariant, up to rounding, or not at all", "network", "largest change over all shifts", log="y")
        return [left, right.bars([*self.changes], [max(change.max(), 1e-17) for change in self.changes.values()])]
