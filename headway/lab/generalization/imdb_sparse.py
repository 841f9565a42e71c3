from collections.abc import Callable
from pathlib import Path

from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from torch import nn

from headway.lab.kit import Checks, Experiment, Generator, Panel, at_least, because, headline, param, published
from headway.lab.tools import public_data
from headway.lab.tools.made_texts import Texts, bags, occurrence, pairs
from headway.lab.tools.training import Settings, accuracy, trained
from headway.lab.tools.volume_series import LastState
from headway.models.mlp import MLP, Config

PRINTED = {"lasso": 0.88, "network": 0.88, "Elman": 0.76}  # accuracy, ISL sections 10.4 and 10.5


class IMDBSparse(Experiment):
    """Where words decide and not their order, lasso on word occurrence is as good as a network; a simple recurrent one is worse.

        x_j = 1{word j occurs},        p(y = 1 | x) = σ(b + w·x),        min_w  -Σ log p(y_i | x_i) + λ ||w||_1

    The log-odds are a sum over words: a linear model is right, and λ||w||₁ keeps the few words that matter. An Elman network has to
    carry this sum through every step of its state. On IMDB: lasso 0.88, two hidden layers of 16 units 0.88, Elman 0.76, LSTM 0.87.

    Notes: D. Source: James et al., An Introduction to Statistical Learning, sections 10.4 and 10.5, https://www.statlearning.com
    Assumes: the label depends on which words occur; more words than matter.
    Deviates: the three methods on made texts; with the IMDB reviews lasso alone, `headway reproduce imdb` trains networks on them.
    Also: IMDB bag of words; sparse linear text classifier.
    """

    cost = "M"
    folder = param("data/imdb", "with the reviews; without it made texts only")
    texts = param(2500, "made for training", least=2000, most=20000)
    vocabulary = param(400, "words of the made texts", least=200, most=2000)
    length = param(30, "words of a made text", least=20, most=200)
    steps = param(400, "of training a network, with 64 texts each", least=300, most=4000, full=1500)

    def scores(self, make: Callable[[int, int, int, Generator], Texts], rng: Generator) -> dict[str, float]:
        """Accuracy on the test texts by method."""
        train, test = (make(self.vocabulary, n, self.length, rng) for n in (self.texts, 2000))
        (X, y), (Z, z) = ((occurrence(words, self.vocabulary), labels) for words, labels in (train, test))
        lasso = LogisticRegression(l1_ratio=1.0, C=0.3, solver="liblinear", random_state=0).fit(X, y)
        settings = Settings(self.steps, 64, 3e-3, optimizer="adamw", decay=0.0, clip=1.0)
        net = trained(lambda: MLP(Config(widths=(16, 16), dropout=0.3), self.vocabulary, 2), X, y, settings, rng)
        reader = lambda: nn.Sequential(nn.Embedding(self.vocabulary, 16), LastState(16, 32), nn.Linear(32, 2))  # noqa: E731
        elman = trained(reader, train[0], y, settings, rng)
        return {"lasso": float(lasso.score(Z, z)), "network": accuracy(net, Z, z), "Elman": accuracy(elman, test[0], z)}

    def measure(self, rng: Generator) -> Checks:
        if Path(self.folder).is_dir():
            parts = [public_data.columns(self.folder, "imdb", f"{part}.tsv", "\t") for part in ("train", "test")]
            (X, y), (Z, z) = ((part["text"], part["label"]) for part in parts)
            words = CountVectorizer(max_features=10_000, binary=True).fit(X)
            lasso = LogisticRegression(l1_ratio=1.0, C=0.1, solver="liblinear", random_state=0).fit(words.transform(X), y)
            found = float(lasso.score(words.transform(Z), z))
            yield published("IMDB reviews, 10,000 words: accuracy of lasso", found, PRINTED["lasso"], 0.02)

    def sample(self, rng: Generator) -> Checks:
        self.found = self.scores(bags, rng)
        lasso, net, elman = self.found.values()
        yield headline(at_least("accuracy: lasso above network", lasso - net, -0.01, kind="STAT"))
        yield at_least("accuracy: network above Elman", net - elman, 0.0, kind="STAT")
        yield at_least("accuracy of Elman, above chance", elman, 0.55, kind="STAT")

    def control(self, rng: Generator) -> Checks:
        self.ordered = self.scores(pairs, rng)
        gain = self.ordered["lasso"] - max(self.ordered["network"], self.ordered["Elman"])
        claim = at_least("accuracy: lasso above the better of both networks", gain, -0.01)
        yield because("the label depends on which of two words is first", claim)

    def plots(self) -> list[Panel]:
        left = Panel("Which words occur decides: a line is enough", "method", "accuracy").limits(y=(0.4, 1))
        left.bars([*self.found], [*self.found.values()], "made texts").points(range(3), [*PRINTED.values()], "printed, IMDB", size=50)
        right = Panel("Their order decides: only reading it helps", "method", "accuracy").limits(y=(0.4, 1))
        return [left, right.bars([*self.ordered], [*self.ordered.values()])]
