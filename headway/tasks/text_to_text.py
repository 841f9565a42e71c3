import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from torch import Tensor

from headway.core.config import Choice, require
from headway.core.errors import UsageError
from headway.core.files import read_json, write_json
from headway.data.batches import PairBatch, PairBatches
from headway.data.findings import unread
from headway.data.messages import list_names
from headway.data.mixed_batches import MixedBatches
from headway.data.pairs import read_pairs
from headway.data.tokens import Tokenizer
from headway.evaluate.translation import chrf, exact_match
from headway.models.encoder_decoder import EncoderDecoder
from headway.tasks.brought import brought_parts, require_path
from headway.tasks.held_out import damaged, once_per_folder
from headway.tasks.pairs import HeldOut, PairCorpus, read_held_out, write_held_out
from headway.tasks.recipe import Proposal, Recipe
from headway.tasks.scoring import JUDGED, VALIDATED
from headway.tasks.search import Seen
from headway.tasks.shell import quote
from headway.tasks.sizing import sized, usual_rate
from headway.tasks.task import Base, Figure, Judgement, Loss, Score, Task, Validation
from headway.tasks.task_files import by_task, collect_tasks, prefix_of, task_of, task_paths
from headway.tasks.translation import Data as TranslationData
from headway.tasks.translation import Translation
from headway.tasks.uses import Map, Translated
from headway.tasks.vocabulary import choose_size, describe_vocabulary, learn_tokenizer, load_tokenizer, save_tokenizer

FILE = "tasks.json"
WHICH = "which tasks? `--tasks`: a folder with one file of pairs per task"


@dataclass(frozen=True)
class Data:
    tasks: str | None = (
        None  # a folder with one file of inputs and outputs per task: `summarise.tsv`, `translate_en_de.tsv`
    )
    validation_tasks: str | None = (
        None  # the same with held-out pairs to choose the best weights by; else a part is set apart
    )
    test_tasks: str | None = None  # the same with held-out pairs to judge the end result by; else a part is set apart
    limit: int = 65536  # examples of one task in an epoch; of a larger task every epoch takes others
    longest: int = 256  # words; longer pairs are left out and reported
    tokens: Literal["bpe", "wordpiece", "unigram", "words", "characters", "bytes"] = (
        "bpe"  # what the model reads and writes
    )
    vocabulary: int | None = None  # how many different tokens (default: by the size of the data)
    smoothing: float = 0.0  # label smoothing
    beam: int = 1  # hypotheses kept when the run is judged and used; 1 is greedy
    penalty: float = 1.0  # length penalty: higher gives longer output

    def __post_init__(self) -> None:
        require(
            (self.limit >= 1, "`--limit` must be at least 1"),
            (self.longest >= 1, "`--longest` must be at least 1"),
            (self.vocabulary is None or self.vocabulary >= 1, "`--vocabulary` must be at least 1"),
            (0 <= self.smoothing < 1, f"`--smoothing` must be in [0, 1), not {self.smoothing}"),
            (self.beam >= 1, f"`--beam` must be at least 1, not {self.beam}"),
            (0 <= self.penalty < 1e6, f"`--penalty` must be a number of at least 0, not {self.penalty}"),
        )


class TextToText(Task[Data, PairCorpus, PairBatch, EncoderDecoder]):
    """Text to text: one model for many tasks, each of them text in and text out, named by a prefix.

        "reverse: a b c" -> "c b a"        "translate en de: A man sleeps." -> "Ein Mann schläft."

    Tasks are mixed in proportion to their sizes with a limit; the loss is the cross-entropy of the next output token.
    Raffel et al. 2020, https://arxiv.org/abs/1910.10683, sections 2.4 and 3.5.2; lecture D. Figures: exact match and chrF
    of held-out pairs, as means over the tasks.
    """

    aliases = ("text-to-text", "multi-task learning", "sequence-to-sequence tasks")
    reads, gives, model = "tokens", "target tokens", "t5"
    unit, loss_unit = "tokens", "nats per token"
    figures = (
        Figure("exact", digits=3, scale="share of outputs that equal the reference"),
        Figure("chrF", scale="0 to 100"),
        Figure("loss", "nats per token", "lower", 3),
    )
    columns = ("input", "output", "reference")
    uses = ("translate", "inspect")
    files = ("tasks", "validation_tasks", "test_tasks")
    tested = ("tasks", "beam", "penalty")

    def __init__(self, data: Data, tokenizer: Tokenizer, seen: Seen, names: tuple[str, ...]) -> None:
        self.data, self.tokenizer, self.seen, self.names = data, tokenizer, seen, names
        settings = TranslationData(smoothing=data.smoothing, beam=data.beam, penalty=data.penalty)
        self.translation = Translation(settings, tokenizer, tokenizer, seen)  # loss, search and maps are the same

    # -- data ----------------------------------------------------------------------------------------------------------

    @classmethod
    def collect(cls, data: Data, seed: int) -> PairCorpus:
        path = require_path(data.tasks, WHICH, "train text-to-text")
        return collect_tasks(path, brought_parts(data.validation_tasks, data.test_tasks), data.longest, seed)

    @classmethod
    def recognise(cls, paths: Sequence[str]) -> Data | None:
        """Only if asked: a folder may hold anything."""
        return None

    @classmethod
    def propose(cls, recipe: Recipe[Data], corpus: PairCorpus, base: Base | None) -> Proposal[Data]:
        data, t, pairs = recipe.data, recipe.training, len(corpus.train)
        grade = (pairs >= 8000) + (pairs > 300_000)
        small = t.minutes is not None and t.minutes < 5
        model = sized(
            recipe.model or Choice(cls.model),
            width=(128, 256, 512)[max(0, grade - small)],
            depth=(2, 3, 4)[grade],
            inner=4,
            head_width=32,
            dropout=(0.0, 0.1, 0.1)[grade],
        )
        size = data.vocabulary or choose_size(data.tokens, corpus.characters, corpus.words)
        settled = dataclasses.replace(data, vocabulary=size)
        return Proposal(settled, model, t.batch or (1024 if pairs < 8000 else 2048), usual_rate(t, base, pairs, 3e-3))

    @classmethod
    def fit(cls, data: Data, corpus: PairCorpus, base: Base | None) -> "TextToText":
        """One vocabulary for inputs and outputs of all tasks, or that of the run that this one begins with."""
        pairs = corpus.train
        tokenizer = learn_tokenizer(data.tokens, [*pairs.sources, *pairs.targets], data.vocabulary, base)
        ids = tokenizer.encode(list(pairs.sources)), tokenizer.encode(list(pairs.targets))
        names = tuple(task_paths(data.tasks or ""))
        return cls(data, tokenizer, Seen.of(pairs.sources, *ids), names)

    def save(self, folder: Path) -> None:
        save_tokenizer(self.tokenizer, folder / "tokenizer.json")
        self.seen.save(folder)
        write_json(folder / FILE, list(self.names))

    @classmethod
    def load(cls, data: Data, folder: Path) -> "TextToText":
        names = read_json(folder / FILE)
        if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
            raise damaged(folder / FILE, "expected the names of the tasks")
        return cls(data, load_tokenizer(folder / "tokenizer.json"), Seen.load(folder), tuple(names))

    @property
    def sizes(self) -> dict[str, int]:
        return {"source_vocabulary": self.tokenizer.size, "target_vocabulary": self.tokenizer.size}

    def describe(self) -> str:
        return f"{len(self.names)} tasks ({list_names(self.names[:8])}), {describe_vocabulary(self.tokenizer)}"

    # -- training ------------------------------------------------------------------------------------------------------

    def prepare(self, corpus: PairCorpus, folder: Path, batch: int, seed: int) -> MixedBatches:
        write_held_out(corpus, folder)
        pairs, tok = corpus.train, self.tokenizer
        numbers = [self.names.index(task_of(source, self.names) or "") for source in pairs.sources]
        ids = tok.encode(list(pairs.sources)), tok.encode(list(pairs.targets))
        special = (tok.pad, tok.bos, tok.eos)
        return MixedBatches(*ids, numbers, limit=self.data.limit, budget=batch, seed=seed, special=special)

    def loss(self, model: EncoderDecoder, batch: PairBatch) -> Loss:
        return self.translation.loss(model, batch)

    def validate(self, model: EncoderDecoder, folder: Path) -> Validation:
        """The loss over all validation pairs; exact match and chrF of some of each task, greedily decoded."""
        part = self._held_out(folder)["validation"]
        loss, tasks = self.translation.mean_loss(model, part), by_task(part, self.names)
        each = max(1, VALIDATED // len(tasks))
        exact, close, samples = [], [], []
        for task in tasks.values():
            sources, references = list(task.sources[:each]), list(task.targets[:each])
            found = [f[0].text for f in self.translation.searcher.search(model, sources, beam=1)]
            exact.append(exact_match(found, references, resamples=0).value / 100)
            close.append(chrf(found, references, resamples=0).value)
            samples.append((sources[0], found[0], references[0]))
        values = {"exact": float(np.mean(exact)), "chrF": float(np.mean(close)), "loss": loss}
        return Validation(values, values["exact"] + 0.01 * values["chrF"] - 1e-3 * loss, tuple(samples[:5]))

    def validation_batches(self, folder: Path) -> PairBatches:
        return self.translation.validation_batches(folder)

    @once_per_folder
    def _held_out(self, folder: Path) -> dict[str, HeldOut]:
        """The parts that the run keeps."""
        return read_held_out(folder)

    # -- judging -------------------------------------------------------------------------------------------------------

    def judge(self, model: EncoderDecoder, folder: Path) -> Judgement:
        """Scores of each task: of its test part, or of its validation part if it was too small to set a test part apart."""
        parts = {name: by_task(part, self.names) for name, part in self._held_out(folder).items()}
        sizes = {name: sum(len(task.sources) for task in part.values()) for name, part in parts.items()}
        chosen = {name: "test" if name in parts.get("test", {}) else "validation" for name in self.names}
        tasks = {name: (part, parts[part][name]) for name, part in chosen.items() if name in parts[part]}
        return self._judgement(model, tasks, sizes, self.data.beam, self.data.penalty)

    def _judgement(
        self,
        model: EncoderDecoder,
        tasks: dict[str, tuple[str, HeldOut]],
        sizes: dict[str, int],
        beam: int,
        penalty: float,
    ) -> Judgement:
        scores, rows, worst, exact = [], [], [], {}
        for name, (part, whole) in tasks.items():
            task = whole.first(JUDGED)
            found = [f[0].text for f in self.translation.searcher.search(model, list(task.sources), beam, penalty)]
            right, close = exact_match(found, list(task.targets)), chrf(found, list(task.targets))
            for s, kind in ((right, "exact match"), (close, "chrF")):
                scores.append(Score(part, f"{name}: {kind}", s.value, s.low, s.high, 1, s.signature))
            own = list(zip(task.sources, found, task.targets, strict=True))
            rows += own
            worst += [row for row in own if row[1] != row[2]][:2]
            exact[name] = right.value
        samples = tuple(next(row for row in rows if task_of(row[0], self.names) == name) for name in tasks)
        outputs = tuple((row[1], row[2]) for row in rows)
        notes = tuple(f"{name}: {words}" for name, (_, whole) in tasks.items() for words in whole.left_out)
        return Judgement(tuple(scores), samples, verdict(exact), sizes, "pairs", notes, tuple(worst[:10]), outputs)

    def evaluate(self, model: EncoderDecoder, data: Data) -> Judgement:
        tasks = {}
        for name, path in task_paths(require_path(data.tasks, WHICH, "evaluate")).items():
            if name not in self.names:
                raise UsageError(f"the run does not know the task `{name}`", f"it knows {list_names(self.names)}.")
            pairs = read_pairs(pairs=path)
            sources = tuple(prefix_of(name) + text for text in pairs.sources)
            tasks[name] = ("given", HeldOut(sources, pairs.targets, left_out=unread(pairs.problems, "pair")))
        sizes = {"given": sum(len(part.sources) for _, part in tasks.values())}
        return self._judgement(model, tasks, sizes, data.beam, data.penalty)

    def example(self, model: EncoderDecoder) -> tuple[Callable[[], Tensor], int]:
        return self.translation.example(model)

    def commands(self, folder: str, judgement: Judgement) -> list[str]:
        text = quote(judgement.samples[0][0] if judgement.samples else prefix_of(self.names[0]) + "...")
        return [
            f"translate {folder} {text}",
            f"evaluate {folder} --tasks tests/",
            f"inspect {folder} {text} --out maps.html",
        ]

    # -- using ---------------------------------------------------------------------------------------------------------

    def translate(
        self, model: EncoderDecoder, texts: Sequence[str], beam: int, penalty: float, batch: int, best: int
    ) -> list[list[Translated]]:
        """The outputs of each text, which begins with the prefix of its task; a text is never split into sentences."""
        search = self.translation.searcher
        results = []
        for text, found in zip(texts, search.search(model, texts, max(beam, best), penalty, batch), strict=True):
            warnings = search.warnings(text, [text], [found])
            if task_of(text, self.names) is None:
                warnings = (f"the text begins with no known task: {list_names(map(prefix_of, self.names))}", *warnings)
            results.append([Translated(f.text, f.hypothesis.score(penalty), warnings) for f in found[:best]])
        return results

    def attention(self, model: EncoderDecoder, text: str, target: str | None = None) -> tuple[list[Map], str]:
        written = target or self.translate(model, [text], self.data.beam, self.data.penalty, 1, 1)[0][0].text
        return self.translation.attention(model, text, written)


def verdict(exact: dict[str, float]) -> str:
    """How many tasks were learned, by their exact matches in percent."""
    learned = [name for name, value in exact.items() if value >= 90]
    low = min(exact, key=lambda name: exact[name])
    rest = f"the lowest is `{low}` with {exact[low]:.1f} % exact outputs"
    return f"{len(learned)} of {len(exact)} tasks give at least 90 % of the outputs exactly; {rest}."
