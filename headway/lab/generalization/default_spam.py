from headway.core.config import Choice
from headway.lab.kit import (
    Checks, Experiment, Generator, Panel, at_least, at_most, because, headline, np, param, published,
)
from headway.lab.tools.made_tables import Rows, defaults, spam
from headway.lab.tools.training import Settings, fit, predict, seeded
from headway.models.build import build_model
from headway.models.classical.logistic_regression import LogisticRegression

KINDS = {"plain": (0.0, 0.0), "dropout": (0.4, 0.0), "weight decay": (0.0, 1e-3)}  # dropout, L2


class DefaultSpam(Experiment):
    """Where the log-odds are linear, a network of ten units gains nothing over logistic regression, whatever restrains it.

        log p/(1 - p) = -10.87 + 0.00574 balance + 0.000003 income - 0.647 student        (Default),

        log p/(1 - p) = Σ_j f_j(x_j)        (spam)

    On Default both err about 2.7 % of the time, which is noise that no method can predict. On spam logistic regression errs 7.6 %, an
    additive model 5.5 %: f_j is a step rather than a line, and a network can bend.

    Notes: D. Source: James et al., An Introduction to Statistical Learning, exercise 10.7; Hastie et al., The Elements of Statistical
    Learning, section 9.1.2, https://hastie.su.domains/ElemStatLearn/
    Assumes: log-odds that are linear in the columns; many more rows than parameters.
    Deviates: tables are made, with the sizes of the public ones; Default from the coefficients that the book prints.
    Also: credit default and spam; network against logistic regression.
    """

    cost = "M"
    rows = param(10_000, "of Default for training", least=3000, most=50_000)
    steps = param(1200, "of training, with 256 rows each; fewer leave a rare class unlearned", least=1000, most=4000)
    repeats = param(5, "networks of each kind, with seeds of their own", least=3, most=20, small=3, full=10)

    def networks(self, train: Rows, test: Rows, kind: str, rng: Generator) -> list[float]:
        """Per cent wrong of each repeat, and last of their mean as an ensemble."""
        (X, y), (Z, z), (dropout, l2) = train, test, KINDS[kind]
        every = []
        for _ in range(self.repeats):
            with seeded(rng):
                net = build_model(Choice("mlp", {"widths": (10,), "dropout": dropout}), {"features": X.shape[1], "outputs": 2})
            fit(net, X, y, Settings(self.steps, 256, 0.03, optimizer="adamw", decay=0.0, l2=l2, clip=1e9), rng)
            scores = np.exp(predict(net, Z))
            every.append(scores / scores.sum(1, keepdims=True))
        return [wrong(p.argmax(1), z) for p in (*every, np.mean(every, axis=0))]

    def sample(self, rng: Generator) -> Checks:
        train, test = defaults(self.rows, rng), defaults(20_000, rng)
        self.logistic = wrong(LogisticRegression().fit(*train).predict(test[0]), test[1])
        found = {kind: self.networks(train, test, kind, rng) for kind in KINDS}
        self.effects = {kind: np.array(errors[:-1]) - self.logistic for kind, errors in found.items()}
        self.effects["ensemble"] = np.array(found["plain"][-1:]) - self.logistic
        gains = {kind: abs(float(effect.mean())) for kind, effect in self.effects.items()}
        yield headline(at_most("Default: |network - logistic|, points of error, mean", gains, 0.3, kind="STAT"))
        yield published("Default: per cent wrong, logistic", self.logistic, 2.7, 0.6)
        yield at_least("Default: share of 1, above the error of logistic", 100 * float(test[1].mean()) - self.logistic, 0.2, kind="STAT")

    def control(self, rng: Generator) -> Checks:
        train, test = spam(3065, rng), spam(10_000, rng)
        self.line = wrong(LogisticRegression().fit(*train).predict(test[0]), test[1])
        self.bent = np.array(self.networks(train, test, "dropout", rng)[:-1]) - self.line
        gain = at_most("spam: |network - logistic|, points of error, mean", abs(float(self.bent.mean())), 0.3)
        yield because("the log-odds are steps of the columns, not lines", gain)

    def plots(self) -> list[Panel]:
        effects = self.effects | {"spam: dropout": self.bent}
        title, y = "A network gains only where the log-odds bend", "error above logistic, points"
        panel = Panel(title, "kind of network, on Default and spam", y)
        panel.bars(list(effects), [float(effect.mean()) for effect in effects.values()], "mean of the repeats")
        for i, effect in enumerate(effects.values()):
            panel.points(np.full(len(effect), i), effect, "" if i else "each", "#1f2937")
        return [panel]


def wrong(guess: np.ndarray, truth: np.ndarray) -> float:
    return 100 * float(np.mean(guess != truth))
