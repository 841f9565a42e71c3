"""Prompts and responses as tokens: ⟨s⟩ prompt ⟨sep⟩ response ⟨/s⟩. What all tasks that answer prompts share."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from headway.core.config import Choice
from headway.core.errors import UsageError
from headway.data.batches import pad
from headway.data.doctor_preferences import PROMPT
from headway.data.labelled_batches import LabelledBatch, TextBatches
from headway.data.preference_batches import PreferenceBatches
from headway.data.table import Table
from headway.data.tokens import Tokenizer
from headway.decode.responses import draw_responses
from headway.decode.sample import sample
from headway.models.decoder import LanguageModel
from headway.tasks.prompt_tables import PAIR
from headway.tasks.task import Base

READ = 1 << 13  # tokens that are read at once without gradients
MARKS = 2  # before the response: begin, and the border between prompt and response


@dataclass(frozen=True)
class Prompting:
    """How prompts and responses are written as tokens."""

    tokenizer: Tokenizer
    context: int  # tokens of prompt, response and marks together
    longest: int  # tokens of a response, its end mark included

    @property
    def room(self) -> int:
        """Tokens of a prompt that can be read; of a longer one the last are."""
        return self.context - self.longest - MARKS

    def prompts(self, texts: Sequence[str]) -> list[list[int]]:
        begin, border = self.tokenizer.bos, self.tokenizer.separator
        return [[begin, *ids[-self.room :], border] for ids in self.tokenizer.encode(list(texts))]

    def batches(self, prompts: Sequence[str], responses: Sequence[str], budget: int, seed: int = 0) -> TextBatches:
        """Prompts with responses; the label of each is where its response begins. A response that is cut has no end mark."""
        first, end = self.prompts(prompts), self.tokenizer.eos
        rest = [[*ids, end][: self.longest] for ids in self.tokenizer.encode(list(responses))]
        rows = [[*x, *y] for x, y in zip(first, rest, strict=True)]
        starts = np.array([len(x) for x in first], dtype=np.int64)
        return TextBatches(rows, starts, budget=budget, seed=seed, padding=self.tokenizer.pad)

    def too_long(self, prompts: Sequence[str], responses: Sequence[str]) -> tuple[int, int]:
        """How many prompts, and how many responses, are cut."""
        encode = self.tokenizer.encode
        return (
            sum(len(ids) > self.room for ids in encode(list(prompts))),
            sum(len(ids) >= self.longest for ids in encode(list(responses))),
        )

    def notes(self, prompts: Sequence[str], responses: Sequence[str]) -> tuple[str, ...]:
        """What a person should know of examples that were cut."""
        first, second = self.too_long(prompts, responses)
        notes = []
        if first:
            notes.append(f"{first:,} prompts are longer than {self.room} tokens, of which the last were read")
        if second:
            notes.append(
                f"{second:,} responses are longer than {self.longest - 1} tokens, of which the first were read"
            )
        return tuple(notes)

    def draw(self, model: LanguageModel, prompts: Sequence[Sequence[int]], seed: int) -> LabelledBatch:
        """One response to each prompt at temperature 1; the label of a row is where its response begins.

        prompts   as `prompts` writes them
        seed      equal seeds give equal responses
        """
        device = next(iter(model.parameters())).device
        lengths = torch.tensor([len(x) for x in prompts], device=device)
        with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
            torch.manual_seed(seed)
            padded = pad(prompts, self.tokenizer.pad).to(device)
            return draw_responses(model, padded, lengths, self.longest, self.tokenizer.eos)

    def texts(self, batch: LabelledBatch) -> list[str]:
        """The responses of such rows, without marks."""
        ids, keep = batch.inputs
        rows = zip(ids.tolist(), keep.sum(1).tolist(), batch.labels.tolist(), strict=True)
        return self.tokenizer.decode([row[begin:stop] for row, stop, begin in rows])

    def generate(
        self, model: LanguageModel, prompt: str, temperature: float, top_k: int | None, top_p: float, seed: int
    ) -> Iterator[str]:
        """The response to a prompt, piece by piece as it is written; ends at the end mark."""
        given = torch.tensor(self.prompts([prompt]), device=model.output.weight.device)
        written: list[int] = []
        before = ""
        for token in sample(model, given, temperature, top_k, top_p, seed, self.context):
            if int(token) == self.tokenizer.eos:
                return
            written.append(int(token))
            text = self.tokenizer.decode([written])[0]
            if not text.endswith("�"):  # half a character waits for its other bytes
                yield text[len(before) :]
                before = text


class AnswersPrompts:
    """A task that serves `generate` with the response to a prompt."""

    continues = False
    prompting: Prompting

    def generate(
        self,
        model: LanguageModel,
        prompt: str,
        temperature: float = 0.8,
        top_k: int | None = None,
        top_p: float = 0.95,
        seed: int = 1,
    ) -> Iterator[str]:
        """The response to a prompt, piece by piece; ends at the end mark."""
        return self.prompting.generate(model, prompt, temperature, top_k, top_p, seed)


def choose_context(context: int | None, longest: int, base: Base | None, model: Choice | None) -> int:
    """The tokens of prompt and response together: as asked, or as the run that this one begins with reads."""
    known = getattr(base.data, "context", None) if base else None
    chosen = context or (known if isinstance(known, int) else 128)
    if chosen < longest + MARKS + 1:
        words = f"a response of {longest} tokens (`--longest`) leaves no room for a prompt in {chosen} (`--context`)"
        raise UsageError(words, "choose a smaller `--longest` or a larger `--context`.")
    limit = model.options.get("context") if model and base else None
    if isinstance(limit, int) and chosen > limit:
        words = f"the model of `{base.folder if base else ''}` reads {limit} tokens at once, not {chosen} (`--context`)"
        raise UsageError(words, f"choose `--context {limit}` or less.")
    return chosen


def require_base(base: Base | None, example: str) -> Base:
    """The run that this one begins with, whose weights and vocabulary it needs."""
    if base is None:
        raise UsageError("which run to begin with? `--from`: a language model that answers prompts", f"`{example}`.")
    return base


def pair_batches(prompting: Prompting, part: Table, pairs: int, seed: int = 0) -> PreferenceBatches:
    """Batches of so many pairs of a table with the columns `prompt`, `chosen` and `rejected`."""
    responses = [text for name in PAIR for text in part.column(name)]
    texts = prompting.batches(part.column(PROMPT) * 2, responses, READ)
    return PreferenceBatches(texts, pairs=pairs, seed=seed)
