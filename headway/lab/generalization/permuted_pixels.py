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

    def learn(self, kind: str, order: np.ndarray, seed: int, weights: bool = False) -> tuple[np.ndarray, float]:
        """Train on pictures whose pixels stand in this order, the first weights as well or not: losses, and accuracy on new pictures."""
        rng, real, few = np.random.default_rng(seed), np.float64 if kind == "MLP" else np.float32, len(PATTERNS)
        wide, small = cnn.Config(filters=self.filters, depth=1, kernel=3, width=64, dropout=0.0), mlp.Config(width=64, depth=1, dropout=0.0)
        with seeded(np.random.default_rng(seed)):
            net = mlp.MLP(small, PIXELS, few).double() if kind == "MLP" else cnn.CNN(wide, 1, SIDE, SIDE, few)
        if weights:
            net.layers[0].weight.data = net.layers[0].weight.data[:, order]  # type: ignore[union-attr, operator, index]
        (X, y), (Z, z) = (motifs(3, n, rng, order) for n in (self.samples, TESTS))
        settings = Settings(self.steps, 64, 3e-3, optimizer="adamw", decay=0.0, clip=1e9)
        return np.array(fit(net, X.astype(real), y, settings, rng)), accuracy(net, Z.astype(real), z)

    def measure(self, rng: Generator) -> Checks:
        self.order, self.seed, plain = rng.permutation(PIXELS), int(rng.integers(2**32)), np.arange(PIXELS)
        (self.plain, same), (self.moved, other) = self.learn("MLP", plain, self.seed), self.learn("MLP", self.order, self.seed, True)
        yield headline(close("fully connected: the loss of each step", self.moved, self.plain, 1e-9))
        yield equal("fully connected: test pictures named rightly", round(TESTS * other), round(TESTS * same))
        yield at_least("fully connected: the loss falls by", self.plain[0] / self.plain[-20:].mean(), 1.5)

    def sample(self, rng: Generator) -> Checks:
        seed, order = int(rng.integers(2**32)), rng.permutation(PIXELS)
        self.conv, (plain, other) = zip(*(self.learn("CNN", o, seed) for o in (np.arange(PIXELS), order)), strict=True)
        yield at_least("convolutional: accuracy lost by the permutation", plain - other, 0.05, kind="STAT")

    def control(self, rng: Generator) -> Checks:
        self.alone, _ = self.learn("MLP", self.order, self.seed)
        claim = close("fully connected: the loss of each step", self.alone, self.plain, 1e-9)
        yield because("only the pixels are permuted, not the first weights", claim)
        turned = np.arange(PIXELS).reshape(SIDE, SIDE).T.ravel()
        plain, other = (self.learn("CNN", o, self.seed)[1] for o in (np.arange(PIXELS), turned))
        yield because("it keeps neighbours together", at_least("convolutional: accuracy lost by a mirror image", plain - other, 0.05))

    def plots(self) -> list[Panel]:
        steps, mean = np.arange(20, self.steps + 1), lambda losses: np.convolve(losses, np.ones(20) / 20, "valid")
        left = Panel("Fully connected: the same way, step by step", "step", "loss, mean of 20").target(steps, mean(self.plain), "as it is")
        left.curve(steps, mean(self.moved), "permuted, and first weights").control(steps, mean(self.alone), "permuted, weights not")
        right = Panel("Convolutional: the way is lost", "step", "loss, mean of 20").curve(steps, mean(self.conv[0]), "as it is")
        return [left, right.control(steps, mean(self.conv[1]), "permuted")]
