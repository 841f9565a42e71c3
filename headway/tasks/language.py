from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import torch
from torch import Tensor

from headway.core.config import Choice, replaced, require
from headway.core.errors import DataError, UsageError
from headway.data.shards import is_prepared
from headway.data.text import Text
from headway.data.token_files import Part, TokenFile, open_tokens, tokenize_part
from headway.data.tokens import Tokenizer
from headway.data.windows import WindowBatch, Windows
from headway.decode.sample import sample
from headway.evaluate.language import Prediction, predict
from headway.layers.cross_entropy import output_cross_entropy
from headway.models.decoder import LanguageModel
from headway.tasks.brought import require_path
from headway.tasks.prepared_text import PreparedCorpus, open_prepared
from headway.tasks.recipe import Proposal, Recipe
from headway.tasks.shell import quote
from headway.tasks.sizing import sized, usual_rate
from headway.tasks.task import Base, Figure, Judgement, Loss, Score, Task, Validation
from headway.tasks.text_maps import text_maps
from headway.tasks.texts import WHICH, TextCorpus, collect_text
from headway.tasks.uses import Map
from headway.tasks.vocabulary import VocabularyState

VALIDATED = 1 << 14  # tokens that are evaluated at each validation
SHORT, SAMPLE = 160, 400  # tokens of a sample during training and at the end
NEW = 2.0  # minutes up to which a text is read about once, and longer n-grams help
ROWS = 1 << 13  # of each table of n-grams: each of 90 characters after each other one has a row of its own

LanguageCorpus = TextCorpus | PreparedCorpus


@dataclass(frozen=True)
class Data:
    text: str | None = (
        None  # a text file, a folder of them or .jsonl, what `data prepare` made of them, or `-`: standard input
    )
    validation_text: str | None = (
        None  # held-out text to choose the best weights by; without it a part of the text is set apart
    )
    test_text: str | None = None  # held-out text to judge the end result by; without it a part of the text is set apart
    tokens: Literal["bpe", "wordpiece", "unigram", "words", "characters", "bytes"] | None = (
        None  # what the model reads and writes (default: bpe, or what the text was prepared with)
    )
    vocabulary: int | None = None  # how many different tokens (default: by the size of the text)
    context: int | None = None  # tokens that the model reads at once (default: 128 for a short budget, else 256)
    smoothing: float = 0.0  # label smoothing

    def __post_init__(self) -> None:
        require(
            (self.vocabulary is None or self.vocabulary >= 1, "`--vocabulary` must be at least 1"),
            (self.context is None or self.context >= 1, "`--context` must be at least 1"),
            (0 <= self.smoothing < 1, f"`--smoothing` must be at least 0 and less than 1, not {self.smoothing}"),
        )


class Language(VocabularyState[Data], Task[Data, LanguageCorpus, WindowBatch, LanguageModel]):
    """Language modelling: predict the next token of a text.

    loss: cross-entropy of the next token; figures: nats per token, bits per byte, perplexity of held-out text.
    """

    aliases = ("language modelling", "language model", "next-token prediction", "pre-training")
    reads, gives, model = "tokens", "next token", "gpt"
    unit, loss_unit = "tokens", "nats per token"
    figures = (
        Figure("loss", "nats per token", "lower", 4),
        Figure("bits per byte", "", "lower", 3),
        Figure("perplexity", "", "lower", 2),
    )
    columns = ("prompt", "continuation")
    uses = ("generate", "inspect")
    files = ("text", "validation_text", "test_text")
    tested = ("text",)

    def __init__(self, data: Data, tokenizer: Tokenizer) -> None:
        super().__init__(data, tokenizer)
        self.context = data.context or 256

    # -- data ----------------------------------------------------------------------------------------------------------

    @classmethod
    def collect(cls, data: Data, seed: int) -> LanguageCorpus:
        path = require_path(data.text, WHICH, "train language")
        if not is_prepared(Path(path)):
            return collect_text(path, data.validation_text, data.test_text)
        if data.validation_text or data.test_text:
            hint = "leave out `--validation-text` and `--test-text`; `headway data prepare` has these options."
            raise UsageError(f"`{path}` has its own held-out parts", hint)
        return open_prepared(Path(path))

    @classmethod
    def recognise(cls, paths: Sequence[str]) -> Data | None:
        return (
            Data(text=paths[0]) if len(paths) == 1 and Path(paths[0]).suffix in ("", ".txt", ".md", ".text") else None
        )

    @classmethod
    def propose(cls, recipe: Recipe[Data], corpus: LanguageCorpus, base: Base | None) -> Proposal[Data]:
        """A context that a short budget can fill, a width that it can train, and no dropout while the text is new."""
        data, t = recipe.data, recipe.training
        hurried = t.minutes is not None and t.minutes <= 3
        context = data.context or getattr(base.data if base else None, "context", None) or (128 if hurried else 256)
        chosen = recipe.model or Choice(cls.model)
        tokens, size = corpus.vocabulary(data.tokens, data.vocabulary)
        # Tables of n-grams save a short training what its first blocks would learn; longer ones were not measured with them.
        small = hurried and base is None and tokens in ("characters", "bytes")
        looked_up = small and chosen.options.get("mixer") != "transformer_xl"
        long = {"ngram_order": 5} if looked_up and (t.minutes or NEW) <= NEW else {}
        model = sized(
            chosen,
            width=128 if hurried else 256,
            depth=4,
            inner=4,
            head_width=48,
            dropout=0.0,
            more={"context": context, "ngrams": ROWS if looked_up else 0} | long,
        )
        batch = t.batch or max(context, 1536 if hurried else 4096)
        settled = {"context": context, "tokens": tokens, "vocabulary": size}
        rate = usual_rate(t, base, corpus.characters // 100, 8e-3)
        return Proposal(replaced(data, settled, "data"), model, batch, rate, "trapezoid")

    @classmethod
    def fit(cls, data: Data, corpus: LanguageCorpus, base: Base | None) -> "Language":
        """Learn the vocabulary, or take over that of the run that this one begins with."""
        return cls(data, corpus.learn(*corpus.vocabulary(data.tokens, data.vocabulary), base))

    # -- training ------------------------------------------------------------------------------------------------------

    def prepare(self, corpus: LanguageCorpus, folder: Path, batch: int, seed: int) -> Windows:
        """The tokens are files of the run, or shards that were made before; either way they are mapped into memory."""
        tokens = corpus.tokenize(self.tokenizer, folder)
        for name in corpus.held_out:
            if len(open_tokens(folder / "held_out" / f"{name}.tokens").ids) < 2:
                raise DataError(f"the held-out text for {name} is too short", f"bring more text, or `--{name}-text`.")
        return Windows(tokens, self.context, max(1, batch // self.context), seed)

    def loss(self, model: LanguageModel, batch: WindowBatch) -> Loss:
        ids, wanted = batch.ids[:, :-1], batch.ids[:, 1:]
        past = batch.before(model.memory) if model.memory else None
        if training := model.training:  # some models learn from a part of the positions
            hidden, places = model.predicted(ids, past)
            wanted = wanted[places]
        else:
            hidden, wanted = model(ids, past).flatten(0, 1), wanted.flatten()
        smoothing = self.data.smoothing if training else 0.0
        total, plain = output_cross_entropy(model.output, hidden, wanted, smoothing)
        return Loss(total, plain, len(wanted))

    def validate(self, model: LanguageModel, folder: Path) -> Validation:
        part = open_tokens(folder / "held_out" / "validation.tokens")
        found = self._predict(model, beginning(part, VALIDATED))
        prompt = opening(self.tokenizer.decode([part.ids[:400].tolist()])[0])
        text = "".join(islice(self.generate(model, prompt), SHORT))
        values = {"loss": found.nats, "bits per byte": found.bits_per_byte, "perplexity": found.perplexity}
        return Validation(values, -found.nats, ((prompt, text),))

    def validation_batches(self, folder: Path) -> Windows:
        return Windows(open_tokens(folder / "held_out" / "validation.tokens").ids, self.context, 8, 0)

    def _predict(self, model: LanguageModel, part: TokenFile) -> Prediction:
        first = len(self.tokenizer.decode([part.ids[:1].tolist()])[0].encode())
        return predict(model, part.ids, max(1, part.bytes - first), self.context)

    # -- judging -------------------------------------------------------------------------------------------------------

    def judge(self, model: LanguageModel, folder: Path) -> Judgement:
        """How well the test part is predicted, all of it, and what the model writes."""
        names = [p.stem for p in sorted((folder / "held_out").glob("*.tokens"))]
        name = "test" if "test" in names else "validation"
        part = open_tokens(folder / "held_out" / f"{name}.tokens")
        prompt = opening(self.tokenizer.decode([part.ids[:400].tolist()])[0])
        samples = tuple((prompt, "".join(islice(self.generate(model, prompt, seed=seed), SAMPLE))) for seed in (1, 2))
        return self._judgement(
            name,
            self._predict(model, part),
            samples,
            {n: len(open_tokens(folder / "held_out" / f"{n}.tokens").ids) for n in names},
        )

    def _judgement(
        self, name: str, found: Prediction, samples: tuple[tuple[str, ...], ...], sizes: dict[str, int]
    ) -> Judgement:
        half = 1.96 * found.error
        scores = (
            Score(
                name, "nats per token", found.nats, found.nats - half, found.nats + half, 4, f"{found.tokens:,} tokens"
            ),
            Score(name, "bits per byte", found.bits_per_byte, digits=4, signature=f"{found.bytes:,} bytes"),
            Score(name, "perplexity", found.perplexity, digits=3),
        )
        return Judgement(scores, samples, verdict(found), sizes, "tokens")

    def evaluate(self, model: LanguageModel, data: Data) -> Judgement:
        text = Text(require_path(data.text, WHICH, "evaluate"))
        with TemporaryDirectory() as folder:
            part = tokenize_part(Part(text, 0, text.size.characters), self.tokenizer, Path(folder) / "given.tokens")
            if len(part.ids) < 2:
                raise DataError(f"`{text.path}` is too short to be judged by", "bring more text.")
            return self._judgement("given", self._predict(model, part), (), {"given": len(part.ids)})

    def example(self, model: LanguageModel) -> tuple[Callable[[], Tensor], int]:
        ids = torch.zeros(1, self.context, dtype=torch.long, device=next(iter(model.parameters())).device)
        return lambda: model.logits(model(ids)), self.context

    def commands(self, folder: str, judgement: Judgement) -> list[str]:
        first = judgement.samples[0][0].strip().split("\n")[0] if judgement.samples else ""
        prompt = quote(first or "Once")
        return [
            f"generate {folder} --prompt {prompt} --temperature 0.8",
            f"evaluate {folder} --text held_out.txt",
            f"inspect {folder} {prompt} --out maps.html",
        ]

    # -- using ---------------------------------------------------------------------------------------------------------

    def generate(
        self,
        model: LanguageModel,
        prompt: str,
        temperature: float = 0.8,
        top_k: int | None = None,
        top_p: float = 0.95,
        seed: int = 1,
    ) -> Iterator[str]:
        """The continuation of a prompt, piece by piece as it is written; ends at the end mark, or when nobody asks for more."""
        # Nothing to go on: a text begins after a line's end.
        ids = self.tokenizer.encode([prompt])[0] or self.tokenizer.encode(["\n"])[0] or [self.tokenizer.eos]
        tail = ids[-8:]  # what a token looks like depends on those just before it, not on all of them
        before = self.tokenizer.decode([tail])[0]
        device = next(iter(model.parameters())).device
        for token in sample(model, torch.tensor([ids], device=device), temperature, top_k, top_p, seed, self.context):
            if int(token) == self.tokenizer.eos:
                return
            tail.append(int(token))
            text = self.tokenizer.decode([tail])[0]
            if not text.endswith("�") or len(tail) > 16:  # half a character waits for its other bytes
                yield text[len(before) :]
                tail = tail[-8:]
                before = self.tokenizer.decode([tail])[0]

    def attention(self, model: LanguageModel, text: str, target: str | None = None) -> tuple[list[Map], str]:
        """Maps of every layer and head for a text; none if the model does not attend."""
        ids = self.tokenizer.encode([text])[0][: self.context]
        row = torch.tensor([ids], device=next(iter(model.parameters())).device)
        return text_maps(model, "decoder", self.tokenizer.pieces(ids), lambda: model(row)), text


def beginning(part: TokenFile, tokens: int) -> TokenFile:
    """Its first tokens, with the bytes they stand for by proportion."""
    ids = part.ids[:tokens]
    return TokenFile(ids, max(2, round(part.bytes * len(ids) / len(part.ids))))


def opening(text: str) -> str:
    """A first line that says something, for samples."""
    return next((line[:60] for line in text.split("\n")[1:] if len(line.strip()) >= 6), text[:20])


def verdict(found: Prediction) -> str:
    """What bits per byte mean, in words: English text has about 1, random letters about 5."""
    bits = found.bits_per_byte
    if bits > 4:
        return "it has learned little more than how often each character occurs: train longer, or bring more text."
    if bits > 2.5:
        return "it has learned letters and short words; what it writes looks like the language from afar."
    if bits > 1.5:
        return "it writes words and phrases of the text; whole sentences rarely make sense."
    return "it predicts text like its training text well."
