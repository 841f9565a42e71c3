import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from headway.core.config import Choice, require
from headway.core.errors import UsageError
from headway.core.files import write_json
from headway.data.position_batches import SpanBatch, SpanBatches
from headway.data.questions import Question, Questions, read_questions
from headway.data.tokens import Tokenizer
from headway.models.reader import Reader
from headway.tasks.asked_questions import collect_questions, looks_asked, read_held_out, write_held_out
from headway.tasks.brought import brought_parts, require_path
from headway.tasks.held_out import judged, once_per_folder, read_kept
from headway.tasks.labels import LabelledCorpus
from headway.tasks.recipe import Proposal, Recipe
from headway.tasks.shell import quote
from headway.tasks.sizing import readable_length, sized, usual_rate, width_of
from headway.tasks.span_scores import SEPARATOR, SpanScores
from headway.tasks.span_windows import Window, best_answer, make_windows
from headway.tasks.task import Base, Figure, Judgement, Loss, Task, Validation
from headway.tasks.text_maps import reader_maps
from headway.tasks.uses import Answered, Map
from headway.tasks.vocabulary import learn_tokenizer, load_tokenizer, save_tokenizer, size_for, unseen_characters

BATCH = 32  # windows that are judged at once
WHICH = "which questions? `--jsonl`: context, question and answer per line"


@dataclass(frozen=True)
class Data:
    jsonl: str | None = None  # context, question, answer and start per line; or SQuAD's .json; `-` for standard input
    validation_jsonl: str | None = (
        None  # held-out questions to choose the best weights by; without them a part is set apart
    )
    test_jsonl: str | None = None  # held-out questions to judge the end result by; without them a part is set apart
    tokens: Literal["bpe", "wordpiece", "unigram", "words", "characters", "bytes"] = "bpe"  # what the model reads
    vocabulary: int | None = None  # how many different tokens (default: by the size of the data)
    longest: int = 384  # tokens of question and passage; a longer passage is read through windows
    stride: int = 128  # tokens from the beginning of one window to the next; at most half a window
    longest_answer: int = 30  # tokens

    def __post_init__(self) -> None:
        require(
            (self.vocabulary is None or self.vocabulary >= 1, "`--vocabulary` must be at least 1"),
            (self.longest >= 8, "`--longest` must be at least 8"),
            (self.stride >= 1, "`--stride` must be at least 1"),
            (self.longest_answer >= 1, "`--longest-answer` must be at least 1"),
        )


@dataclass(frozen=True)
class Seen:
    """What training has seen: the median length of its rows in tokens, how many answers no window holds, and all characters."""

    median: int
    lost: int
    characters: str


class Spans(Task[Data, LabelledCorpus[Questions], SpanBatch, Reader]):
    """Question answering: a passage and a question in, the part of the passage that answers it out.

        p(start = t) = softmax_t(u . h_t)    p(end = t) = softmax_t(v . h_t)    loss = -1/2 (log p(start) + log p(end))

    over the tokens of the passage and the mark before the question, which says that there is no answer. Devlin et al.
    2019, https://arxiv.org/abs/1810.04805, section 4.2; lecture C. Figures: exact match and F1 of held-out questions.
    """

    aliases = (
        "question answering",
        "span extraction",
        "extractive question answering",
        "SQuAD",
        "reading comprehension",
    )
    reads, gives, model = "tokens", "one per position", "encoder"
    unit, loss_unit = "windows", "nats per window"
    figures = (
        Figure("F1", digits=4, scale="0 to 1"),
        Figure("exact", digits=4, scale="0 to 1"),
        Figure("loss", "nats per window", "lower", 4),
    )
    columns = ("question | passage", "predicted", "true")
    uses = ("answer", "inspect")
    files = ("jsonl", "validation_jsonl", "test_jsonl")
    tested = ("jsonl",)

    def __init__(self, data: Data, tokenizer: Tokenizer, seen: Seen) -> None:
        self.data, self.tokenizer, self.seen = data, tokenizer, seen

    # -- data ----------------------------------------------------------------------------------------------------------

    @classmethod
    def collect(cls, data: Data, seed: int) -> LabelledCorpus[Questions]:
        path = require_path(data.jsonl, WHICH, "train spans")
        return collect_questions(path, brought_parts(data.validation_jsonl, data.test_jsonl), seed)

    @classmethod
    def recognise(cls, paths: Sequence[str]) -> Data | None:
        return Data(paths[0]) if len(paths) == 1 and looks_asked(paths[0]) else None

    @classmethod
    def propose(cls, recipe: Recipe[Data], corpus: LabelledCorpus[Questions], base: Base | None) -> Proposal[Data]:
        """To find an answer a model must compare question and passage: two layers are the least."""
        data, t = recipe.data, recipe.training
        grade = (len(corpus.train) >= 5000) + (len(corpus.train) >= 50_000)
        chosen = recipe.model or Choice(cls.model)
        longest = readable_length(chosen, data.longest)
        model = sized(
            chosen,
            width=width_of(base, (128, 128, 256)[grade]),
            depth=(2, 3, 4)[grade],
            inner=4,
            head_width=32,
            dropout=0.1,
            more={"context": longest},
        )
        size = data.vocabulary or size_for(data.tokens, _texts(corpus.train))
        settled = dataclasses.replace(data, vocabulary=size, longest=longest)
        return Proposal(settled, model, t.batch or 32, usual_rate(t, base, len(corpus.train)))

    @classmethod
    def fit(cls, data: Data, corpus: LabelledCorpus[Questions], base: Base | None) -> "Spans":
        """Learn the vocabulary, or take it over from the run that this one begins with."""
        texts = _texts(corpus.train)
        tokenizer = learn_tokenizer(data.tokens, texts, data.vocabulary, base)
        task = cls(data, tokenizer, Seen(1, 0, "".join(sorted(set().union(*texts)))))
        rows = [task._windows(row.question, row.context) for row in corpus.train.rows]
        median = int(np.median([len(window.ids) for windows in rows for window in windows]))
        answered = [(row, windows) for row, windows in zip(corpus.train.rows, rows, strict=True) if row.start >= 0]
        lost = sum(not any(any(_place(w, row)) for w in windows) for row, windows in answered)
        return cls(data, tokenizer, dataclasses.replace(task.seen, median=median, lost=lost))

    def save(self, folder: Path) -> None:
        save_tokenizer(self.tokenizer, folder / "tokenizer.json")
        write_json(folder / "seen.json", asdict(self.seen))

    @classmethod
    def load(cls, data: Data, folder: Path) -> "Spans":
        path = folder / "seen.json"
        seen = read_kept(Seen, path)
        return cls(data, load_tokenizer(folder / "tokenizer.json"), seen)

    @property
    def sizes(self) -> dict[str, int]:
        return {"vocabulary": self.tokenizer.size, "tags": 2}  # the scores of a first and of a last token

    def describe(self) -> str:
        lost = f", {self.seen.lost:,} answers do not fit into one window" if self.seen.lost else ""
        return f"{self.tokenizer.kind} vocabulary of {self.tokenizer.size:,}{lost}"

    # -- training ------------------------------------------------------------------------------------------------------

    def prepare(self, corpus: LabelledCorpus[Questions], folder: Path, batch: int, seed: int) -> SpanBatches:
        write_held_out(corpus, folder)
        return self._batches(corpus.train.rows, batch, seed)[0]

    def _windows(self, question: str, context: str) -> list[Window]:
        return make_windows(self.tokenizer, question, context, self.data.longest, self.data.stride)

    def _batches(self, rows: Sequence[Question], batch: int, seed: int = 0) -> tuple[SpanBatches, list[list[Window]]]:
        """Batches of about `batch` windows: as many tokens as so many of mean length have; and the windows of each question."""
        every = [self._windows(row.question, row.context) for row in rows]
        flat = [(window, row) for row, windows in zip(rows, every, strict=True) for window in windows]
        ids = [window.ids for window, _ in flat]
        passages = np.array([window.passage for window, _ in flat])
        ends = np.array([_place(window, row) for window, row in flat])
        budget = round(batch * sum(map(len, ids)) / len(ids))
        return SpanBatches(ids, passages, ends, budget=budget, seed=seed, padding=self.tokenizer.pad), every

    def _logs(self, model: Reader, batch: SpanBatch) -> Float[Tensor, "b t 2"]:
        """Log-probabilities of each token to be the first and the last of the answer."""
        logits = model.tag_logits(model.states(batch.ids, batch.keep, batch.segments)).float()
        return logits.masked_fill(~batch.allowed[..., None], float("-inf")).log_softmax(1)

    def loss(self, model: Reader, batch: SpanBatch) -> Loss:
        logs = self._logs(model, batch)
        total = sum(F.nll_loss(logs[..., k], batch.ends[:, k], reduction="sum") for k in (0, 1)) / 2
        return Loss(torch.as_tensor(total), torch.as_tensor(total).detach(), len(batch.ends))

    def validate(self, model: Reader, folder: Path) -> Validation:
        return self._scores(model, self._held_out(folder)["validation"].rows)[0].validation()

    def validation_batches(self, folder: Path) -> SpanBatches:
        return self._batches(self._held_out(folder)["validation"].rows, BATCH)[0]

    @once_per_folder
    def _held_out(self, folder: Path) -> dict[str, Questions]:
        """The parts that the run keeps."""
        return read_held_out(folder)

    # -- judging -------------------------------------------------------------------------------------------------------

    def _scores(self, model: Reader, rows: tuple[Question, ...]) -> tuple[SpanScores, list[Answered]]:
        device = next(iter(model.parameters())).device
        batches, every = self._batches(rows, BATCH)
        logs: list[np.ndarray] = [np.empty(0)] * len(batches.ids)
        total = 0.0
        with torch.inference_mode():
            for which, batch in batches.in_order():
                found = self._logs(model, batch.to(device)).double().cpu().numpy()
                total -= sum(found[np.arange(len(which)), batch.ends[:, k], k].sum() for k in (0, 1)) / 2
                for row, log in zip(which.tolist(), found, strict=True):
                    logs[row] = log
        answers, start = [], 0
        for row, windows in zip(rows, every, strict=True):
            best = best_answer(windows, logs[start : start + len(windows)], self.data.longest_answer)
            start += len(windows)
            raw = row.context[best.start : best.stop]
            begin, text = best.start + len(raw) - len(raw.lstrip()), raw.strip()
            answers.append(Answered(text, begin, begin + len(text), best.probability, self._warnings(row)))
        return SpanScores(rows, tuple(answer.text for answer in answers), total / len(batches.ids)), answers

    def judge(self, model: Reader, folder: Path) -> Judgement:
        """Scores of the test part, or of the validation part if the data was too small to set a test part apart."""
        parts = self._held_out(folder)
        name = judged(parts)
        found = self._scores(model, parts[name].rows)[0]
        return found.judgement(name, {n: len(part) for n, part in parts.items()}, ())

    def evaluate(self, model: Reader, data: Data) -> Judgement:
        part = read_questions(require_path(data.jsonl, WHICH, "evaluate"))
        left = [f"{len(part.problems):,} rows could not be read and were left out"] if part.problems else []
        return self._scores(model, part.rows)[0].judgement("given", {"given": len(part)}, left)

    def example(self, model: Reader) -> tuple[Callable[[], Tensor], int]:
        ids = torch.zeros(1, self.seen.median, dtype=torch.long, device=next(iter(model.parameters())).device)
        keep = torch.ones_like(ids, dtype=torch.bool)
        return lambda: model.tag_logits(model.states(ids, keep, torch.zeros_like(ids))), 1

    def commands(self, folder: str, judgement: Judgement) -> list[str]:
        text = judgement.samples[0][0] if judgement.samples else f"...{SEPARATOR}..."
        return [
            f"answer {folder} --context-file passage.txt --question {quote(text.partition(SEPARATOR)[0])}",
            f"evaluate {folder} --jsonl test.jsonl",
            f"inspect {folder} {quote(text)} --out maps.html",
        ]

    # -- using ---------------------------------------------------------------------------------------------------------

    def answer(self, model: Reader, contexts: Sequence[str], questions: Sequence[str]) -> list[Answered]:
        rows = tuple(Question(c, q, ("",), -1) for c, q in zip(contexts, questions, strict=True))
        return self._scores(model, rows)[1]

    def _warnings(self, row: Question) -> tuple[str, ...]:
        """What should make a person look twice at an answer."""
        warnings = [f"the {name} is empty" for name in ("context", "question") if not getattr(row, name).strip()]
        warnings += unseen_characters(row.context + row.question, self.seen.characters)
        asked = len(self.tokenizer.encode([row.question.strip()])[0])
        if asked > self.data.longest // 2:
            warnings.append(
                f"the question has {asked:,} tokens, of which the first {self.data.longest // 2:,} were read"
            )
        return tuple(warnings)

    def attention(self, model: Reader, text: str, target: str | None = None) -> tuple[list[Map], str]:
        """Maps of every layer and head for a question and the beginning of its passage, `question | passage`; and the answer."""
        question, mark, context = text.partition(SEPARATOR)
        if not mark or not context.strip():
            hint = 'for example `headway inspect runs/questions "Where does Anna live? | Anna lives in Rome."`.'
            raise UsageError("the text should be a question, ` | `, and the passage", hint)
        window = self._windows(question, context)[0]
        segments = [int(i >= window.passage) for i in range(len(window.ids))]
        found = self.answer(model, [context], [question])[0]
        return reader_maps(model, window.ids, self.tokenizer.pieces(window.ids), segments), found.text or "none"


def _texts(part: Questions) -> list[str]:
    """All texts of a part, each passage once."""
    return [*dict.fromkeys(row.context for row in part.rows), *(row.question for row in part.rows)]


def _place(window: Window, row: Question) -> tuple[int, int]:
    return window.place(row.start, row.start + len(row.answers[0].strip()))
