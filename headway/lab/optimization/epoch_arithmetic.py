import torch

from headway.data.number_batches import NumberBatches
from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, equal, headline, np, param
from headway.models import mlp, shallow


def visits(batches: NumberBatches, epoch: int) -> tuple[np.ndarray, np.ndarray]:
    """The sizes of the batches of an epoch, and how often each example comes; the example's number is its label."""
    rows = [batches[epoch * len(batches) + i].labels.numpy() for i in range(len(batches))]
    return np.array([row.size for row in rows]), np.bincount(np.concatenate(rows), minlength=len(batches.wanted))


def loaded(n: int, batch: int, keep_all: bool = True) -> list[int]:
    """The sizes of the batches of torch's `DataLoader`."""
    return [len(rows) for rows in torch.utils.data.DataLoader(range(n), batch, drop_last=not keep_all)]  # type: ignore[arg-type]


def parameters(build: type[torch.nn.Module], config: object, features: int) -> dict[str, int]:
    """The parameters of a registered model with one output by name, counted without memory for them."""
    with torch.device("meta"):
        return {name: p.numel() for name, p in build(config, features, 1).named_parameters()}


class EpochArithmetic(Experiment):
    """An epoch of N examples in batches of B is ⌈N/B⌉ updates; a hidden layer of M units on d inputs has (d + 2)M parameters.

        N = 60 000, B = 128:   468.75 -> 469 updates, the last batch has 96        with a fifth held out, N = 48 000:   375

    Each example comes once in an epoch. Batches may be filled one after the other, as torch's `DataLoader` does, or be of sizes that
    differ by at most one, as this project's are: the number of updates is the same. In (d + 2)M each unit has d weights, a bias and an
    output weight; the output's own bias is one more. A picture of 1000×1000 pixels before 1000 hidden units makes 10⁹ weights.

    Notes: D. Source: James, Witten, Hastie and Tibshirani, An Introduction to Statistical Learning, ch. 10, https://www.statlearning.com
    Assumes: the last batch is kept when it is not full.
    Also: updates per epoch; batches of an epoch.
    """

    examples = param(60_000, "N, examples of the training set", least=100, most=1_000_000)
    batch = param(128, "B, examples of a batch", least=1, most=10_000)
    epochs = param(2, "epochs through the project's own batches", least=1, most=10)
    units = param(1000, "M, hidden units", least=1, most=100_000)

    def conditions(self) -> list[tuple[bool, str]]:
        fits = self.examples % self.batch > 0 and self.examples <= 20_000 * self.batch
        return [(fits, "N must not be a multiple of B, and be at most 20 000 times of it")]

    def measure(self, rng: Generator) -> Checks:
        n, b, held = self.examples, self.batch, self.examples - self.examples // 5
        updates, last, seed = -(-n // b), n % b, int(rng.integers(2**31))
        batches, fewer = (NumberBatches([np.zeros((k, 1), np.float32)], np.arange(k), rows=b, seed=seed) for k in (n, held))
        seen = [visits(batches, epoch) for epoch in range(self.epochs)]
        self.sizes, self.loader = seen[0][0], loaded(n, b)
        yield headline(equal(f"updates of an epoch, ⌈{n}/{b}⌉", len(batches), updates))
        found = [len(self.loader), self.loader[-1]]
        yield equal(f"torch's DataLoader: {updates} updates, {last} in the last batch", found, np.array([updates, last]))
        once = np.stack([count for _, count in seen])
        yield equal("visits of each example in each epoch", once, np.ones(once.shape, dtype=int))
        yield at_most("sizes of the project's batches, largest - least", int(np.ptp(self.sizes)), 1, kind="EXACT")
        yield equal(f"updates with a fifth held out, ⌈{held}/{b}⌉", len(fewer), -(-held // b))
        counts = [sum(parameters(shallow.Shallow, shallow.Config(width=self.units), d).values()) for d in (10, 784)]
        wanted = [(d + 2) * self.units + 1 for d in (10, 784)]
        yield equal("d = 10, 784: parameters, (d + 2)M and the output's bias", np.array(counts), wanted)
        deep = parameters(mlp.MLP, mlp.Config(depth=1, width=self.units), 1000 * 1000)
        yield equal("1000×1000 pixels: weights of the first layer", max(deep.values()), 10**6 * self.units)

    def control(self, rng: Generator) -> Checks:
        fewer = loaded(self.examples, self.batch, keep_all=False)
        yield because("the last batch is dropped", equal("torch's DataLoader: updates", len(fewer), len(self.loader)))
        yield because("the last batch is dropped", equal("examples of an epoch", sum(fewer), self.examples))

    def plots(self) -> list[Panel]:
        left, b = Panel("Batch sizes of one epoch", "batch", "examples"), 2 ** np.arange(0, 13)
        left.curve(range(len(self.loader)), self.loader, "filled in turn")
        left.curve(range(self.sizes.size), np.sort(self.sizes)[::-1], "equal sizes")
        right = Panel("Updates of an epoch", "batch size B", "updates", log="xy")
        return [left, right.series(b, -(-self.examples // b), f"N = {self.examples}").mark(self.batch, f"B = {self.batch}")]
