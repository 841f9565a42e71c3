import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import torch
from torch import Tensor

from headway.core.config import Choice, require
from headway.core.errors import DataError, UsageError
from headway.data.masked_batches import MaskedBatch, MaskedBatches
from headway.data.pairs import read_lines
from headway.data.segments import SINGLE, mark_text
from headway.data.sentence_files import SentencePart, Sentences
from headway.data.text import Text
from headway.data.token_files import Part, open_tokens, tokenize_part
from headway.data.tokens import BLANK, Tokenizer
from headway.models.reader import MaskedReader
from headway.tasks.brought import require_path
from headway.tasks.filled import Filled, masked_losses, readable
from headway.tasks.recipe import Proposal, Recipe
from headway.tasks.shell import quote
from headway.tasks.sizing import sized, usual_rate
from headway.tasks.task import Base, Figure, Judgement, Loss, Task, Validation
from headway.tasks.text_maps import reader_maps
from headway.tasks.texts import WHICH, TextCorpus, collect_text
from headway.tasks.uses import Map, Predicted
from headway.tasks.vocabulary import VocabularyState, choose_size, learn_tokenizer

LEARNED = 50_000_000  # characters that a tokenizer is learned from
BATCH, VALIDATED = 32, 16  # examples that are judged at once, and batches of them at each validation


@dataclass(frozen=True)
class Data:
    text: str | None = None  # a text file, a folder or .jsonl; lines are sentences, a blank line ends a document
    validation_text: str | None = None  # held-out text to choose the best weights by; without it a part is set apart
    test_text: str | None = None  # held-out text to judge the end result by; without it a part is set apart
    tokens: Literal["bpe", "wordpiece", "unigram", "words", "characters", "bytes"] = "wordpiece"  # what the model reads
    vocabulary: int | None = None  # how many different tokens (default: by the size of the text)
    context: int | None = None  # tokens that the model reads at once (default: 64 for a short budget, else 128)
    pairs: bool = True  # two segments: does the second follow? false: single sentences, for lines in no order

    def __post_init__(self) -> None:
        require(
            (self.vocabulary is None or self.vocabulary >= 1, "`--vocabulary` must be at least 1"),
            (self.context is None or self.context >= 8, "`--context` must be at least 8"),
        )


class Masked(VocabularyState[Data], Task[Data, TextCorpus, MaskedBatch, MaskedReader]):
    """Masked language modelling: fill in words that are hidden, and tell whether one passage follows another.

    loss: cross-entropy of the masked words plus that of the next sentence; figures: accuracy and loss of held-out text.
    The weights are a beginning for other tasks on texts: `headway train classification --from`.
    """

    aliases = ("masked language modelling", "masked words", "cloze test", "next-sentence prediction")
    reads, gives, model = "tokens", "masked words", "bert"
    unit, loss_unit = "examples", "nats"
    figures = (
        Figure("masked accuracy", digits=4, scale="0 to 1"),
        Figure("next-sentence accuracy", digits=4, scale="0 to 1"),
        Figure("masked loss", "nats per masked word", "lower", 4),
        Figure("loss", "nats", "lower", 4),
    )
    columns = ("input", "predicted", "true")
    uses = ("predict", "inspect")
    files = ("text", "validation_text", "test_text")
    tested = ("text",)

    def __init__(self, data: Data, tokenizer: Tokenizer) -> None:
        super().__init__(data, tokenizer)
        self.context = data.context or 128

    # -- data ----------------------------------------------------------------------------------------------------------

    @classmethod
    def collect(cls, data: Data, seed: int) -> TextCorpus:
        return collect_text(require_path(data.text, WHICH, "train masked"), data.validation_text, data.test_text)

    @classmethod
    def recognise(cls, paths: Sequence[str]) -> Data | None:
        return None  # a text is a text: the task `language` recognises it

    @classmethod
    def propose(cls, recipe: Recipe[Data], corpus: TextCorpus, base: Base | None) -> Proposal[Data]:
        """A short budget has short texts and a narrow model."""
        data, t = recipe.data, recipe.training
        hurried = t.minutes is not None and t.minutes <= 3
        chosen = recipe.model or Choice(cls.model)
        longest = chosen.options.get("context")  # of a model that was trained before, or that the person chose
        context = data.context or (longest if isinstance(longest, int) else 64 if hurried else 128)
        if isinstance(longest, int) and context > longest:
            raise UsageError(f"`--context {context}` is more than the {longest} tokens that the model can read")
        model = sized(
            chosen,
            width=128 if hurried else 256,
            depth=2 if hurried else 4,
            inner=4,
            head_width=32,
            dropout=0.1,
            more={"context": context},
        )
        size = data.vocabulary or choose_size(data.tokens, corpus.characters, 16000)
        settled = dataclasses.replace(data, context=context, vocabulary=size)
        return Proposal(settled, model, t.batch or BATCH, usual_rate(t, base, corpus.characters // 100, 8e-3))

    @classmethod
    def fit(cls, data: Data, corpus: TextCorpus, base: Base | None) -> "Masked":
        """Learn the vocabulary from the beginning of the training text, or take over that of the run that this one begins with."""
        part = corpus.train
        read = SentencePart(part.text, part.start, min(part.stop, part.start + LEARNED))  # as the model will read it
        sentences = (sentence for document in read.documents() for sentence in document)
        return cls(data, learn_tokenizer(data.tokens, sentences, data.vocabulary, base))

    @property
    def sizes(self) -> dict[str, int]:
        known = {"vocabulary": self.tokenizer.size, "words": self.tokenizer.size}
        return known | ({"next_sentence": 2} if self.data.pairs else {})

    # -- training ------------------------------------------------------------------------------------------------------

    def prepare(self, corpus: TextCorpus, folder: Path, batch: int, seed: int) -> MaskedBatches:
        """The text is tokenized into files of the run, which are mapped into memory."""
        for name, part in corpus.held_out.items():
            path = folder / "held_out" / f"{name}.sentences"
            try:
                self._batches(part, path, BATCH, 0)
            except DataError as problem:
                hint = f"bring more text, or `--{name}-text`; `--pairs false` reads single sentences."
                raise DataError(f"the held-out text for {name} is too short: {problem.message}", hint) from problem
        return self._batches(corpus.train, folder / "cache" / "train.sentences", batch, seed)

    def _batches(self, part: Part, path: Path, rows: int, seed: int) -> MaskedBatches:
        tokenize_part(SentencePart(part.text, part.start, part.stop), self.tokenizer, path)
        return self._open(path, rows, seed)

    def _open(self, path: Path, rows: int = BATCH, seed: int = 0) -> MaskedBatches:
        """The batches of a token file; the same ones each time, so that validations can be compared."""
        return MaskedBatches(
            Sentences.of(open_tokens(path).ids, self.tokenizer.eos),
            context=self.context,
            rows=rows,
            seed=seed,
            vocabulary=self.tokenizer.size,
            pairs=self.data.pairs,
        )

    def loss(self, model: MaskedReader, batch: MaskedBatch) -> Loss:
        """The mean over the words plus the mean over the next sentences; a batch of n examples counts n times.

        Written as a sum over examples, so that a batch can be divided: n/m is the weight of each of the m words.
        """
        _, words, _, follows = masked_losses(model, batch, self.data.pairs)
        total = batch.weight * words.sum() + follows.sum()
        return Loss(total, total.detach(), len(batch.ids))

    def validate(self, model: MaskedReader, folder: Path) -> Validation:
        batches = self._open(folder / "held_out" / "validation.sentences")
        found = self._fill(model, batches, min(VALIDATED, len(batches)), 3)
        return Validation(found.figures, -found.figures["loss"], tuple(found.samples))

    def validation_batches(self, folder: Path) -> MaskedBatches:
        return self._open(folder / "held_out" / "validation.sentences")

    def _fill(self, model: MaskedReader, batches: MaskedBatches, count: int, shown: int) -> Filled:
        return Filled.of(model, (batches[n] for n in range(count)), self.data.pairs, self.tokenizer, shown)

    # -- judging -------------------------------------------------------------------------------------------------------

    def judge(self, model: MaskedReader, folder: Path) -> Judgement:
        """How well the test part is filled in, all of it once."""
        names = [path.stem for path in sorted((folder / "held_out").glob("*.sentences"))]
        parts = {n: self._open(folder / "held_out" / f"{n}.sentences") for n in names or ["validation"]}
        name = "test" if "test" in parts else "validation"
        return self._judgement(model, name, parts[name], {n: len(part.passages) for n, part in parts.items()})

    def _judgement(self, model: MaskedReader, name: str, batches: MaskedBatches, sizes: dict[str, int]) -> Judgement:
        found = self._fill(model, batches, len(batches), 10)
        unit = "passages" if self.data.pairs else "sentences"
        return Judgement(found.scores(name), tuple(found.samples), found.verdict(self.tokenizer), sizes, unit)

    def evaluate(self, model: MaskedReader, data: Data) -> Judgement:
        text = Text(require_path(data.text, WHICH, "evaluate"))
        with TemporaryDirectory() as folder:
            part = Part(text, 0, text.size.characters)
            batches = self._batches(part, Path(folder) / "given.sentences", BATCH, 0)
            return self._judgement(model, "given", batches, {"given": len(batches.passages)})

    def example(self, model: MaskedReader) -> tuple[Callable[[], Tensor], int]:
        ids = torch.zeros(1, self.context, dtype=torch.long, device=next(iter(model.parameters())).device)
        return lambda: model.word_logits(model.states(ids, torch.ones_like(ids, dtype=torch.bool))), 1

    def commands(self, folder: str, judgement: Judgement) -> list[str]:
        text = quote(judgement.samples[0][0][:80] if judgement.samples else f"The {BLANK} reads a book.")
        return [
            f"train classification --table labelled.tsv --from {folder}",
            f"evaluate {folder} --text held_out.txt",
            f"inspect {folder} {text} --out maps.html",
        ]

    # -- using ---------------------------------------------------------------------------------------------------------

    def predict(self, model: MaskedReader, data: Data) -> Predicted:
        """The most probable word for each `[MASK]` in the lines of a file; a line with two of them has two rows."""
        path = require_path(
            data.text, f"which text? `--text`: lines with `{BLANK}` for a word to be filled in", "predict"
        )
        rows, warnings = [], []
        for number, line in enumerate(read_lines(path), 1):
            words = self.fill(model, line)
            rows += [(line, word, f"{probability:.4f}") for word, probability in words]
            if len(words) < (asked := line.count(BLANK)):
                missed = asked - len(words)
                warnings.append(f"line {number} is longer than {self.context} tokens: {missed} `{BLANK}` were not read")
        if not rows:
            raise DataError(f"no line of `{path}` has a `{BLANK}`", f"write `{BLANK}` in place of a word.")
        return Predicted(("text", "word", "probability"), tuple(rows), warnings=tuple(warnings))

    def fill(self, model: MaskedReader, text: str) -> list[tuple[str, float]]:
        """For each `[MASK]` of a text the most probable word and its probability."""
        ids = self._encode(model, text)
        with torch.inference_mode():
            states = model.states(ids, torch.ones_like(ids, dtype=torch.bool))
            best = model.word_logits(states[ids == self.tokenizer.mask]).softmax(-1).max(-1)
        return list(zip(readable(self.tokenizer, best.indices.tolist()), best.values.tolist(), strict=True))

    def _encode(self, model: MaskedReader, text: str) -> Tensor:
        ids = mark_text(self.tokenizer.encode_blanks(text), self.context - SINGLE)
        return torch.tensor([ids], device=next(iter(model.parameters())).device)

    def attention(self, model: MaskedReader, text: str, target: str | None = None) -> tuple[list[Map], str]:
        """Maps of every layer and head for a text, and the text with each `[MASK]` filled in."""
        ids = self._encode(model, text)
        row = ids[0].tolist()
        found = reader_maps(model, row, self.tokenizer.pieces(row))
        for word, _ in self.fill(model, text):
            text = text.replace(BLANK, word, 1)
        return found, text
