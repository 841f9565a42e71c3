import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Literal

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from headway.core.config import Choice, require
from headway.core.files import write_json
from headway.data.conll import TaggedSentences, read_conll, split_words
from headway.data.doctor_tags import most_frequent_tags
from headway.data.findings import unread
from headway.data.position_batches import IGNORED, TaggedBatch, TaggedBatches
from headway.data.segments import SINGLE
from headway.data.tokens import Tokenizer
from headway.models.reader import Reader
from headway.tasks.answers import Predictions
from headway.tasks.brought import brought_parts, require_path
from headway.tasks.held_out import read_kept
from headway.tasks.labelled_task import LabelledTask
from headway.tasks.labels import Classes, LabelledCorpus
from headway.tasks.recipe import Proposal, Recipe
from headway.tasks.shell import quote
from headway.tasks.sizing import readable_length, sized, usual_rate, width_of
from headway.tasks.tag_scores import TagScores
from headway.tasks.tagged_texts import collect_tagged, looks_tagged, read_held_out, write_held_out
from headway.tasks.task import Base, Figure, Judgement, Loss, Validation
from headway.tasks.text_maps import reader_maps
from headway.tasks.uses import Map, Tagged
from headway.tasks.vocabulary import learn_tokenizer, load_tokenizer, save_tokenizer, size_for, unseen_characters
from headway.tasks.word_parts import word_parts

BATCH = 1000  # words that are judged or tagged at once
WHICH = "which sentences? `--conll`: one word and its tag per line"


@dataclass(frozen=True)
class Data:
    conll: str | None = None  # one word and its tag per line, an empty line between sentences; `-` for standard input
    validation_conll: str | None = (
        None  # held-out sentences to choose the best weights by; without them a part is set apart
    )
    test_conll: str | None = None  # held-out sentences to judge the end result by; without them a part is set apart
    word: int = 1  # the column of the words, counted from 1
    tag: int | None = None  # the column of the tags (default: the last)
    tokens: Literal["bpe", "wordpiece", "unigram", "words", "characters", "bytes"] = "bpe"  # what the model reads
    vocabulary: int | None = None  # how many different tokens (default: by the size of the data)
    longest: int = 256  # tokens; longer sentences are read in parts
    smoothing: float = 0.0  # label smoothing

    def __post_init__(self) -> None:
        require(
            (self.word >= 1, "`--word` must be at least 1"),
            (self.tag is None or self.tag >= 1, "`--tag` must be at least 1"),
            (self.vocabulary is None or self.vocabulary >= 1, "`--vocabulary` must be at least 1"),
            (self.longest >= 1, "`--longest` must be at least 1"),
            (0 <= self.smoothing < 1, f"`--smoothing` must be at least 0 and less than 1, not {self.smoothing}"),
        )


@dataclass(frozen=True)
class Seen:
    """What training has seen: the median length of its sentences in words and tokens, all characters, the usual tag of each word."""

    words: int
    tokens: int
    characters: str
    usual: dict[str, str]


class Tagging(LabelledTask[Data, TaggedSentences, TaggedBatch, Reader, TaggedBatches]):
    """Tagging: a sentence in, a tag for each word out: its part of speech, or the entity that it belongs to.

        p(tag of word w) = softmax(V h_t + a),   t the first piece of w        loss: its cross-entropy, a mean over words

    Devlin et al. 2019, https://arxiv.org/abs/1810.04805, section 5.3; lecture C. Figures: F1 of entities (of plain tags:
    the mean F1), accuracy and loss of held-out sentences.
    """

    aliases = (
        "part-of-speech tagging",
        "named entity recognition",
        "NER",
        "sequence labelling",
        "token classification",
    )
    reads, gives, model = "tokens", "one per position", "encoder"
    unit, loss_unit = "words", "nats per word"
    figures = (
        Figure("F1", digits=4, scale="0 to 1"),
        Figure("accuracy", digits=4, scale="0 to 1"),
        Figure("loss", "nats per word", "lower", 4),
    )
    columns = ("sentence", "predicted", "true")
    uses = ("tag", "inspect")
    files = ("conll", "validation_conll", "test_conll")
    tested = ("conll", "word", "tag")
    at_once = BATCH

    def __init__(self, data: Data, tokenizer: Tokenizer, classes: Classes, seen: Seen) -> None:
        self.data, self.tokenizer, self.classes, self.seen = data, tokenizer, classes, seen

    # -- data ----------------------------------------------------------------------------------------------------------

    @classmethod
    def collect(cls, data: Data, seed: int) -> LabelledCorpus[TaggedSentences]:
        path = require_path(data.conll, WHICH, "train tagging")
        return collect_tagged(path, data.word, data.tag, brought_parts(data.validation_conll, data.test_conll), seed)

    @classmethod
    def recognise(cls, paths: Sequence[str]) -> Data | None:
        return Data(paths[0]) if len(paths) == 1 and looks_tagged(paths[0]) else None

    @classmethod
    def propose(
        cls, recipe: Recipe[Data], corpus: LabelledCorpus[TaggedSentences], base: Base | None
    ) -> Proposal[Data]:
        """Few words want a small model and much dropout; a short budget a narrow one."""
        data, t, words = recipe.data, recipe.training, corpus.train.size
        grade = (words >= 20_000) + (words >= 500_000)
        narrow = grade == 2 and t.minutes is not None and t.minutes < 5
        chosen = recipe.model or Choice(cls.model)
        length = readable_length(chosen, data.longest + SINGLE)
        model = sized(
            chosen,
            width=width_of(base, (64, 128, 256)[grade - narrow]),
            depth=(1, 2, 3)[grade],
            inner=4,
            head_width=32,
            dropout=(0.3, 0.2, 0.1)[grade],
            more={"context": length},
        )
        size = data.vocabulary or size_for(data.tokens, [" ".join(row) for row in corpus.train.words])
        settled = dataclasses.replace(data, vocabulary=size, longest=max(1, length - SINGLE))
        return Proposal(settled, model, t.batch or (250, 500, 1000)[grade], usual_rate(t, base, len(corpus.train)))

    @classmethod
    def fit(cls, data: Data, corpus: LabelledCorpus[TaggedSentences], base: Base | None) -> "Tagging":
        """Learn the vocabulary and the tags, or take them over from the run that this one begins with."""
        texts = [" ".join(words) for words in corpus.train.words]
        tokenizer = learn_tokenizer(data.tokens, texts, data.vocabulary, base)
        tags = [t for part in (corpus.train, *corpus.held_out.values()) for tags in part.tags for t in tags]
        median = int(np.median([len(words) for words in corpus.train.words]))
        tokens = int(np.median([len(ids) for ids in tokenizer.encode(texts)]))
        seen = Seen(median, tokens, "".join(sorted(set().union(*texts))), most_frequent_tags(corpus.train))
        return cls(data, tokenizer, Classes.of(tags, base.task if base else None), seen)

    def save(self, folder: Path) -> None:
        save_tokenizer(self.tokenizer, folder / "tokenizer.json")
        self.classes.save(folder)
        write_json(folder / "seen.json", asdict(self.seen))

    @classmethod
    def load(cls, data: Data, folder: Path) -> "Tagging":
        path = folder / "seen.json"
        seen = read_kept(Seen, path)
        return cls(data, load_tokenizer(folder / "tokenizer.json"), Classes.load(folder), seen)

    @property
    def sizes(self) -> dict[str, int]:
        return {"vocabulary": self.tokenizer.size, "tags": len(self.classes.names)}

    def describe(self) -> str:
        return f"{self.tokenizer.kind} vocabulary of {self.tokenizer.size:,}, {len(self.classes.names):,} tags"

    # -- training ------------------------------------------------------------------------------------------------------

    def prepare(self, corpus: LabelledCorpus[TaggedSentences], folder: Path, batch: int, seed: int) -> TaggedBatches:
        write_held_out(corpus, folder)
        return self._batches(corpus.train, batch, seed)

    def _batches(self, part: TaggedSentences, batch: int, seed: int = 0) -> TaggedBatches:
        """Batches of about `batch` words: as many tokens as so many words have."""
        ids, rows = [], []
        for words, tags in zip(part.words, part.tags, strict=True):
            numbers = iter(self.classes.numbers(tags, part.origin).tolist())
            for piece_ids, firsts in word_parts(self.tokenizer, words, self.data.longest):
                row = [IGNORED] * len(piece_ids)
                for place, number in zip(firsts, islice(numbers, len(firsts)), strict=True):
                    row[place] = number
                ids.append(piece_ids)
                rows.append(row)
        budget = round(batch * sum(map(len, ids)) / part.size)
        return TaggedBatches(ids, rows, budget=budget, seed=seed, padding=self.tokenizer.pad)

    def loss(self, model: Reader, batch: TaggedBatch) -> Loss:
        """Only the first pieces of words go through the output layer."""
        begins = batch.tags != IGNORED
        states = model.states(batch.ids, batch.keep)[begins]
        logits, tags = model.tag_logits(states[None])[0].float(), batch.tags[begins]
        plain = F.cross_entropy(logits, tags, reduction="sum")
        if not (model.training and self.data.smoothing):
            return Loss(plain, plain.detach(), len(tags))
        total = F.cross_entropy(logits, tags, reduction="sum", label_smoothing=self.data.smoothing)
        return Loss(total, plain.detach(), len(tags))

    def validate(self, model: Reader, folder: Path) -> Validation:
        return self._scores(model, *self._held_out(folder)["validation"]).validation()

    def _read_parts(self, folder: Path) -> dict[str, TaggedSentences]:
        return read_held_out(folder)

    # -- judging -------------------------------------------------------------------------------------------------------

    def _scores(self, model: Reader, part: TaggedSentences, batches: TaggedBatches) -> TagScores:
        """The probabilities of the tags of all words, in their order."""
        device = next(iter(model.parameters())).device
        logs, true = [np.empty(0)] * len(batches.ids), [np.empty(0, dtype=np.int64)] * len(batches.ids)
        with torch.inference_mode():
            for rows, batch in batches.in_order():
                states = model.states(batch.ids.to(device), batch.keep.to(device))
                for row, vectors, tags in zip(rows.tolist(), states, batch.tags, strict=True):
                    begins = tags != IGNORED
                    logits = model.tag_logits(vectors[begins.to(device)][None])[0]
                    logs[row], true[row] = logits.double().log_softmax(-1).cpu().numpy(), tags[begins].numpy()
        return TagScores(part, Predictions(np.concatenate(logs), np.concatenate(true), self.classes.names))

    def _judgement(
        self, model: Reader, name: str, part: TaggedSentences, batches: TaggedBatches, sizes: dict[str, int]
    ) -> Judgement:
        return self._scores(model, part, batches).judgement(name, self.seen.usual, self.classes.majority, sizes)

    def _given(self, data: Data) -> tuple[TaggedSentences, tuple[str, ...]]:
        part = read_conll(require_path(data.conll, WHICH, "evaluate"), data.word, data.tag)
        return part, unread(part.problems, "line")

    def example(self, model: Reader) -> tuple[Callable[[], Tensor], int]:
        ids = torch.zeros(1, self.seen.tokens + 2, dtype=torch.long, device=next(iter(model.parameters())).device)
        return lambda: model.tag_logits(model.states(ids, torch.ones_like(ids, dtype=torch.bool))), self.seen.words

    def commands(self, folder: str, judgement: Judgement) -> list[str]:
        text = quote(judgement.samples[0][0][:80] if judgement.samples else "...")
        return [
            f"tag {folder} {text}",
            f"evaluate {folder} --conll test.conll",
            f"inspect {folder} {text} --out maps.html",
        ]

    # -- using ---------------------------------------------------------------------------------------------------------

    def tag(self, model: Reader, texts: Sequence[str]) -> list[Tagged]:
        words = [split_words(text, self.seen.usual) for text in texts]
        filled = tuple(row for row in words if row)
        if not filled:
            return [Tagged((), (), (), ("the text is empty",)) for _ in texts]
        unknown = tuple((self.classes.majority,) * len(row) for row in filled)
        part = TaggedSentences(filled, unknown, (), "")
        found = self._scores(model, part, self._batches(part, BATCH))
        tags, confidence = iter(found.predicted), iter(found.found.probabilities.max(1).tolist())
        results = []
        for text, row in zip(texts, words, strict=True):
            chosen = tuple(next(tags)) if row else ()
            results.append(Tagged(row, chosen, tuple(islice(confidence, len(row))), self._warnings(text)))
        return results

    def _warnings(self, text: str) -> tuple[str, ...]:
        if not text.strip():
            return ("the text is empty",)
        return tuple(unseen_characters(text, self.seen.characters))

    def attention(self, model: Reader, text: str, target: str | None = None) -> tuple[list[Map], str]:
        """Maps of every layer and head for a text (the first part of a long one), and its words with their tags."""
        ids, _ = word_parts(self.tokenizer, split_words(text, self.seen.usual), self.data.longest)[0]
        found = self.tag(model, [text])[0]
        tagged = " ".join(f"{word}/{tag}" for word, tag in zip(found.words, found.tags, strict=True))
        return reader_maps(model, ids, self.tokenizer.pieces(ids)), tagged
