import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from headway.core.errors import DataError, RunError
from headway.core.files import read_json, write_text
from headway.core.recipe import Recipe
from headway.data.text import Text
from headway.data.token_files import Part, split, tokenize_part
from headway.data.tokens import Tokenizer, train_tokenizer
from headway.data.windows import WindowBatch, Windows
from headway.decode.sample import sample
from headway.evaluate.language import Prediction, predict
from headway.layers.cross_entropy import linear_cross_entropy
from headway.models.decoder import LanguageModel

LEARNED = 50_000_000  # characters that a tokenizer is learned from
JUDGED = 1 << 14  # tokens that are judged at each validation
SAMPLE = 160  # tokens of a sample
CONTEXT = 256  # tokens of a window where the plan has not chosen


@dataclass(frozen=True)
class Corpus:
    """The text to learn from and the text to be judged by."""

    train: Part
    validation: Part

    @property
    def fingerprint(self) -> dict[str, str]:
        """What `--resume` compares."""
        parts = {"train": self.train, "validation": self.validation}
        return {n: f"characters {p.start:,} to {p.stop:,}, sha256 {p.text.size.sha256[:16]}" for n, p in parts.items()}

    @property
    def characters(self) -> int:
        return self.train.stop - self.train.start

    def to_json(self) -> dict[str, Any]:
        return {"text": str(self.train.text.size), "skipped": self.train.text.skipped}

    def said(self) -> str:
        lines = [f"{self.train.text.path}: {self.train.text.size}"]
        for name, why in list(self.train.text.skipped.items())[:10]:
            lines.append(f"  left out: `{name}` is {why}")
        where = "its last tenth" if self.validation.text is self.train.text else f"`{self.validation.text.path}`"
        held_out = self.validation.stop - self.validation.start
        return "\n".join([*lines, f"learning from {self.characters:,} characters; held out: {held_out:,} ({where})"])


class Language:
    """Language modelling: predict the next token of a text.

    loss: cross-entropy of the next token; figures: nats per token, bits per byte, perplexity of held-out text.
    """

    aliases = ("language modelling", "language model", "next-token prediction", "pre-training")
    default_model = "gpt"

    def __init__(self, tokenizer: Tokenizer, context: int) -> None:
        self.tokenizer, self.context = tokenizer, context  # tokens of a window: what a model is trained and judged on

    # -- data --------------------------------------------------------------------------------------------------------

    @staticmethod
    def collect(recipe: Recipe) -> Corpus:
        text = Text(recipe.data.text or "")
        if recipe.data.validation_text is None:
            if text.size.characters < 20:
                raise DataError(f"`{text.path}` holds {text.size.characters} characters: too little to set some apart", "bring more text.")
            return Corpus(*split(text))
        held_out = Text(recipe.data.validation_text)
        return Corpus(Part(text, 0, text.size.characters), Part(held_out, 0, held_out.size.characters))

    @classmethod
    def fit(cls, recipe: Recipe, corpus: Corpus) -> "Language":
        """Learn the vocabulary from the beginning of the training text."""
        pieces = (piece for document in corpus.train.documents() for piece in document)
        return cls(
            train_tokenizer(recipe.tokens.kind, islice(pieces, LEARNED >> 16), recipe.tokens.size or 8000),
            recipe.training.context or CONTEXT,
        )

    def save(self, folder: Path) -> None:
        write_text(folder / "tokenizer.json", self.tokenizer.to_json())

    @classmethod
    def load(cls, recipe: Recipe, folder: Path) -> "Language":
        value = read_json(folder / "tokenizer.json")
        try:
            return cls(Tokenizer.from_json(json.dumps(value)), recipe.training.context or CONTEXT)
        except RunError as problem:
            raise RunError(f"`{folder / 'tokenizer.json'}` is damaged: {problem.message}", problem.hint) from problem

    @property
    def vocabularies(self) -> tuple[int, ...]:
        return (self.tokenizer.size,)

    # -- training ----------------------------------------------------------------------------------------------------

    def open(self, recipe: Recipe, corpus: Corpus, folder: Path) -> tuple[Windows, "Validation"]:
        """Batches and validation. The text is tokenized into files of the run, which are mapped into memory."""
        t, cache = recipe.training, folder / "cache"
        train = tokenize_part(corpus.train, self.tokenizer, cache / "train.tokens")
        held_out = tokenize_part(corpus.validation, self.tokenizer, cache / "validation.tokens")
        if len(held_out.ids) < 2:
            raise DataError("the held-out text is too short to be judged by", "bring more text, or `--validation-text`.")
        rows = max(1, (t.batch or 1) // self.context)
        return Windows(train.ids, self.context, rows, recipe.seed), Validation(self, held_out.ids, held_out.bytes)

    def costliest(self, batches: Windows) -> WindowBatch:
        return batches[0]

    def tokens(self, batch: WindowBatch) -> int:
        return batch.tokens

    def loss(self, model: Any, batch: WindowBatch, smoothing: float) -> tuple[Tensor, Tensor, int]:
        """Summed smoothed loss, summed negative log-likelihood, and the number of tokens."""
        hidden = model(batch.ids[:, :-1]).flatten(0, 1)
        loss, nll = linear_cross_entropy(hidden, model.output.weight, batch.ids[:, 1:].flatten(), smoothing)
        return loss, nll, len(hidden)

    # -- using -------------------------------------------------------------------------------------------------------

    def generate(
        self, model: LanguageModel, prompt: str, temperature: float = 0.8, top_k: int | None = None, top_p: float = 0.95, seed: int = 1
    ) -> Iterator[str]:
        """The continuation of a prompt, piece by piece as it is written; ends at the end mark, or when nobody asks for more."""
        # Nothing to go on: a text begins after a line's end.
        ids = self.tokenizer.encode([prompt])[0] or self.tokenizer.encode(["\n"])[0]
        tail = ids[-8:]  # what a token looks like depends on those just before it, not on all of them
        said = self.tokenizer.decode([tail])[0]
        for token in sample(model, torch.tensor([ids]), temperature, top_k, top_p, seed, self.context):
            if int(token) == self.tokenizer.eos:
                return
            tail.append(int(token))
            text = self.tokenizer.decode([tail])[0]
            if not text.endswith("�") or len(tail) > 16:  # half a character waits for its other bytes
                yield text[len(said) :]
                tail = tail[-8:]
                said = self.tokenizer.decode([tail])[0]

    def judge(self, model: LanguageModel, text: Text, folder: Path) -> Prediction:
        """How well the model predicts a whole text."""
        judged = tokenize_part(Part(text, 0, text.size.characters), self.tokenizer, folder / "judged.tokens")
        if len(judged.ids) < 2:
            raise DataError(f"`{text.path}` is too short to be judged by", "bring more text.")
        return predict(model, judged.ids, judged.bytes, self.context)

    @staticmethod
    def said(figures: dict[str, Any]) -> str:
        sample = figures["samples"][0][1].replace("\n", "\n    ")
        scores = f"{figures['nats']:.4f} nats per token  {figures['bits_per_byte']:.3f} bits per byte"
        return f"{scores}\n    {sample}"


def opening(text: str) -> str:
    """A first line that says something, for samples."""
    return next((line[:60] for line in text.split("\n")[1:] if len(line.strip()) >= 6), text[:20])


class Validation:
    """Held-out text, judged again and again during training: its first tokens then, all of it at the end."""

    def __init__(self, task: Language, tokens: np.ndarray, size: int) -> None:
        self.task, self.tokens, self.size = task, tokens, size

    def __call__(self, model: Any) -> dict[str, Any]:
        part = self.tokens[:JUDGED]
        found = predict(model, part, max(1, round(self.size * len(part) / len(self.tokens))), self.task.context)
        prompt = opening(self.task.tokenizer.decode([self.tokens[:400].tolist()])[0])
        sample = "".join(islice(self.task.generate(model, prompt), SAMPLE))
        return {
            "nats": found.nats,
            "bits_per_byte": found.bits_per_byte,
            "perplexity": found.perplexity,
            "rank": -found.nats,
            "samples": [[prompt, prompt + sample, ""]],
        }

    def whole(self, model: Any) -> Prediction:
        return predict(model, self.tokens, self.size, self.task.context)
