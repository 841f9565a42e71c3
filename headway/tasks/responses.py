import dataclasses
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from headway.core.config import Choice, require
from headway.core.seeds import derive
from headway.data.doctor_preferences import PROMPT
from headway.data.labelled_batches import LabelledBatch, TextBatches
from headway.data.preference_batches import value_of_each
from headway.data.table import Table
from headway.data.tokens import Tokenizer
from headway.decode.responses import in_response, log_probabilities
from headway.layers.cross_entropy import output_cross_entropy
from headway.models.decoder import LanguageModel
from headway.tasks.brought import brought_parts, require_path
from headway.tasks.held_out import read_tables, write_tables
from headway.tasks.labelled_task import LabelledTask
from headway.tasks.labels import LabelledCorpus
from headway.tasks.prompt_tables import RESPONSE, collect_prompts, read_prompts, recognised
from headway.tasks.prompting import READ, AnswersPrompts, Prompting, choose_context
from headway.tasks.recipe import Proposal, Recipe
from headway.tasks.shell import quote
from headway.tasks.sizing import sized, usual_rate
from headway.tasks.task import Base, Figure, Judgement, Loss, Score, Validation
from headway.tasks.vocabulary import VocabularyState, learn_tokenizer, size_for

SHOWN = 8  # samples of a judgement
WHICH = "which prompts? `--table`: one prompt and its response per row"


@dataclass(frozen=True)
class Data:
    table: str | None = None  # one prompt and its response per row: .jsonl .tsv .csv .parquet, `-` for standard input
    prompt: str = "prompt"  # the column of the prompts, by name or number
    response: str = "response"  # the column of the responses, by name or number
    validation_table: str | None = None  # held-out rows to choose the best weights by; without them a part is set apart
    test_table: str | None = None  # held-out rows to judge the end result by; without them a part is set apart
    tokens: Literal["bpe", "wordpiece", "unigram", "words", "characters", "bytes"] = (
        "bpe"  # what the model reads and writes; with `--from` those of that run
    )
    vocabulary: int | None = None  # how many different tokens (default: by the size of the data)
    context: int | None = None  # tokens of prompt and response together (default: as in the run of `--from`, or 128)
    longest: int = 64  # tokens of a response; longer ones are cut and reported

    def __post_init__(self) -> None:
        require(
            (self.vocabulary is None or self.vocabulary >= 1, "`--vocabulary` must be at least 1"),
            (self.context is None or self.context >= 1, "`--context` must be at least 1"),
            (self.longest >= 1, "`--longest` must be at least 1"),
            (self.prompt != self.response, f"the column `{self.prompt}` cannot be both the prompt and the response"),
        )


class Responses(
    AnswersPrompts, VocabularyState[Data], LabelledTask[Data, Table, LabelledBatch, LanguageModel, TextBatches]
):
    """Supervised fine-tuning: a language model learns to answer prompts, from prompts with responses.

        loss = -sum_t log p(y_t | x, y_<t)        over the tokens of the response y and its end mark; the prompt x is only read

    The second stage of lecture E, after pre-training (`language`) and before preferences (`reward`, `preferences`).
    Ouyang et al. 2022, https://arxiv.org/abs/2203.02155. Figures: nats per token and perplexity of held-out responses.
    """

    aliases = ("supervised fine-tuning", "instruction tuning", "instruction fine-tuning", "SFT", "dialogue", "chat")
    reads, gives, model = "tokens", "next token", "gpt"
    unit, loss_unit = "tokens", "nats per token"
    figures = (Figure("loss", "nats per token", "lower", 4), Figure("perplexity", "", "lower", 2))
    columns = ("prompt", "response")
    uses, continues = ("generate",), False
    files = ("table", "validation_table", "test_table")
    tested = ("table", "prompt", "response")
    at_once = READ

    def __init__(self, data: Data, tokenizer: Tokenizer) -> None:
        super().__init__(data, tokenizer)
        self.prompting = Prompting(tokenizer, data.context or 128, data.longest)

    # -- data ----------------------------------------------------------------------------------------------------------

    @classmethod
    def collect(cls, data: Data, seed: int) -> LabelledCorpus[Table]:
        path = require_path(data.table, WHICH, "train responses")
        columns, brought = columns_of(data), brought_parts(data.validation_table, data.test_table)
        return collect_prompts(path, columns, brought, seed, "responses")

    @classmethod
    def recognise(cls, paths: Sequence[str]) -> Data | None:
        return Data(table=paths[0]) if recognised(paths, (PROMPT, RESPONSE)) else None

    @classmethod
    def propose(cls, recipe: Recipe[Data], corpus: LabelledCorpus[Table], base: Base | None) -> Proposal[Data]:
        data, t = recipe.data, recipe.training
        context = choose_context(data.context, data.longest, base, recipe.model)
        hurried = t.minutes is not None and t.minutes <= 3
        model = sized(
            recipe.model or Choice(cls.model),
            width=128 if hurried else 256,
            depth=4,
            inner=4,
            head_width=48,
            dropout=0.0,
            more={"context": context},
        )
        size = data.vocabulary or size_for(data.tokens, _texts(corpus.train))
        settled = dataclasses.replace(data, context=context, vocabulary=size)
        return Proposal(
            settled, model, t.batch or (1024 if hurried else 4096), usual_rate(t, base, len(corpus.train), 8e-3)
        )

    @classmethod
    def fit(cls, data: Data, corpus: LabelledCorpus[Table], base: Base | None) -> "Responses":
        """Learn the vocabulary from prompts and responses, or take over that of the run that this one begins with."""
        return cls(data, learn_tokenizer(data.tokens, _texts(corpus.train), data.vocabulary, base))

    # -- training ------------------------------------------------------------------------------------------------------

    def prepare(self, corpus: LabelledCorpus[Table], folder: Path, batch: int, seed: int) -> TextBatches:
        write_tables(corpus.held_out, folder)
        return self._batches(corpus.train, batch, seed)

    def _batches(self, part: Table, budget: int, seed: int = 0) -> TextBatches:
        return self.prompting.batches(part.column(PROMPT), part.column(RESPONSE), budget, seed)

    def loss(self, model: LanguageModel, batch: LabelledBatch) -> Loss:
        ids, counted = batch.inputs[0], in_response(batch)
        wanted = ids[:, 1:][counted]
        total, plain = output_cross_entropy(model.output, model(ids[:, :-1])[counted], wanted)
        return Loss(total, plain, len(wanted))

    def validate(self, model: LanguageModel, folder: Path) -> Validation:
        part, batches = self._held_out(folder)["validation"]
        nats = self._nats(model, batches)[0]
        prompt = part.column(PROMPT)[0]
        return Validation(
            {"loss": nats, "perplexity": math.exp(nats)}, -nats, ((prompt, self._response(model, prompt)),)
        )

    def _response(self, model: LanguageModel, prompt: str) -> str:
        return self.prompting.texts(self.prompting.draw(model, self.prompting.prompts([prompt]), derive(1, prompt)))[0]

    def _nats(self, model: LanguageModel, batches: TextBatches) -> tuple[float, float, int]:
        """Nats per token of the responses, the standard error of that over responses, and how many tokens there are."""
        device = next(iter(model.parameters())).device
        logs = value_of_each(batches, device, lambda b: log_probabilities(model, b)).astype(np.float64)
        counts = batches.lengths - batches.labels
        n = int(counts.sum())
        nats = float(-logs.sum() / n)
        return nats, float(np.sqrt(((-logs - nats * counts) ** 2).sum()) / n), n

    def _read_parts(self, folder: Path) -> dict[str, Table]:
        return read_tables(folder, (PROMPT, RESPONSE))

    # -- judging -------------------------------------------------------------------------------------------------------

    def _judgement(
        self, model: LanguageModel, name: str, part: Table, batches: TextBatches, sizes: dict[str, int]
    ) -> Judgement:
        """How well held-out responses are predicted, and what the model answers to their prompts."""
        nats, error, count = self._nats(model, batches)
        scores = (
            Score(name, "nats per token", nats, nats - 1.96 * error, nats + 1.96 * error, 4, f"{count:,} tokens"),
            Score(name, "perplexity", math.exp(nats), digits=3, signature="of the responses, given their prompts"),
        )
        prompts = list(dict.fromkeys(part.column(PROMPT)))[:SHOWN]
        samples = tuple((prompt, self._response(model, prompt)) for prompt in prompts)
        notes = self.prompting.notes(part.column(PROMPT), part.column(RESPONSE))
        return Judgement(scores, samples, verdict(nats, self.tokenizer.size), sizes, "responses", notes)

    def _given(self, data: Data) -> tuple[Table, tuple[str, ...]]:
        part, report = read_prompts(require_path(data.table, WHICH, "evaluate"), columns_of(data))
        return part, report.left_out

    def example(self, model: LanguageModel) -> tuple[Callable[[], Tensor], int]:
        ids = torch.zeros(1, self.prompting.context, dtype=torch.long, device=next(iter(model.parameters())).device)
        return lambda: model.logits(model(ids)), self.prompting.context

    def commands(self, folder: str, judgement: Judgement) -> list[str]:
        prompt = quote(judgement.samples[0][0][:80] if judgement.samples else "...")
        return [
            f"generate {folder} --prompt {prompt}",
            f"evaluate {folder} --table held_out.jsonl",
            f"train reward --preferences pairs.jsonl --from {folder} --out runs/reward",
        ]


def columns_of(data: Data) -> dict[str, str]:
    """What each column is here -> its name in the person's table."""
    return {PROMPT: data.prompt, RESPONSE: data.response}


def _texts(part: Table) -> list[str]:
    return [*part.column(PROMPT), *part.column(RESPONSE)]


def verdict(nats: float, vocabulary: int) -> str:
    """How much of the uncertainty about a token is gone, in words."""
    share = 1 - nats / math.log(vocabulary)
    if share < 0.3:
        return "it has learned little of the responses: train longer, begin with a pre-trained run (`--from`), or bring more data."
    return (
        f"it is {math.exp(nats):.1f} times unsure about the next token of a response, of {vocabulary:,} possible ones."
    )
