import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import cycle, islice
from pathlib import Path
from typing import Literal, cast

import numpy as np
import torch
from torch import Tensor, nn

from headway.core.config import Choice, require
from headway.core.errors import UsageError
from headway.data import made_preferences
from headway.data.doctor_preferences import PROMPT
from headway.data.labelled_batches import LabelledBatch, TextBatches
from headway.data.preference_batches import PreferenceBatch, PreferenceBatches, value_of_each
from headway.data.table import Table
from headway.data.tokens import Tokenizer
from headway.decode.responses import log_probabilities
from headway.models.decoder import LanguageModel
from headway.tasks.held_out import read_tables, write_tables
from headway.tasks.labelled_task import LabelledTask
from headway.tasks.labels import LabelledCorpus
from headway.tasks.other_run import copy_run, load_model, open_base
from headway.tasks.preference_methods import Dpo, Ipo, PairLoss, PolicyGradient, pair_loss
from headway.tasks.preferred_responses import Judge
from headway.tasks.prompt_tables import COLUMNS, PAIR, collect_pairs, read_pairs
from headway.tasks.prompting import AnswersPrompts, Prompting, choose_context, pair_batches, require_base
from headway.tasks.ratings import Margins
from headway.tasks.recipe import Proposal, Recipe
from headway.tasks.reward import EXAMPLE as REWARD_EXAMPLE
from headway.tasks.reward import Reward
from headway.tasks.shell import quote
from headway.tasks.sizing import default_rate
from headway.tasks.task import Base, Figure, Judgement, Loss, Score, Validation
from headway.tasks.vocabulary import load_tokenizer, save_tokenizer, tokenizer_of

DRAWN, VALIDATED = 400, 100  # responses that a judgement and a validation draw
SHOWN, PAIRS = 10, 64  # samples of a judgement, and pairs that are judged at once
REFERENCE, REWARD = "reference", "reward"  # the other runs, inside the run
EXAMPLE = "headway train preferences --preferences pairs.jsonl --from runs/chat"


@dataclass(frozen=True)
class Data:
    preferences: str | None = None  # a prompt, the chosen and the rejected response per row: .jsonl .tsv .csv .parquet
    validation_preferences: str | None = (
        None  # held-out pairs to choose the best weights by; without them a part is set apart
    )
    test_preferences: str | None = None  # held-out pairs to judge the end result by; without them a part is set apart
    method: Literal["dpo", "ipo", "policy"] = (
        "dpo"  # from the pairs themselves (`dpo`, `ipo`), or by drawing responses that a reward model rates (`policy`)
    )
    reward: str | None = None  # the run of a reward model: `policy` learns from it, the others are judged by it
    beta: float = 0.1  # how close the model stays to where it began: the larger, the closer
    smoothing: float = 0.0  # share of the choices that `dpo` takes to be wrong
    responses: int = 4  # drawn for each prompt by `policy`, at least 2
    context: int | None = None  # tokens of prompt and response together (default: as in the run of `--from`)
    longest: int | None = None  # tokens of a response; longer ones are cut (default: as in the run of `--from`, or 64)
    truth: Literal["unknown", "made"] = "unknown"  # `made`: pairs of headway.data.made_preferences, whose rule judges

    def __post_init__(self) -> None:
        require(
            (self.context is None or self.context >= 1, "`--context` must be at least 1"),
            (self.longest is None or self.longest >= 1, "`--longest` must be at least 1"),
            (0 < self.beta < float("inf"), f"`--beta` must be a number above 0, not {self.beta}"),
            (0 <= self.smoothing < 0.5, f"`--smoothing` must be at least 0 and less than 0.5, not {self.smoothing}"),
            (self.responses >= 2, f"`--responses` must be at least 2, not {self.responses}"),
            (
                self.method != "policy" or self.reward is not None,
                "`--method policy` needs a reward model: `--reward RUN`",
            ),
        )


class Preferences(
    AnswersPrompts, LabelledTask[Data, Table, PreferenceBatch | LabelledBatch, LanguageModel, PreferenceBatches]
):
    """Learning from preferences: a model that answers prompts learns which of two responses people prefer.

        dpo      -log sigmoid(beta [log pi(c)/pi_ref(c) - log pi(r)/pi_ref(r)])        from pairs of chosen c and rejected r
        policy   maximise E_(y ~ pi)[r(y)] - beta KL(pi || pi_ref)                      from the ratings of a reward model

    The last stage of lecture E; equations and papers are in `preference_methods.py`. pi_ref is the run of `--from`, which
    the run keeps a copy of. Figures: how often the chosen response is the more probable one (relative to pi_ref), the
    distance to pi_ref, and how often a drawn response beats one of pi_ref.
    """

    aliases = ("RLHF", "DPO", "IPO", "direct preference optimisation", "direct preference optimization",
               "preference tuning", "reinforcement learning from human feedback", "policy gradient", "REINFORCE")  # fmt: skip
    reads, gives, model = "tokens", "next token", "gpt"
    unit, loss_unit = "examples", "loss per example"
    figures = (
        Figure("win rate", digits=3, scale="0 to 1"),
        Figure("pair accuracy", digits=3, scale="0 to 1"),
        Figure("KL", "nats per response", "lower", 2),
        Figure("rating", "", "higher", 2),
        Figure("true reward", "", "higher", 2),
        Figure("loss", "loss per example", "lower", 4),
    )
    columns = ("prompt", "before", "after")
    uses, continues = ("generate",), False
    files = ("preferences", "validation_preferences", "test_preferences", "reward")
    tested = ("preferences",)
    at_once = PAIRS

    def __init__(self, data: Data, tokenizer: Tokenizer, reference: Path, reward: Path | None) -> None:
        self.data, self.tokenizer, self.folders = data, tokenizer, (reference, reward)
        self.prompting = Prompting(tokenizer, data.context or 128, data.longest or 64)

    # -- data ----------------------------------------------------------------------------------------------------------

    @classmethod
    def collect(cls, data: Data, seed: int) -> LabelledCorpus[Table]:
        parts = {"validation": data.validation_preferences, "test": data.test_preferences}
        return collect_pairs(data.preferences, parts, seed, EXAMPLE)

    @classmethod
    def recognise(cls, paths: Sequence[str]) -> Data | None:
        return None  # pairs are recognised as data of a reward model

    @classmethod
    def propose(cls, recipe: Recipe[Data], corpus: LabelledCorpus[Table], base: Base | None) -> Proposal[Data]:
        """The model of the run that this one begins with, without dropout, so that it begins as its own reference."""
        base, data, t = require_base(base, EXAMPLE), recipe.data, recipe.training
        longest = data.longest or getattr(base.data, "longest", None) or 64
        model = recipe.model or Choice(base.model.name, base.model.options)
        if "dropout" in model.options:
            model = Choice(model.name, model.options | {"dropout": 0.0})
        settled = dataclasses.replace(data, context=choose_context(data.context, longest, base, model), longest=longest)
        usual = default_rate(t.optimizer, 1e-2) / 10
        batch = t.batch or min(32 if data.method == "policy" else 64, max(8, len(corpus.train) // 20))
        return Proposal(settled, model, batch, t.rate or usual)

    @classmethod
    def fit(cls, data: Data, corpus: LabelledCorpus[Table], base: Base | None) -> "Preferences":
        base = require_base(base, EXAMPLE)
        tokenizer, reward = tokenizer_of(base.task), Path(data.reward) if data.reward else None
        if reward is not None:
            rater = open_base(reward)
            if not isinstance(rater.task, Reward):
                raise UsageError(f"`{reward}` is not a reward model (`--reward`)", f"make one: `{REWARD_EXAMPLE}`.")
            if rater.task.tokenizer.fingerprint != tokenizer.fingerprint:
                words = f"the reward model `{reward}` reads other tokens than `{base.folder}`"
                raise UsageError(words, f"train it `--from {base.folder}`.")
        return cls(data, tokenizer, base.folder, reward)

    def save(self, folder: Path) -> None:
        """With copies of the runs that it needs: they may move away."""
        save_tokenizer(self.tokenizer, folder / "tokenizer.json")
        reference, reward = self.folders
        copy_run(reference, folder / REFERENCE)
        if reward is not None:
            copy_run(reward, folder / REWARD)

    @classmethod
    def load(cls, data: Data, folder: Path) -> "Preferences":
        reward = folder / REWARD if data.reward else None
        return cls(data, load_tokenizer(folder / "tokenizer.json"), folder / REFERENCE, reward)

    @property
    def sizes(self) -> dict[str, int]:
        return {"vocabulary": self.tokenizer.size}

    def describe(self) -> str:
        return f"{self.data.method} with beta {self.data.beta:g}"

    @cached_property
    def _judge(self) -> Judge:
        """With the reference and the reward model, which nothing changes any more."""
        with torch.random.fork_rng(
            devices=[]
        ):  # building them draws numbers, and a step must be a function of (seed, n)
            reference, rater = (cast(LanguageModel, load_model(open_base(f))) if f else None for f in self.folders)
        rule = made_preferences.rule if self.data.truth == "made" else None
        return Judge(self.prompting, cast(LanguageModel, reference), rater, rule)

    def _judge_on(self, model: LanguageModel) -> Judge:
        """Who draws and judges responses, on the device of the model."""
        for other in filter(None, (self._judge.reference, self._judge.rater)):
            cast(nn.Module, other).to(next(iter(model.parameters())).device)
        return self._judge

    # -- training ------------------------------------------------------------------------------------------------------

    def prepare(
        self, corpus: LabelledCorpus[Table], folder: Path, batch: int, seed: int
    ) -> PreferenceBatches | TextBatches:
        """Pairs with their log-probabilities before training; or prompts, each once."""
        write_tables(corpus.held_out, folder)
        if self.data.method != "policy":
            return self._batches(corpus.train, batch, seed)
        prompts = self.prompting.prompts(list(dict.fromkeys(corpus.train.column(PROMPT))))
        budget = round(batch * sum(map(len, prompts)) / len(prompts))
        none = np.zeros(len(prompts), dtype=np.int64)
        return TextBatches(prompts, none, budget=budget, seed=seed, padding=self.tokenizer.pad)

    def _batches(self, part: Table, batch: int, seed: int = 0) -> PreferenceBatches:
        """Pairs with their log-probabilities under the reference, which are computed once."""
        found = pair_batches(self.prompting, part, batch, seed)
        found.reference = self._logs(self._judge.reference, found)
        return found

    def _logs(self, model: LanguageModel, pairs: PreferenceBatches) -> np.ndarray:
        device = next(iter(model.parameters())).device
        return value_of_each(pairs.texts, device, lambda b: log_probabilities(model, b))

    @property
    def _pair_loss(self) -> PairLoss:
        return Ipo(self.data.beta) if self.data.method == "ipo" else Dpo(self.data.beta, self.data.smoothing)

    def loss(self, model: LanguageModel, batch: PreferenceBatch | LabelledBatch) -> Loss:
        if isinstance(batch, PreferenceBatch):
            return pair_loss(self._pair_loss, model, batch)
        judge, d, p = self._judge_on(model), self.data, self.prompting
        rater = cast(LanguageModel, judge.rater)  # `Data` asks for one
        return PolicyGradient(d.beta, d.responses, p.longest, p.tokenizer.eos, judge.reference, rater).loss(
            model, batch
        )

    def validate(self, model: LanguageModel, folder: Path) -> Validation:
        """Weights are kept by the loss that training minimises: of pairs, or the cost of the distance less the rating."""
        part, pairs = self._held_out(folder)["validation"]
        ratios = self._log_ratios(model, pairs)
        found = self._judge_on(model).compare(model, prompts_of(part, VALIDATED))
        figures = {"pair accuracy": Margins(ratios).accuracy.value} | found.figures()
        if self.data.method == "policy":
            figures["loss"] = self.data.beta * figures["KL"] - figures["rating"]
        else:
            figures["loss"] = float(self._pair_loss.of(torch.from_numpy(ratios)).mean())
        return Validation(figures, -figures["loss"], found.samples(3))

    def _log_ratios(self, model: LanguageModel, pairs: PreferenceBatches) -> np.ndarray:
        """h of each pair (`preference_methods.py`)."""
        moved = (self._logs(model, pairs) - pairs.reference).reshape(2, -1)
        return moved[0] - moved[1]

    def _read_parts(self, folder: Path) -> dict[str, Table]:
        return read_tables(folder, COLUMNS)

    # -- judging -------------------------------------------------------------------------------------------------------

    def _judgement(
        self, model: LanguageModel, name: str, part: Table, batches: PreferenceBatches, sizes: dict[str, int]
    ) -> Judgement:
        """How the model answers held-out prompts, beside the model it began with; and how it ranks held-out pairs."""
        ratios, judge = self._log_ratios(model, batches), self._judge_on(model)
        found = judge.compare(model, prompts_of(part, DRAWN))
        right = Margins(ratios).accuracy
        scores = (*found.scores(name), Score(name, "pair accuracy", right.value, right.low, right.high, 4))
        tokens = (batches.texts.lengths - batches.texts.labels).sum()
        before, after = (
            float(np.exp(-logs.sum() / tokens)) for logs in (batches.reference, self._logs(model, batches))
        )
        notes = (
            f"the perplexity of the responses of the held-out pairs is {after:.2f}, it was {before:.2f} before",
            *self.prompting.notes(part.column(PROMPT), part.column(PAIR[0])),
        )
        panels = (judge.over_optimisation(found), Margins(self.data.beta * ratios).panel())
        return Judgement(
            scores, found.samples(SHOWN), found.verdict(), sizes, "pairs", notes, panels=tuple(filter(None, panels))
        )

    def _given(self, data: Data) -> tuple[Table, tuple[str, ...]]:
        return read_pairs(data.preferences)

    def example(self, model: LanguageModel) -> tuple[Callable[[], Tensor], int]:
        ids = torch.zeros(1, self.prompting.context, dtype=torch.long, device=next(iter(model.parameters())).device)
        return lambda: model.logits(model(ids)), 1

    def commands(self, folder: str, judgement: Judgement) -> list[str]:
        prompt = quote(judgement.samples[0][0][:80] if judgement.samples else "...")
        return [f"generate {folder} --prompt {prompt}", f"evaluate {folder} --preferences pairs.jsonl"]


def prompts_of(part: Table, count: int) -> list[str]:
    """So many prompts of a part: each once, then again from the first."""
    return list(islice(cycle(dict.fromkeys(part.column(PROMPT))), count))
