import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from headway.core.config import Choice, require
from headway.data.doctor_preferences import PROMPT
from headway.data.labelled_batches import LabelledBatch
from headway.data.preference_batches import PreferenceBatch, PreferenceBatches, value_of_each
from headway.data.table import Table
from headway.data.tokens import Tokenizer
from headway.models.decoder import LanguageModel
from headway.tasks.held_out import read_tables, write_tables
from headway.tasks.labelled_task import LabelledTask
from headway.tasks.labels import LabelledCorpus
from headway.tasks.prompt_tables import COLUMNS, PAIR, collect_pairs, read_pairs, recognised
from headway.tasks.prompting import Prompting, choose_context, pair_batches, require_base
from headway.tasks.ratings import Margins, ratings
from headway.tasks.recipe import Proposal, Recipe
from headway.tasks.sizing import usual_rate
from headway.tasks.task import Base, Figure, Judgement, Loss, Score, Validation
from headway.tasks.uses import Predicted
from headway.tasks.vocabulary import VocabularyState, tokenizer_of

FEW = 100  # validation pairs below which weights are ranked by their loss alone
SHOWN, PAIRS = 10, 64  # samples of a judgement, and pairs that are judged at once
EXAMPLE = "headway train reward --preferences pairs.jsonl --from runs/chat"


@dataclass(frozen=True)
class Data:
    preferences: str | None = None  # a prompt, the chosen and the rejected response per row: .jsonl .tsv .csv .parquet
    validation_preferences: str | None = (
        None  # held-out pairs to choose the best weights by; without them a part is set apart
    )
    test_preferences: str | None = None  # held-out pairs to judge the end result by; without them a part is set apart
    context: int | None = None  # tokens of prompt and response together (default: as in the run of `--from`)
    longest: int | None = None  # tokens of a response; longer ones are cut (default: as in the run of `--from`, or 64)

    def __post_init__(self) -> None:
        require(
            (self.context is None or self.context >= 1, "`--context` must be at least 1"),
            (self.longest is None or self.longest >= 1, "`--longest` must be at least 1"),
        )


class Reward(VocabularyState[Data], LabelledTask[Data, Table, PreferenceBatch, LanguageModel, PreferenceBatches]):
    """A reward model: a rating of responses that is learned from which of two responses people prefer.

        loss = -log sigmoid(r(x, chosen) - r(x, rejected))        (Bradley and Terry 1952)

    The third stage of lecture E ("loss: a learned version of human rating"). Ouyang et al. 2022,
    https://arxiv.org/abs/2203.02155; where r is read is written in `ratings.py`. Figures: how often the chosen response
    is rated higher, and the loss, of held-out pairs.
    """

    aliases = ("reward model", "reward modelling", "learned rating", "Bradley-Terry model")
    reads, gives, model = "tokens", "next token", "gpt"
    unit, loss_unit = "pairs", "nats per pair"
    figures = (Figure("accuracy", digits=4, scale="0 to 1"), Figure("loss", "nats per pair", "lower", 4))
    columns = ("prompt", "chosen", "rejected", "margin")
    uses = ("predict",)
    files = ("preferences", "validation_preferences", "test_preferences")
    tested = ("preferences",)
    at_once = PAIRS
    averages = "numbers"

    def __init__(self, data: Data, tokenizer: Tokenizer) -> None:
        super().__init__(data, tokenizer)
        self.prompting = Prompting(tokenizer, data.context or 128, data.longest or 64)

    # -- data ----------------------------------------------------------------------------------------------------------

    @classmethod
    def collect(cls, data: Data, seed: int) -> LabelledCorpus[Table]:
        parts = {"validation": data.validation_preferences, "test": data.test_preferences}
        return collect_pairs(data.preferences, parts, seed, EXAMPLE)

    @classmethod
    def recognise(cls, paths: Sequence[str]) -> Data | None:
        return Data(preferences=paths[0]) if recognised(paths, COLUMNS) else None

    @classmethod
    def propose(cls, recipe: Recipe[Data], corpus: LabelledCorpus[Table], base: Base | None) -> Proposal[Data]:
        """The model of the run that this one begins with; a rating is learned with a small rate."""
        base, data, t = require_base(base, EXAMPLE), recipe.data, recipe.training
        longest = data.longest or getattr(base.data, "longest", None) or 64
        model = recipe.model or Choice(base.model.name, base.model.options)
        settled = dataclasses.replace(data, context=choose_context(data.context, longest, base, model), longest=longest)
        batch, rate = min(64, max(8, len(corpus.train) // 20)), usual_rate(t, base, len(corpus.train), 4e-3)
        return Proposal(settled, model, t.batch or batch, rate)

    @classmethod
    def fit(cls, data: Data, corpus: LabelledCorpus[Table], base: Base | None) -> "Reward":
        return cls(data, tokenizer_of(require_base(base, EXAMPLE).task))

    def describe(self) -> str:
        return "a rating of each response; a guess costs ln 2 = 0.693 nats per pair"

    # -- training ------------------------------------------------------------------------------------------------------

    def prepare(self, corpus: LabelledCorpus[Table], folder: Path, batch: int, seed: int) -> PreferenceBatches:
        write_tables(corpus.held_out, folder)
        return self._batches(corpus.train, batch, seed)

    def _batches(self, part: Table, batch: int, seed: int = 0) -> PreferenceBatches:
        return pair_batches(self.prompting, part, batch, seed)

    def loss(self, model: LanguageModel, batch: PreferenceBatch) -> Loss:
        chosen, rejected = ratings(model, batch.texts).float().chunk(2)
        total = -F.logsigmoid(chosen - rejected).sum()
        return Loss(total, total.detach(), len(batch))

    def validate(self, model: LanguageModel, folder: Path) -> Validation:
        part, batches = self._held_out(folder)["validation"]
        rated = self._ratings(model, batches)
        margins = Margins(rated[0] - rated[1])
        figures = {"accuracy": margins.accuracy.value, "loss": margins.loss}
        score = -margins.loss if len(part) < FEW else margins.accuracy.value - 1e-3 * margins.loss
        return Validation(figures, score, samples(part, margins.values, 3))

    def _ratings(self, model: LanguageModel, batches: PreferenceBatches) -> np.ndarray:
        """The ratings of all chosen responses (row 0) and of all rejected ones (row 1)."""
        device = next(iter(model.parameters())).device
        return value_of_each(batches.texts, device, lambda b: ratings(model, b)).reshape(2, -1)

    def _read_parts(self, folder: Path) -> dict[str, Table]:
        return read_tables(folder, COLUMNS)

    # -- judging -------------------------------------------------------------------------------------------------------

    def _judgement(
        self, model: LanguageModel, name: str, part: Table, batches: PreferenceBatches, sizes: dict[str, int]
    ) -> Judgement:
        rated = self._ratings(model, batches)
        margins = Margins(rated[0] - rated[1])
        found, size = margins.accuracy, f"{len(part):,} pairs"
        scores = (
            Score(name, "accuracy", found.value, found.low, found.high, 4, f"{size}, Wilson's interval"),
            Score(name, "nats per pair", margins.loss, digits=4),
            Score(name, "calibration error", margins.calibration_error, digits=4, signature="15 bins"),
        )
        notes = (*length_note(part, rated), *self.prompting.notes(part.column(PROMPT), part.column(PAIR[0])))
        shown = samples(part, margins.values, SHOWN)
        return Judgement(scores, shown, verdict(margins), sizes, "pairs", notes, panels=(margins.panel(),))

    def _given(self, data: Data) -> tuple[Table, tuple[str, ...]]:
        return read_pairs(data.preferences)

    def example(self, model: LanguageModel) -> tuple[Callable[[], Tensor], int]:
        device = next(iter(model.parameters())).device
        ids = torch.zeros(2, self.prompting.context, dtype=torch.long, device=device)
        batch = LabelledBatch((ids, torch.ones_like(ids, dtype=torch.bool)), ids[:, 0])
        return lambda: ratings(model, batch), 1

    def commands(self, folder: str, judgement: Judgement) -> list[str]:
        return [
            f"evaluate {folder} --preferences pairs.jsonl",
            f"train preferences --preferences pairs.jsonl --method policy --reward {folder} --from runs/chat --out runs/policy",
        ]

    # -- using ---------------------------------------------------------------------------------------------------------

    def predict(self, model: LanguageModel, data: Data) -> Predicted:
        """The rating of the chosen and of the rejected response of each pair."""
        part, left_out = self._given(data)
        rated = self._ratings(model, self._batches(part, PAIRS))
        rows = zip(part.column(PROMPT), rated[0].tolist(), rated[1].tolist(), strict=True)
        columns = ("prompt", "rating of chosen", "rating of rejected")
        warnings = (*left_out, *self.prompting.notes(part.column(PROMPT), part.column(PAIR[0])))
        return Predicted(columns, tuple((p, f"{a:.4f}", f"{b:.4f}") for p, a, b in rows), warnings=warnings)


def samples(part: Table, margins: np.ndarray, count: int) -> tuple[tuple[str, ...], ...]:
    """Half of them the pairs whose rejected response is rated higher by most, half of them the surest right ones."""
    order = np.argsort(margins, kind="stable").tolist()
    rows = dict.fromkeys([*order[: -(-count // 2)], *reversed(order[-(count // 2) :])])
    cells = [part.column(name) for name in COLUMNS]
    return tuple((*(column[i] for column in cells), f"{margins[i]:+.2f}") for i in rows)


def length_note(part: Table, rated: np.ndarray) -> tuple[str, ...]:
    """How strongly the ratings follow the length of a response: a rating that does so much can be pleased by words alone."""
    words = np.array([len(text.split()) for name in PAIR for text in part.column(name)], dtype=np.float64)
    flat = rated.reshape(-1).astype(np.float64)
    if not words.std() or not flat.std():
        return ()
    return (f"the correlation of the rating with the number of words is {np.corrcoef(words, flat)[0, 1]:+.2f}",)


def verdict(margins: Margins) -> str:
    found = margins.accuracy
    if found.low <= 0.5:
        return (
            "no better than a guess: train longer, bring more pairs, or see whether the choices follow a rule at all."
        )
    if margins.loss > 0.6931:
        return (
            f"it rates the chosen response higher in {found.value:.1%} of the pairs, but it is far too sure of itself."
        )
    return f"it rates the chosen response higher in {found.value:.1%} of the pairs; a guess would in 50 %."
