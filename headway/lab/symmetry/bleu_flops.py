from collections import Counter

from headway.evaluate.translation import bleu
from headway.evaluate.translation_costs import GPUS, HOURS, SUSTAINED, SYSTEMS, front, lead, points, training_flops
from headway.lab.kit import (
    Checks, Experiment, Generator, Panel, at_least, at_most, because, close, equal, headline, math, np, param,
    printed, published,
)

BOTH = {"Transformer (base)", "Transformer (big)"}
TEXTS = ["the cat sat on the mat today", "there is a small house near the old river"]
REFERENCES = ["the cat sat on a mat today", "there is a little house near the old river bank"]


class BleuFlops(Experiment):
    """The Transformer's table adds up: cost is time × processors × speed, and the base model is on the Pareto front.

        FLOPs = hours · 3600 · 8 · 9.5·10¹²:    base 12 h → 3.3·10¹⁸,    big 3.5 days → 2.3·10¹⁹

    English to German the big model leads the best ensemble before it by more than 2 BLEU, and nothing that is cheaper than the base
    model is better than it. English to French the base model is below all others.

    Notes: A. Source: Vaswani et al. 2017, table 2, https://arxiv.org/abs/1706.03762
    Assumes: both Transformers were trained on 8 processors at 9.5 TFLOP/s; cost is that of one language pair.
    Also: BLEU against training cost; cost of the Transformer.
    """

    tolerance = param(0.01, "relative error of a printed cost", least=0.007, most=0.1)

    def measure(self, rng: Generator) -> Checks:
        self.found = {column: points(column) for column in ("german", "french")}
        costs = {name: abs(training_flops(h) / (SYSTEMS[name].german_cost or 0) - 1) for name, h in HOURS.items()}
        yield headline(at_most("cost from hours, over the printed one: error", costs, self.tolerance))
        yield at_least("lead of the big model, English to German", lead("german"), 2)
        yield published("lead of the big model, English to French", lead("french"), 0.5, 0.02)
        self.fronts = {column: front(found) for column, found in self.found.items()}
        yield equal("English to German: both Transformers are the Pareto front", self.fronts["german"] == BOTH, True)
        yield equal("English to French: both Transformers are the Pareto front", self.fronts["french"] == BOTH, True)
        ratio = (SYSTEMS["GNMT + RL"].german_cost or 0) / (SYSTEMS["Transformer (base)"].german_cost or 1)
        yield published("cost of GNMT over that of the base model", ratio, 7, 0.1)
        yield equal("systems below the base model, English to French", sum(s < 38.1 for _, s in self.found["french"].values()), 0)
        yield close("BLEU of two sentences, by hand", bleu(TEXTS, REFERENCES, resamples=0).value, by_hand(TEXTS, REFERENCES))

    def control(self, rng: Generator) -> Checks:
        one = training_flops(HOURS["Transformer (base)"]) / GPUS / (SYSTEMS["Transformer (base)"].german_cost or 1)
        yield because("one processor is counted", at_most("cost of the base model: error", abs(one - 1), self.tolerance))
        peak = training_flops(HOURS["Transformer (big)"]) / SUSTAINED * 10.6e12 / 2.3e19
        check = at_most("cost of the big model: error", abs(peak - 1), self.tolerance)
        yield because("10.6 TFLOP/s is what a P100 can do at best, not what it does", check)
        known = {name: value for name, value in self.found["german"].items() if not name.startswith("Transformer")}
        check = equal("costs of English-French only: English to German, both are the Pareto front", front(known) == BOTH, True)
        yield printed(check, "A16")

    def plots(self) -> list[Panel]:
        panels = []
        titles = {"german": "English to German: both Transformers are on the front", "french": "English to French: the big one leads"}
        for column, title in titles.items():
            panel, found = Panel(title, "training cost (FLOPs)", "BLEU", log="x"), self.found[column]
            ends = np.array(sorted(found[name] for name in self.fronts[column])).T
            others = np.array([value for name, value in found.items() if name not in BOTH]).T
            panel.target(ends[0], ends[1], "Pareto front").points(others[0], others[1], "other systems", size=30)
            panels.append(panel.points(ends[0], ends[1], "Transformer, base and big", size=40))
        return panels


def by_hand(texts: list[str], references: list[str]) -> float:
    """100 · brevity · (Π p_n)^(1/4) with clipped n-gram precisions p_n of the corpus (Papineni et al. 2002)."""
    logs = 0.0
    for n in (1, 2, 3, 4):
        hits = total = 0
        for text, reference in zip(texts, references, strict=True):
            a, b = (Counter(zip(*(words[i:] for i in range(n)), strict=False)) for words in (text.split(), reference.split()))
            hits, total = hits + sum((a & b).values()), total + sum(a.values())
        logs += math.log(hits / total) / 4
    length, wanted = (sum(len(t.split()) for t in side) for side in (texts, references))
    return 100 * min(1.0, math.exp(1 - wanted / length)) * math.exp(logs)
