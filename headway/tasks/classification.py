import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from headway.core.config import Choice, require
from headway.core.files import write_json
from headway.data.labelled_batches import LabelledBatch, TextBatches
from headway.data.segments import SINGLE, mark_text
from headway.data.table import Table
from headway.data.tokens import Tokenizer
from headway.models.classifier import Classifier
from headway.tasks.answers import FIGURES, Predictions, label_loss
from headway.tasks.brought import brought_parts, require_path
from headway.tasks.held_out import read_kept, read_tables, write_tables
from headway.tasks.labelled_task import LabelledTask
from headway.tasks.labelled_texts import LABEL, TEXT, collect_texts, guess_columns, likely_columns, read_texts
from headway.tasks.labels import Classes, LabelledCorpus
from headway.tasks.recipe import Proposal, Recipe
from headway.tasks.shell import quote
from headway.tasks.sizing import longest_text, sized, usual_rate, width_of
from headway.tasks.task import Base, Judgement, Loss, Validation
from headway.tasks.text_maps import text_maps
from headway.tasks.uses import Classified, Map
from headway.tasks.vocabulary import learn_tokenizer, load_tokenizer, save_tokenizer, size_for, unseen_characters

BATCH = 64  # texts that are judged or classified at once
LONGEST = 512  # tokens of a text that are read, unless the model or the person says otherwise
SAMPLE = 300  # characters of a text in a sample
WHICH = "which texts? `--table`: one text and its class per row"


@dataclass(frozen=True)
class Data:
    table: str | None = None  # one text and its class per row: .tsv .csv .jsonl .parquet, `-` for standard input
    text: str | None = None  # the column of the texts, by name or number (default: `text`)
    label: str | None = None  # the column of the classes, by name or number (default: `label`)
    validation_table: str | None = None  # held-out rows to choose the best weights by; without them a part is set apart
    test_table: str | None = None  # held-out rows to judge the end result by; without them a part is set apart
    tokens: Literal["bpe", "wordpiece", "unigram", "words", "characters", "bytes"] = "bpe"  # what the model reads
    vocabulary: int | None = None  # how many different tokens (default: by the size of the data)
    longest: int | None = None  # tokens; longer texts are cut and reported (default: 512, or what the model can read)
    smoothing: float = 0.0  # label smoothing

    def __post_init__(self) -> None:
        require(
            (self.vocabulary is None or self.vocabulary >= 1, "`--vocabulary` must be at least 1"),
            (self.longest is None or self.longest >= 1, "`--longest` must be at least 1"),
            (0 <= self.smoothing < 1, f"`--smoothing` must be at least 0 and less than 1, not {self.smoothing}"),
        )


@dataclass(frozen=True)
class Seen:
    """What training has seen: the median length of its texts in tokens, how many were cut, and all characters."""

    median: int
    cut: int
    characters: str


class Classification(LabelledTask[Data, Table, LabelledBatch, Classifier, TextBatches]):
    """Text classification: a text in, the probability of each class out.

    loss: cross-entropy of the class; figures: accuracy, macro F1 and loss of held-out texts.
    """

    aliases = ("text classification", "sentiment analysis", "topic classification", "document classification")
    reads, gives, model = "tokens", "one vector", "encoder"
    unit, loss_unit = "examples", "nats per example"
    figures = FIGURES
    columns = ("input", "predicted", "true", "confidence")
    uses = ("classify", "inspect")
    files = ("table", "validation_table", "test_table")
    tested = ("table", "text", "label")
    at_once = BATCH

    def __init__(self, data: Data, tokenizer: Tokenizer, classes: Classes, seen: Seen) -> None:
        self.data, self.tokenizer, self.classes, self.seen = data, tokenizer, classes, seen
        self.longest = data.longest or LONGEST

    # -- data ----------------------------------------------------------------------------------------------------------

    @classmethod
    def collect(cls, data: Data, seed: int) -> LabelledCorpus[Table]:
        path = require_path(data.table, WHICH, "train classification")
        return collect_texts(path, data.text, data.label, brought_parts(data.validation_table, data.test_table), seed)

    @classmethod
    def recognise(cls, paths: Sequence[str]) -> Data | None:
        found = guess_columns(paths[0]) if len(paths) == 1 else None
        return Data(paths[0], *found) if found else None

    @classmethod
    def options_for(cls, paths: Sequence[str]) -> tuple[str, ...]:
        found = likely_columns(paths[0]) if len(paths) == 1 else None
        return ("--table", paths[0], "--text", found[0], "--label", found[1]) if found else ()

    @classmethod
    def propose(cls, recipe: Recipe[Data], corpus: LabelledCorpus[Table], base: Base | None) -> Proposal[Data]:
        """Few texts want a small model and much dropout; a short budget a narrow one."""
        data, t = recipe.data, recipe.training
        texts = corpus.train.column("text")
        grade = (len(texts) >= 2000) + (len(texts) >= 50_000)
        narrow = grade == 2 and t.minutes is not None and t.minutes < 5
        chosen = recipe.model or Choice(cls.model)
        longest = longest_text(chosen, data.longest, LONGEST)
        model = sized(
            chosen,
            width=width_of(base, (64, 128, 256)[grade - narrow]),
            depth=(1, 2, 3)[grade],
            inner=4,
            head_width=32,
            dropout=(0.3, 0.2, 0.1)[grade],
            more={"context": longest + SINGLE},
        )
        size = data.vocabulary or size_for(data.tokens, texts)
        settled = dataclasses.replace(data, vocabulary=size, longest=longest)
        return Proposal(settled, model, t.batch or (32, 64, 128)[grade], usual_rate(t, base, len(texts)))

    @classmethod
    def fit(cls, data: Data, corpus: LabelledCorpus[Table], base: Base | None) -> "Classification":
        """Learn the vocabulary and the classes, or take them over from the run that this one begins with."""
        texts, labels = list(corpus.train.column("text")), corpus.train.column("label")
        tokenizer = learn_tokenizer(data.tokens, texts, data.vocabulary, base)
        lengths = np.array([len(ids) for ids in tokenizer.encode(texts)])
        longest = data.longest or LONGEST
        cut, median = int((lengths > longest).sum()), int(np.median(np.minimum(lengths, longest)))
        seen = Seen(median, cut, "".join(sorted(set().union(*texts))))
        return cls(data, tokenizer, Classes.of(labels, base.task if base else None), seen)

    def save(self, folder: Path) -> None:
        save_tokenizer(self.tokenizer, folder / "tokenizer.json")
        self.classes.save(folder)
        write_json(folder / "seen.json", asdict(self.seen))

    @classmethod
    def load(cls, data: Data, folder: Path) -> "Classification":
        path = folder / "seen.json"
        seen = read_kept(Seen, path)
        return cls(data, load_tokenizer(folder / "tokenizer.json"), Classes.load(folder), seen)

    @property
    def sizes(self) -> dict[str, int]:
        return {"vocabulary": self.tokenizer.size, "outputs": len(self.classes.names)}

    def describe(self) -> str:
        cut = f", {self.seen.cut:,} training texts cut to {self.longest} tokens" if self.seen.cut else ""
        return f"{self.tokenizer.kind} vocabulary of {self.tokenizer.size:,}, {self.classes.describe()}{cut}"

    # -- training ------------------------------------------------------------------------------------------------------

    def prepare(self, corpus: LabelledCorpus[Table], folder: Path, batch: int, seed: int) -> TextBatches:
        for part in corpus.held_out.values():  # a label that training lacks is reported now
            self.classes.numbers(part.column("label"), part.origin)
        write_tables(corpus.held_out, folder)
        return self._batches(corpus.train, batch, seed)

    def _batches(self, part: Table, batch: int, seed: int = 0) -> TextBatches:
        """Batches of about `batch` texts: as many tokens as so many of mean length have."""
        ids = self._encode(part.column("text"))
        budget = round(batch * sum(map(len, ids)) / len(ids))
        labels = self.classes.numbers(part.column("label"), part.origin)
        return TextBatches(ids, labels, budget=budget, seed=seed, padding=self.tokenizer.pad)

    def _encode(self, texts: Sequence[str]) -> list[list[int]]:
        """The first `longest` tokens of each text between their marks."""
        return [mark_text(ids, self.longest) for ids in self.tokenizer.encode(list(texts))]

    def loss(self, model: Classifier, batch: LabelledBatch) -> Loss:
        return label_loss(model, batch, self.data.smoothing)

    def validate(self, model: Classifier, folder: Path) -> Validation:
        part, batches = self._held_out(folder)["validation"]
        texts = part.column("text")
        return Predictions.of(model, batches, self.classes.names).validation(lambda i: texts[i][:SAMPLE])

    def _read_parts(self, folder: Path) -> dict[str, Table]:
        return read_tables(folder, (TEXT, LABEL))

    # -- judging -------------------------------------------------------------------------------------------------------

    def _judgement(
        self, model: Classifier, name: str, part: Table, batches: TextBatches, sizes: dict[str, int]
    ) -> Judgement:
        texts = part.column("text")
        cut = sum(len(ids) > self.longest for ids in self.tokenizer.encode(list(texts)))
        notes = [f"{cut:,} texts are longer than {self.longest} tokens and were cut"] if cut else []
        found = Predictions.of(model, batches, self.classes.names)
        return found.judgement(name, self.classes.majority, lambda i: texts[i][:SAMPLE], sizes, "texts", notes)

    def _given(self, data: Data) -> tuple[Table, tuple[str, ...]]:
        """A table that a person brings; its columns are named as in training unless they are given."""
        path = require_path(data.table, WHICH, "evaluate")
        part, report = read_texts(path, data.text or self.data.text, data.label or self.data.label)
        return part, report.left_out

    def example(self, model: Classifier) -> tuple[Callable[[], Tensor], int]:
        ids = torch.zeros(1, self.seen.median + SINGLE, dtype=torch.long, device=next(iter(model.parameters())).device)
        return lambda: model.logits(model(ids, torch.ones_like(ids, dtype=torch.bool))), 1

    def commands(self, folder: str, judgement: Judgement) -> list[str]:
        text = quote(" ".join(judgement.samples[0][0][:80].split()) if judgement.samples else "...")
        return [
            f"classify {folder} {text}",
            f"evaluate {folder} --table test.tsv",
            f"inspect {folder} {text} --out maps.html",
        ]

    # -- using ---------------------------------------------------------------------------------------------------------

    def classify(self, model: Classifier, inputs: Sequence[str]) -> list[Classified]:
        whole = self.tokenizer.encode(list(inputs))
        part = Table({"text": tuple(inputs), "label": (self.classes.majority,) * len(inputs)}, (), "")
        found = Predictions.of(model, self._batches(part, BATCH), self.classes.names)
        return found.classified([self._warnings(text, len(ids)) for text, ids in zip(inputs, whole, strict=True)])

    def _warnings(self, text: str, tokens: int) -> tuple[str, ...]:
        """What should make a person look twice at an answer."""
        warnings = [] if text.strip() else ["the text is empty"]
        warnings += unseen_characters(text, self.seen.characters)
        if tokens > self.longest:
            warnings.append(f"the text has {tokens:,} tokens, of which the first {self.longest:,} were read")
        return tuple(warnings)

    def attention(self, model: Classifier, text: str, target: str | None = None) -> tuple[list[Map], str]:
        """Maps of every layer and head for a text, none if the model does not attend; and the class it names."""
        ids = self._encode([text])[0]
        row = torch.tensor([ids], device=next(iter(model.parameters())).device)
        forward = partial(model, row, torch.ones_like(row, dtype=torch.bool))
        return text_maps(model, "encoder", self.tokenizer.pieces(ids), forward), self.classify(model, [text])[0].label
