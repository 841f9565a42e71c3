"""How a model that learned from preferences answers, beside the model that it began with.

    KL(pi || pi_ref) = E_(y ~ pi)[log pi(y | x) - log pi_ref(y | x)]        in nats per response
    win rate = share of prompts where its response is better, ties counting half

Better is what the rule says, where the preference is known because the data were made; else what the reward model says.
Fluency is the perplexity of its responses to that model.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Float

from headway.core.seeds import derive
from headway.decode.responses import log_probabilities
from headway.evaluate.best_of_n import distance_of_best, value_of_best
from headway.evaluate.classification import Z
from headway.models.decoder import LanguageModel
from headway.tasks.panels import Mark, Plot
from headway.tasks.prompting import Prompting
from headway.tasks.ratings import ratings
from headway.tasks.task import Score

Values = Float[np.ndarray, "n"]
PART = 256  # responses that are drawn at once
DRAWS, PROMPTS = 32, 16  # responses to each of so many prompts, for the best of n


@dataclass(frozen=True)
class Drawn:
    """Responses of a model, with what is known of each; `rated` and `worth` are None where nobody can say it."""

    prompts: tuple[str, ...]
    texts: tuple[str, ...]
    own: Values  # log-probability under the model that wrote it
    reference: Values  # and under the model before
    tokens: Values  # how many, the end mark included
    rated: Values | None  # by the reward model
    worth: Values | None  # by the rule

    @property
    def distance(self) -> float:
        """KL(pi || pi_ref)."""
        return float((self.own - self.reference).mean())

    @property
    def perplexity(self) -> float:
        """Of the responses, to the model before."""
        return float(np.exp(-self.reference.sum() / self.tokens.sum()))


@dataclass(frozen=True)
class Comparison:
    """Responses of the model before and of the model after learning, to the same prompts."""

    before: Drawn
    after: Drawn

    @property
    def win_rate(self) -> tuple[float, float, float] | None:
        """The win rate and the ends of its 95 % Wilson interval; None if nobody can say which response is better."""
        mine, other = (d.rated if d.worth is None else d.worth for d in (self.after, self.before))
        if mine is None or other is None:
            return None
        n, k = len(mine), float(((mine > other) + 0.5 * (mine == other)).sum())
        centre, half = k + Z**2 / 2, Z * float(np.sqrt(k * (n - k) / n + Z**2 / 4))
        return k / n, max(0.0, (centre - half) / (n + Z**2)), min(1.0, (centre + half) / (n + Z**2))

    def figures(self) -> dict[str, float]:
        """By name, as far as they are known."""
        found = {"KL": self.after.distance}
        if self.after.rated is not None:
            found["rating"] = float(self.after.rated.mean())
        if self.after.worth is not None:
            found["true reward"] = float(self.after.worth.mean())
        return found | ({"win rate": rate[0]} if (rate := self.win_rate) else {})

    def scores(self, part: str) -> tuple[Score, ...]:
        n = len(self.after.texts)
        by = "the reward model" if self.after.worth is None else "the rule of the made data"
        scores = []
        if rate := self.win_rate:
            scores.append(Score(part, "win rate", *rate, 4, f"{n} responses against the model before, by {by}"))
        moved = self.after.own - self.after.reference
        half = 1.96 * float(moved.std()) / np.sqrt(n)
        mean = self.after.distance
        scores.append(Score(part, "KL", mean, mean - half, mean + half, 3, "nats per response, to the model before"))
        for name, before, after in (
            ("rating", self.before.rated, self.after.rated),
            ("true reward", self.before.worth, self.after.worth),
        ):
            if before is not None and after is not None:
                scores.append(
                    Score(part, name, float(after.mean()), digits=3, signature=f"before: {before.mean():.3f}")
                )
        was = f"of the responses, to the model before; its own have {self.before.perplexity:.2f}"
        return (*scores, Score(part, "perplexity", self.after.perplexity, digits=2, signature=was))

    def samples(self, count: int) -> tuple[tuple[str, ...], ...]:
        return tuple(zip(self.after.prompts, self.before.texts, self.after.texts, strict=True))[:count]

    def verdict(self) -> str:
        rate, ratio = self.win_rate, self.after.perplexity / self.before.perplexity
        fluency = f"; its responses are {ratio:.2f} times as surprising to the model before as its own"
        if rate is None:
            moved = f"{self.after.distance:.1f} nats per response away from the model before{fluency}"
            return f"{moved}; a reward model (`--reward`) could say whether they are better."
        if rate[1] <= 0.5:
            return f"no better than the model before ({rate[0]:.0%} of its responses win): train longer, or choose a smaller `--beta`."
        return f"its responses beat those of the model before in {rate[0]:.0%} of the cases{fluency}."


@dataclass(frozen=True)
class Judge:
    """Who draws and judges responses.

    reference   the model before: the one that training began with
    rater       a reward model, if there is one
    rule        what makes a response good, if that is known
    """

    prompting: Prompting
    reference: LanguageModel
    rater: LanguageModel | None
    rule: Callable[[str], float] | None

    def compare(self, model: LanguageModel, prompts: Sequence[str]) -> Comparison:
        """One response of each model to each prompt."""
        key = tuple(prompts)
        if key not in self._before:
            self._before[key] = self.draw(self.reference, prompts, 1)
        return Comparison(self._before[key], self.draw(model, prompts, 2))

    @cached_property
    def _before(self) -> dict[tuple[str, ...], Drawn]:
        """What the model before answers: it never changes, so it is drawn once."""
        return {}

    def draw(self, model: LanguageModel, prompts: Sequence[str], seed: int) -> Drawn:
        """One response of the model to each prompt."""
        parts = [self._draw(model, prompts[i : i + PART], derive(seed, i)) for i in range(0, len(prompts), PART)]
        texts = tuple(text for part in parts for text in part[0])
        own, reference, tokens, rated = (np.concatenate([part[1][k] for part in parts]) for k in range(4))
        worth = np.array([self.rule(text) for text in texts]) if self.rule else None
        return Drawn(tuple(prompts), texts, own, reference, tokens, rated if self.rater else None, worth)

    @torch.no_grad()
    def _draw(self, model: LanguageModel, prompts: Sequence[str], seed: int) -> tuple[list[str], list[Values]]:
        batch = self.prompting.draw(model, self.prompting.prompts(prompts), seed)
        values = [log_probabilities(m, batch) for m in (model, self.reference)]
        values += [batch.inputs[1].sum(1) - batch.labels, ratings(self.rater, batch) if self.rater else batch.labels]
        return self.prompting.texts(batch), [v.double().cpu().numpy() for v in values]

    def over_optimisation(self, found: Comparison) -> Plot | None:
        """What the reward model's favourite of n responses is worth, against its distance; and where this model stands."""
        if self.rater is None:
            return None
        drawn, chosen = found.after, list(dict.fromkeys(found.after.prompts))[:PROMPTS]
        before = self.draw(self.reference, [prompt for prompt in chosen for _ in range(DRAWS)], 3)
        marks: list[Mark] = []
        for name, values, mine in (
            ("rating of the reward model", before.rated, drawn.rated),
            ("true preference", before.worth, drawn.worth),
        ):
            if values is None or mine is None or before.rated is None:
                continue
            rated, grid = before.rated.reshape(-1, DRAWS), values.reshape(-1, DRAWS)
            middle, spread = float(values.mean()), float(values.std()) or 1.0
            sizes = [2**k for k in range(DRAWS.bit_length())]
            line = [(value_of_best(rated, grid, n) - middle) / spread for n in sizes]
            distances = [distance_of_best(n) for n in sizes]
            marks.append(Mark("line", distances, line, name, labels=[f"the best of {n}" for n in sizes]))
            point = (float(mine.mean()) - middle) / spread
            marks.append(Mark("points", [drawn.distance], [point], name, labels=["this run"]))
        caption = (
            "Lines: of n responses of the model before, the one that the reward model rates highest (Gao et al. 2023); dots: this run. "
            "Where the rating rises and the true preference falls, the rating is over-optimised: choose a larger `--beta`."
        )
        label = "standard deviations above the model before"
        return Plot("Reward against KL", tuple(marks), "KL to the model before, in nats per response", label, caption)
