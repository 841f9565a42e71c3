import torch
from torch import nn

from headway.lab.kit import Checks, Experiment, Generator, Panel, at_least, because, close, equal, headline, np, param
from headway.lab.tools.motifs import CELL, PATTERNS, motifs
from headway.lab.tools.training import Settings, accuracy, fit, seeded
from headway.models import cnn, mlp

TESTS, SIDE, PIXELS = 2000, 3 * CELL, (3 * CELL) ** 2


class PermutedPixels(Experiment):
    """A fixed permutation of all pixels changes nothing for a fully connected network, and takes from a convolutional one what it uses.

    With P a permutation of the pixels and W_1 Pᵀ in place of the first weights W_1,

        W_1 Pᵀ (P x) = W_1 x,        ∂ℓ/∂(W_1 Pᵀ) = (∂ℓ/∂W_1) Pᵀ,

    so that every step of gradient descent, with momentum or Adam as well, keeps the two networks equal: training takes the same
    way. A filter sees a window of neighbours; after P a window holds pixels of everywhere, and no filter makes up for it.

    Notes: D. Source: Neyshabur 2020, Towards learning convolutions from scratch, https://arxiv.org/abs/2007.13657
    Assumes: one permutation for all pictures; first weights permuted with the pixels; updates that treat all weights of a layer alike.
    Deviates: pictures are made (a pattern of 3 by 3 pixels in one cell, random signs in all others).
    Also: shuffled pixels; flattening a picture.
    """

    cost = "M"
    samples = param(3000, "pictures for training", least=1000, most=20000, small=2000)
    steps = param(400, "of training, with 64 pictures each", least=300, most=3000, small=300, full=2000)
    filters = param(16, "of the convolutional network", least=8, most=64)

    def learn(self, name: str, net: nn.Module, shuffle: np.ndarray, seed: int, kind: type = np.float32) -> float:
        """Train on pictures whose pixels stand in this order; the accuracy on new ones."""
        rng = np.random.default_rng(seed)
        (X, y), (Z, z) = (motifs(3, n, rng, shuffle) for n in (self.samples, TESTS))
        settings = Settings(self.steps, 64, 3e-3, optimizer="adamw", decay=0.0, clip=1e9)
        self.losses[name] = np.array(fit(net, X.astype(kind), y, settings, rng))
        return accuracy(net, Z.astype(kind), z)

    def net(self, kind: str, seed: int) -> mlp.MLP | cnn.CNN:
        with seeded(np.random.default_rng(seed)):
            if kind == "MLP":
                return mlp.MLP(mlp.Config(width=64, depth=1, dropout=0.0), PIXELS, len(PATTERNS)).double()
            return cnn.CNN(cnn.Config(filters=self.filters, depth=1, kernel=3, width=64, dropout=0.0), 1, SIDE, SIDE, len(PATTERNS))

    def measure(self, rng: Generator) -> Checks:
        self.losses: dict[str, np.ndarray] = {}
        self.order, self.seed = rng.permutation(PIXELS), int(rng.integers(2**32))
        plain, moved = self.net("MLP", self.seed), self.net("MLP", self.seed)
        with torch.no_grad():
            moved.layers[0].weight.copy_(plain.layers[0].weight[:, self.order])  # type: ignore[index, operator, union-attr]
        same = self.learn("MLP", plain, np.arange(PIXELS), self.seed, np.float64)
        other = self.learn("MLP, permuted", moved, self.order, self.seed, np.float64)
        yield headline(close("fully connected: the loss of each step", self.losses["MLP, permuted"], self.losses["MLP"], 1e-9))
        yield equal("fully connected: test pictures named rightly", round(TESTS * other), round(TESTS * same))
        yield at_least("fully connected: the loss falls by", self.losses["MLP"][0] / self.losses["MLP"][-20:].mean(), 1.5)

    def sample(self, rng: Generator) -> Checks:
        seed, order = int(rng.integers(2**32)), rng.permutation(PIXELS)
        orders = {"CNN": np.arange(PIXELS), "CNN, permuted": order}
        plain, other = (self.learn(name, self.net("CNN", seed), o, seed) for name, o in orders.items())
        yield at_least("convolutional: accuracy lost by the permutation", plain - other, 0.05, kind="STAT")

    def control(self, rng: Generator) -> Checks:
        self.learn("first weights not permuted", self.net("MLP", self.seed), self.order, self.seed, np.float64)
        found = self.losses["first weights not permuted"]
        claim = close("fully connected: the loss of each step", found, self.losses["MLP"], 1e-9)
        yield because("only the pixels are permuted, not the first weights", claim)
        turned = np.arange(PIXELS).reshape(SIDE, SIDE).T.ravel()
        plain, other = (self.learn("", self.net("CNN", self.seed), o, self.seed) for o in (np.arange(PIXELS), turned))
        yield because("it keeps neighbours together", at_least("convolutional: accuracy lost by a mirror image", plain - other, 0.05))

    def plots(self) -> list[Panel]:
        curves = {name: np.convolve(loss, np.ones(20) / 20, "valid") for name, loss in self.losses.items()}
        steps = np.arange(len(curves["MLP"])) + 20
        left = Panel("Fully connected: the same way, step by step", "step", "loss, mean of 20")
        left.target(steps, curves["MLP"], "as it is").curve(steps, curves["MLP, permuted"], "permuted, and first weights")
        left.control(steps, curves["first weights not permuted"], "permuted, weights not")
        right = Panel("Convolutional: the way is lost", "step", "loss, mean of 20")
        return [left, right.curve(steps, curves["CNN"], "as it is").control(steps, curves["CNN, permuted"], "permuted")]
