from torch import nn

from headway.lab.kit import Checks, Experiment, Generator, Panel, at_least, at_most, because, equal, headline, np, param
from headway.lab.tools.layer_twins import hidden_layer_net
from headway.lab.tools.motifs import CELL, PATTERNS, as_local, motifs
from headway.lab.tools.training import Settings, accuracy, trained

NAMES = ("S-CONV", "S-LOCAL", "β-lasso", "SGD")  # the last two train S-FC
PUBLISHED = {"CIFAR-10": (87.05, 85.86, 85.19, 78.63),
             "CIFAR-100": (62.51, 62.03, 59.56, 51.43),
             "SVHN": (93.38, 93.98, 94.07, 91.80)}  # Neyshabur 2020, table 1: per cent in the order of NAMES; β is 50
GRID, SIDE, TESTS, STRENGTH = 3, 3 * CELL, 4000, 8e-4


class BetaLasso(Experiment):
    """A fully connected layer learns local receptive fields if its training keeps few weights: β-lasso closes the gap to local layers.

    S-CONV, S-LOCAL and S-FC have one hidden layer with the same units: shared local weights, own local weights, all weights. β-lasso is

        θ <- θ - η (∇ℓ(θ) + λ sign θ),        θ <- θ 1{|θ| >= βλ}

    on S-FC. An L1 penalty alone leaves weights that jump around 0, the threshold keeps them there. What is left looks at neighbours, since
    only pixels of one pattern say something together. For y = w·x with a sparse w, β-lasso finds which weights are not 0.

    Notes: E. Source: Neyshabur 2020, Towards learning convolutions from scratch, https://arxiv.org/abs/2007.13657
    Assumes: what decides the class is local; enough examples to learn weights for each place; long training.
    Deviates: made pictures whose patterns stand in fixed cells, so that features are strictly local; with digits or motifs at random
    places S-FC was as good as S-LOCAL. Lasso without the threshold was about as good here: the gain of the threshold is not shown.
    Also: S-CONV, S-LOCAL and S-FC; learning convolutions from scratch.
    """

    cost = "L"
    samples = param(8000, "pictures for training", least=6000, most=20000)
    width = param(16, "channels of the hidden layer", least=12, most=32)
    steps = param(1000, "of training, with 64 pictures each", least=800, most=4000, full=3000)
    beta = param(10.0, "β of the threshold βλ", least=5.0, most=20.0)

    def learned(self, name: str, rng: Generator, order: np.ndarray | None = None) -> tuple[float, np.ndarray]:
        """Accuracy on new pictures, and the weights of S-FC; `order` is one of all pixels."""
        (X, y), (Z, z) = (motifs(GRID, n, rng, order) for n in (self.samples, TESTS))
        settings = self.settings(name == "β-lasso", 0.2)
        net = trained(lambda: hidden_layer_net(name, SIDE, self.width, CELL, len(PATTERNS)), X, y, settings, rng)
        return accuracy(net, Z, z), net.get_parameter("1.weight").detach().numpy()

    def settings(self, lasso: bool, rate: float) -> Settings:
        return Settings(self.steps, 64, rate, optimizer="heavy_ball", decay=0.0, l1=lasso * STRENGTH, beta=lasso * self.beta, clip=1e9)

    def support(self, lasso: bool, rng: Generator) -> tuple[np.ndarray, np.ndarray]:
        """Which of 100 weights are not 0 after learning y = w·x + noise from 1000 examples, and which should be: eight of size 1."""
        w, x, noise = np.repeat([1.0, 0.0], [8, 92]), rng.normal(size=(1000, 100)), 0.02 * rng.normal(size=1000)
        make, settings = lambda: nn.Linear(100, 1, bias=False).double(), self.settings(lasso, 0.002)
        return trained(make, x, (x @ w + noise)[:, None], settings, rng, nn.functional.mse_loss).weight.detach().numpy()[0] != 0, w != 0

    def measure(self, rng: Generator) -> Checks:
        self.found: list[list[float]] = []  # accuracies in the order of NAMES, for each seed
        shares = {name: (lasso - sgd) / (local - sgd) for name, (_, local, lasso, sgd) in PUBLISHED.items()}
        yield at_least("published: share of that gap", shares, 2 / 3, kind="TABLE")
        yield equal("linear target: which weights are not 0", *self.support(True, rng))

    def sample(self, rng: Generator) -> Checks:
        (conv, _), (local, _), (lasso, self.weights), (sgd, _) = (self.learned(name, rng) for name in NAMES)
        self.found.append([conv, local, lasso, sgd])
        share = (lasso - sgd) / (local - sgd)
        yield headline(at_least("share of the gap S-FC to S-LOCAL that β-lasso closes", share, 2 / 3, kind="STAT"))
        yield at_least("S-LOCAL above S-FC, in accuracy", local - sgd, 0.05, kind="STAT")
        noise = 4 * (0.06 / TESTS) ** 0.5  # standard errors of a difference of two accuracies near 97 %
        yield at_least("S-CONV above S-LOCAL, up to 4 standard errors", conv - local, -noise, kind="STAT")
        yield at_most("share of weights that is kept", float(np.mean(self.weights != 0)), 0.2, kind="STAT")
        yield at_most("share of random masks that are as local", as_local(self.weights != 0, SIDE, rng), 0.01, kind="STAT")

    def control(self, rng: Generator) -> Checks:
        yield because("there is no penalty", equal("linear target, SGD: which weights are not 0", *self.support(False, rng)))
        order = np.arange(SIDE**2).reshape(GRID, CELL, GRID, CELL).transpose(1, 0, 3, 2).ravel()  # pixels of a cell stand GRID apart
        far, conv = self.learned("β-lasso", rng, order)[1], self.learned("S-CONV", rng, order)[0]
        near = at_most("share of random masks that are as local", as_local(far != 0, SIDE, rng), 0.01)
        yield because("the pixels are moved, so that those of one pattern are no neighbours", near)
        yield because("a window no longer holds a pattern", at_least("S-CONV above S-FC on moved pixels", conv - self.found[0][-1], 0.0))

    def plots(self) -> list[Panel]:
        fields = np.abs(self.weights[np.argsort(-np.abs(self.weights).max(1))[:12]]).reshape(3, 4, SIDE, SIDE)
        framed = np.pad(fields, ((0, 0), (0, 0), (0, 1), (0, 1)), constant_values=np.max(fields) / 4).swapaxes(1, 2)
        left = Panel("Weights of 12 units after β-lasso", "four pictures of 9 by 9 pixels", "three of them")
        left.image(framed.reshape(3 * (SIDE + 1), -1)[:-1, :-1], colours="Greys", stretch=False)
        right = Panel("β-lasso closes most of the gap", "network", "accuracy in %").limits(y=(40, 100))
        right.series(range(4), PUBLISHED | {"here": 100 * np.mean(self.found, axis=0)}).ticks(x=dict(enumerate(NAMES)))
        return [left.ticks(x={}, y={}), right]
