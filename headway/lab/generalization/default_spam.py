from scipy.special import softmax

from headway.lab import style
from headway.lab.kit import Checks, Experiment, Generator, Panel, at_least, at_most, because, headline, np, param, published
from headway.lab.tools.made_tables import Rows, Table, default_probability, defaults, mean_error, spam, spam_probability
from headway.lab.tools.training import Settings, fit, predict, seeded
from headway.models.classical.logistic_regression import LogisticRegression
from headway.models.mlp import MLP, Config

KINDS = {"plain": (0.0, 0.0), "dropout": (0.4, 0.0), "weight decay": (0.0, 1e-3)}  # dropout, strength of L2
TESTS = 20_000


class DefaultSpam(Experiment):
    """Where the log-odds are linear, a network of ten units gains nothing over logistic regression, whatever restrains it.

        log p/(1 - p) = -10.87 + 0.00574 balance + 0.000003 income - 0.647 student   (Default),      Σ_j f_j(x_j)   (spam)

    On Default logistic regression has the right form and errs hardly more than the best rule that knows p, 2.7 %; always "no" errs 3.1 %. A
    network can reach that and no more. On spam the f_j are steps: a line errs (7.6 % in the book, additive 5.5 %), a network bends.

    Notes: D. Source: James et al., ISL, exercise 10.7; Hastie et al., ESL, section 9.1.2, https://hastie.su.domains/ElemStatLearn/
    Assumes: log-odds that are linear in the columns; many more rows than parameters.
    Deviates: tables are made, Default from the coefficients that the book prints: p is known, and an error is its mean over p.
    Also: credit default and spam; network against logistic regression.
    """

    cost = "M"
    rows = param(10_000, "of Default for training", least=5000, most=50_000)
    steps = param(400, "of training, with 1000 rows each; fewer leave a rare class unlearned", least=400, most=4000)
    repeats = param(3, "networks of each kind, with seeds of their own", least=3, most=20, full=10)

    def networks(self, train: Rows, x: np.ndarray, kind: str, rng: Generator) -> tuple[np.ndarray, list[float]]:
        """p(1 | x) of each network, and its loss at the end of training."""
        (dropout, l2), shares, losses = KINDS[kind], [], []
        settings = Settings(self.steps, 1000, 0.03, optimizer="adamw", decay=0.0, l2=l2, clip=1e9)
        for _ in range(self.repeats):
            with seeded(rng):
                net = MLP(Config(widths=(10,), activation="tanh", dropout=dropout), x.shape[1], 2)
            losses.append(float(np.mean(fit(net, *train, settings, rng)[-20:])))
            shares.append(softmax(predict(net, x), axis=1)[:, 1])
        return np.array(shares), losses

    def compare(self, table: Table, kinds: tuple[str, ...], rows: int, rng: Generator) -> tuple[dict[str, float], dict[str, np.ndarray]]:
        """Errors of logistic regression, of the best rule and of "no"; those of networks, by kind, less that of logistic regression."""
        train, (x, _), (_, chance) = table[0](rows, rng), table[0](TESTS, rng), table
        p = chance(x)
        line = mean_error(LogisticRegression().fit(*train).predict(x) == 1, p)
        found = {kind: self.networks(train, x, kind, rng) for kind in kinds}
        gaps = {kind: np.array([mean_error(each > 0.5, p) - line for each in shares]) for kind, (shares, _) in found.items()}
        shares, losses = found[kinds[0]]
        gaps |= {"ensemble": np.array([mean_error(shares.mean(0) > 0.5, p) - line]), "best": gaps[kinds[0]][[int(np.argmin(losses))]]}
        return {"logistic": line, "best": mean_error(p > 0.5, p), "no": mean_error(p > 1, p)}, gaps

    def measure(self, rng: Generator) -> Checks:
        self.errors, self.gaps = self.compare((defaults, default_probability), tuple(KINDS), self.rows, rng)
        gains = {kind: -gap for kind, gap in self.gaps.items() if kind != "best"}
        yield headline(at_most("Default: gain of a network over logistic regression, points", gains, 0.1, kind="TABLE"))
        yield at_most("Default: loss of that which fits best, points", self.gaps["best"], 0.3, kind="TABLE")
        yield published("Default: per cent wrong, logistic regression", self.errors["logistic"], 2.7, 0.3)
        line, best, no = self.errors.values()
        yield at_most("Default: logistic regression above the best rule, points", line - best, 0.1, kind="TABLE")
        yield at_least("Default: always \"no\" above logistic regression, points", no - line, 0.2)

    def control(self, rng: Generator) -> Checks:
        self.bent = self.compare((spam, spam_probability), ("dropout",), 3065, rng)[1]
        gain = at_most("spam: gain of the ensemble over logistic regression, points", -self.bent["ensemble"], 0.1)
        yield because("the log-odds are steps of the columns, not lines", gain)

    def plots(self) -> list[Panel]:
        gaps = {kind: gap for kind, gap in self.gaps.items() if kind != "best"}
        left = Panel("Default: no network gains", "kind of network", "error above logistic, points").ticks(x=dict(enumerate(gaps)))
        left.points(np.repeat(range(len(gaps)), [*map(len, gaps.values())]), np.concatenate([*gaps.values()]), "", style.INK, 30)
        left.level(self.errors["no"] - self.errors["logistic"], "always no").level(0.0, "logistic")
        right = Panel("Spam: networks gain", "repeat, and ensemble", "error above logistic, points")
        every = np.append(self.bent["dropout"], self.bent["ensemble"])
        return [left, right.bars([*map(str, range(1, len(every))), "ensemble"], every)]
