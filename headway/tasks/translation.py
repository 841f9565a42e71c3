import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal, cast

import torch
from torch import Tensor

from headway.core.config import Choice, replaced, require
from headway.core.errors import UsageError
from headway.core.seeds import derive
from headway.data.batches import PairBatch, PairBatches
from headway.data.bpe_dropout import BpeDropout, RespelledBatches, Spellings
from headway.data.input_file import InputFile
from headway.data.pairs import looks_paired, word_columns
from headway.data.readers import READERS
from headway.data.tokens import Tokenizer, train_tokenizer
from headway.models.encoder_decoder import EncoderDecoder
from headway.models.ensemble import first_member
from headway.tasks.alignment import Links, align_pairs, attention_maps, choose_head, judge_alignment, read_head
from headway.tasks.held_out import once_per_folder
from headway.tasks.pair_loss import pair_loss
from headway.tasks.pairs import HeldOut, PairCorpus, collect_pairs, read_held_out, read_own, write_held_out
from headway.tasks.recipe import Precision, Proposal, Recipe
from headway.tasks.scoring import difference, judge_part, judge_parts, validate_part
from headway.tasks.search import Searcher, Seen
from headway.tasks.shell import quote
from headway.tasks.sizing import sized, usual_rate
from headway.tasks.task import Base, Figure, Judgement, Loss, Task, Validation
from headway.tasks.uses import Map, Translated
from headway.tasks.vocabulary import choose_size, describe_vocabulary, load_tokenizer, save_tokenizer, tokenizer_of

LONG = 30  # minutes from which on few pairs are read too often, and it pays to measure whether bfloat16 is faster
REGULAR = 0.001  # probability of a word that was never seen, below which a language is regular: nothing to generalise over but its rules


@dataclass(frozen=True)
class Data:
    source: str | None = None  # a text file, one sentence per line
    target: str | None = None  # its translation, line by line
    pairs: str | None = None  # or both in one file: .tsv .csv .jsonl .tmx, `-` for standard input
    languages: str | None = None  # which two, where a file holds more: `en,de`, or columns by number: `1,2`
    validation_source: str | None = None  # held-out sentences to choose the best weights by; else a part is set apart
    validation_target: str | None = None  # their translations
    validation_pairs: str | None = None  # or both in one file
    test_source: str | None = None  # held-out sentences to judge the end result by; without them a part is set apart
    test_target: str | None = None  # their translations
    test_pairs: str | None = None  # or both in one file
    grammar: int | None = None  # or this many pairs from the embedded grammar of English and German
    longest: int = 128  # words; longer pairs are left out and reported
    tokens: Literal["bpe", "wordpiece", "unigram", "words", "characters", "bytes"] | None = (
        None  # what the model reads and writes (default bpe; words for a regular language)
    )
    vocabulary: int | None = None  # how many different tokens (default: by the size of the data)
    joint: bool = True  # one vocabulary for both languages
    smoothing: float | None = None  # label smoothing (default 0.1, or 0 for a regular language)
    bpe_dropout: float = 0.0  # BPE-dropout: probability that a merge of `bpe` is left out in training
    token_dropout: float | None = None  # probability that a token is hidden in training (default 0, or by data and budget)
    both_ways: float | None = None  # share of training, at first, in both directions (default 0, or by data and budget)
    beam: int | None = None  # hypotheses kept when judged and used; 1 is greedy (default 5; 1 for a regular language)
    penalty: float = 1.5  # length penalty: higher gives longer output

    def __post_init__(self) -> None:
        given = [self.pairs is not None, self.source is not None or self.target is not None, self.grammar is not None]
        parts = ("", "validation_", "test_")
        halves = [(p.replace("_", "-"), getattr(self, f"{p}source"), getattr(self, f"{p}target")) for p in parts]
        require(
            (sum(given) <= 1, "`--pairs`, `--source` with `--target` and `--grammar` exclude each other"),
            *(((s is None) == (t is None), f"`--{p}source` and `--{p}target` come together") for p, s, t in halves),
            (self.grammar is None or self.grammar >= 1, "`--grammar` must be at least 1"),
            (self.longest >= 1, "`--longest` must be at least 1"),
            (self.vocabulary is None or self.vocabulary >= 1, "`--vocabulary` must be at least 1"),
            (0 <= (self.smoothing or 0) < 1, f"`--smoothing` must be in [0, 1), not {self.smoothing}"),
            (0 <= self.bpe_dropout <= 1, f"`--bpe-dropout` must be between 0 and 1, not {self.bpe_dropout}"),
            (0 <= (self.token_dropout or 0) < 1, f"`--token-dropout` must be in [0, 1), not {self.token_dropout}"),
            (0 <= (self.both_ways or 0) <= 1, f"`--both-ways` must be between 0 and 1, not {self.both_ways}"),
            (self.joint or not self.both_ways, "`--both-ways` needs one vocabulary of both languages: `--joint`"),
            (self.beam is None or self.beam >= 1, f"`--beam` must be at least 1, not {self.beam}"),
            (0 <= self.penalty < 1e6, f"`--penalty` must be a number of at least 0, not {self.penalty}"),
        )


class Translation(Task[Data, PairCorpus, PairBatch, EncoderDecoder]):
    """Translation: a sentence of one language in, the sentence of another out.

    loss: smoothed cross-entropy of the next target token; figures: BLEU and chrF of greedy translations of held-out sentences.
    """

    aliases = ("machine translation", "NMT", "neural machine translation")
    reads, gives, model = "tokens", "target tokens", "transformer"
    unit, loss_unit = "tokens", "nats per token"
    figures = (
        Figure("BLEU", scale="0 to 100"),
        Figure("chrF", scale="0 to 100"),
        Figure("exact", digits=3, scale="share of outputs that equal the reference"),
        Figure("loss", "nats per token", "lower", 3),
    )
    columns = ("source", "translation", "reference")
    uses = ("translate", "align", "inspect")
    files = (
        "source", "target", "pairs", "validation_source", "validation_target", "validation_pairs", "test_source", "test_target",
        "test_pairs",
    )  # fmt: skip
    tested = ("source", "target", "pairs", "languages", "beam", "penalty")
    difference = staticmethod(difference)

    def __init__(self, data: Data, source: Tokenizer, target: Tokenizer, seen: Seen) -> None:
        self.data, self.source, self.target, self.seen = data, source, target, seen

    # -- data ----------------------------------------------------------------------------------------------------------

    @classmethod
    def collect(cls, data: Data, seed: int) -> PairCorpus:
        if data.grammar is None and data.pairs is None and data.source is None:
            raise UsageError(
                "which data? `--source` and `--target`, or `--pairs`",
                "`headway train translation --help` explains them.",
            )
        return collect_pairs(data, seed)

    @classmethod
    def recognise(cls, paths: Sequence[str]) -> Data | None:
        if len(paths) == 2 and not any(InputFile(path).suffix in READERS for path in paths):
            return Data(source=paths[0], target=paths[1])
        return Data(pairs=paths[0]) if len(paths) == 1 and looks_paired(paths[0]) else None

    @classmethod
    def options_for(cls, paths: Sequence[str]) -> tuple[str, ...]:
        words = word_columns(paths[0]) if len(paths) == 1 else []
        return ("--pairs", paths[0], "--languages", ",".join(words[:2])) if len(words) > 1 else ()

    @classmethod
    def propose(cls, recipe: Recipe[Data], corpus: PairCorpus, base: Base | None) -> Proposal[Data]:
        """Small data wants a small vocabulary and much dropout, in a long training also of tokens; a regular language none of it."""
        data, t = recipe.data, recipe.training
        pairs, regular = len(corpus.train), corpus.unseen_words < REGULAR
        grade = (pairs >= 8000) + (pairs > 300_000)
        long = t.minutes is not None and t.minutes >= LONG
        often = long and not regular and grade < 2
        small = regular or (t.minutes is not None and t.minutes < 5)
        chosen = recipe.model or Choice(cls.model)
        model = sized(
            chosen,
            width=(128, 256, 512)[max(0, grade - small)],
            depth=3 if chosen.name == cls.model else None,
            inner=4 if grade == 2 else 2,
            head_width=64,
            dropout=0.0 if regular else (0.3, 0.3 if often else 0.25, 0.1)[grade],
            more=None if data.joint else {"share": False},
        )
        tokens = data.tokens or ("words" if regular else "bpe")
        size = data.vocabulary or choose_size(tokens, corpus.characters, corpus.words)
        smoothing = (0.0 if regular else 0.1) if data.smoothing is None else data.smoothing
        beam, batch = data.beam or (1 if regular else 5), t.batch or (1024 if pairs < 8000 or regular else 2048)
        hidden = 0.1 * often if data.token_dropout is None else data.token_dropout
        both = (1 / 3 if often and data.joint and base is None else 0.0) if data.both_ways is None else data.both_ways
        chosen_tokens = {"tokens": data.tokens if base else tokens, "vocabulary": size, "token_dropout": hidden}
        settled = replaced(data, chosen_tokens | {"smoothing": smoothing, "beam": beam, "both_ways": both}, "data")
        rate, precision = usual_rate(t, base, pairs, 3e-3), cast(Precision, "auto" if long else "float32")
        return Proposal(settled, model, batch, rate, "trapezoid", 0.1 if often else 0.01, precision)

    @classmethod
    def fit(cls, data: Data, corpus: PairCorpus, base: Base | None) -> "Translation":
        """Train the tokenizers on the training pairs, or take over those of the run that this one begins with."""
        pairs, size = corpus.train, data.vocabulary or 8000
        if base is not None:
            found = [tokenizer_of(base.task, "source"), tokenizer_of(base.task, "target")]
        else:
            texts = [[*pairs.sources, *pairs.targets]] if data.joint else [pairs.sources, pairs.targets]
            found = [train_tokenizer(data.tokens or "bpe", side, size) for side in texts]
        sides = found[0].encode(list(pairs.sources)), found[-1].encode(list(pairs.targets))
        return cls(data, found[0], found[-1], Seen.of(pairs.sources, *sides))

    def save(self, folder: Path) -> None:
        if self.source is self.target:
            save_tokenizer(self.source, folder / "tokenizer.json")
        else:
            save_tokenizer(self.source, folder / "tokenizer.source.json")
            save_tokenizer(self.target, folder / "tokenizer.target.json")
        self.seen.save(folder)

    @classmethod
    def load(cls, data: Data, folder: Path) -> "Translation":
        joint = (folder / "tokenizer.json").exists() or not (folder / "tokenizer.source.json").exists()
        names = ["tokenizer.json"] if joint else ["tokenizer.source.json", "tokenizer.target.json"]
        tokenizers = [load_tokenizer(folder / name) for name in names]
        return cls(data, tokenizers[0], tokenizers[-1], Seen.load(folder))

    @property
    def sizes(self) -> dict[str, int]:
        return {"source_vocabulary": self.source.size, "target_vocabulary": self.target.size}

    def describe(self) -> str:
        return describe_vocabulary(self.target)

    # -- training ------------------------------------------------------------------------------------------------------

    def prepare(self, corpus: PairCorpus, folder: Path, batch: int, seed: int) -> PairBatches:
        write_held_out(corpus, folder)
        d, train = self.data, corpus.train
        return self._batches(train.sources, train.targets, batch, seed, d.bpe_dropout, d.both_ways or 0.0)

    def _batches(
        self,
        sources: Sequence[str],
        targets: Sequence[str],
        batch: int,
        seed: int,
        dropout: float = 0.0,
        both_ways: float = 0.0,
    ) -> PairBatches:
        special = (self.source.pad, self.source.bos, self.source.eos)
        if dropout:
            source = Spellings(sources, BpeDropout(self.source, dropout), derive(seed, "source"))
            target = Spellings(targets, BpeDropout(self.target, dropout), derive(seed, "target"))
            return RespelledBatches(source, target, budget=batch, seed=seed, special=special, both_ways=both_ways)
        ids = self.source.encode(list(sources)), self.target.encode(list(targets))
        return PairBatches(*ids, budget=batch, seed=seed, special=special, both_ways=both_ways)

    def loss(self, model: EncoderDecoder, batch: PairBatch) -> Loss:
        return pair_loss(model, batch, self.data.smoothing or 0.0, self.data.token_dropout or 0.0)

    def validate(self, model: EncoderDecoder, folder: Path) -> Validation:
        """The loss over all validation pairs; BLEU, chrF and exact match of the first ones, greedily decoded; a few samples."""
        part = self._held_out(folder)["validation"]
        return validate_part(self.searcher, model, part, self.mean_loss(model, part))

    def mean_loss(self, model: EncoderDecoder, part: HeldOut) -> float:
        """The loss of a token, a mean over all tokens of a part."""
        device = next(iter(model.parameters())).device
        with torch.inference_mode():
            batches = self._batches(part.sources, part.targets, 2048, 0).in_order()
            found = [self.loss(model, batch.to(device)) for batch in batches]
        return sum(float(loss.plain) for loss in found) / sum(loss.count for loss in found)

    def validation_batches(self, folder: Path) -> PairBatches:
        part = self._held_out(folder)["validation"]
        return self._batches(part.sources, part.targets, 2048, 0)

    def given_batches(self, data: Data, folder: Path, batch: int) -> PairBatches:
        given = self.collect(data, 0).train
        return self._batches(given.sources, given.targets, batch, 0)

    @once_per_folder
    def _held_out(self, folder: Path) -> dict[str, HeldOut]:
        """The parts that the run keeps."""
        return read_held_out(folder)

    # -- judging -------------------------------------------------------------------------------------------------------

    def judge(self, model: EncoderDecoder, folder: Path) -> Judgement:
        """Scores of the test parts, or of the validation part if the data was too small to set a test part apart."""
        parts = self._held_out(folder)
        found = judge_parts(self.searcher, model, parts, self.data.beam or 5, self.data.penalty)
        return dataclasses.replace(found, scores=found.scores + judge_alignment(self, model, parts, folder))

    def evaluate(self, model: EncoderDecoder, data: Data) -> Judgement:
        return judge_part(self.searcher, model, "given", read_own(data), data.beam or 5, data.penalty)

    def example(self, model: EncoderDecoder) -> tuple[Callable[[], Tensor], int]:
        s, t = self.seen.typical
        ids = torch.zeros(1, t, dtype=torch.long, device=next(iter(model.parameters())).device)
        inputs = ids.new_zeros(1, s), ids.new_ones(1, s, dtype=torch.bool), ids
        return lambda: model.logits(model(*inputs)), t

    def commands(self, folder: str, judgement: Judgement) -> list[str]:
        sentence = quote(judgement.samples[0][0] if judgement.samples else "...")
        steps = [f"translate {folder} {sentence}", f"inspect {folder} {sentence} --out maps.html"]
        if self.data.grammar is not None:
            return [*steps, "train translation --source YOUR.en --target YOUR.de --minutes 30 --out runs/mine"]
        suffixes = [Path(p).suffix or "" for p in (self.data.source, self.data.target) if p]
        files = f"--source test{suffixes[0]} --target test{suffixes[1]}" if len(suffixes) == 2 else "--pairs test.tsv"
        return [*steps, f"evaluate {folder} {files}"]

    # -- using ---------------------------------------------------------------------------------------------------------

    @cached_property
    def searcher(self) -> Searcher:
        return Searcher(self.source, self.target, self.seen)

    def translate(
        self, model: EncoderDecoder, texts: Sequence[str], beam: int, penalty: float, batch: int, best: int
    ) -> list[list[Translated]]:
        return self.searcher.translate(model, texts, beam, penalty, batch, best)

    def align(
        self, model: EncoderDecoder, sources: Sequence[str], targets: Sequence[str], folder: Path
    ) -> tuple[list[Links], str]:
        part = self._held_out(folder)["validation"].first(200)
        head = read_head(self, model, folder) or choose_head(self, model, part)
        return align_pairs(self, model, head, sources, targets), str(head)

    def attention(self, model: EncoderDecoder, text: str, target: str | None = None) -> tuple[list[Map], str]:
        if target is None:
            target = self.translate(model, [text], self.data.beam or 5, self.data.penalty, 1, 1)[0][0].text
        return attention_maps(self, first_member(model), text, target), target
