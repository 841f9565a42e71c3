from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from headway.core.config import Choice, require
from headway.core.errors import UsageError
from headway.core.files import write_json
from headway.data.cells import kinds_of
from headway.data.labelled_batches import LabelledBatch
from headway.data.messages import count_noun
from headway.data.set_tables import NAMES, TARGETS, are_numbers, read_sets
from headway.data.sets import ElementScale, LabelledSets, SetBatches
from headway.data.table import glance
from headway.models.classifier import Classifier
from headway.tasks import answers, estimates
from headway.tasks.brought import brought_parts, require_path
from headway.tasks.held_out import damaged, read_kept
from headway.tasks.labelled_task import LabelledTask
from headway.tasks.labels import FILE as CLASSES
from headway.tasks.labels import Classes, LabelledCorpus
from headway.tasks.recipe import Proposal, Recipe
from headway.tasks.set_answers import Answer, ClassAnswer, NumberAnswer
from headway.tasks.set_parts import collect_sets, generated_corpus, read_held_out, write_held_out
from headway.tasks.sizing import sized, usual_rate
from headway.tasks.task import Base, Figure, Judgement, Loss, Validation
from headway.tasks.uses import Predicted

BATCH = 128  # sets that are judged or predicted at once
FILE = "elements.json"


@dataclass(frozen=True)
class Data:
    table: str | None = None  # rows with the same name in one column form a set: .tsv .csv .jsonl .parquet
    set: str | None = None  # the column that says which set a row belongs to (default: `set`, `id` or `group`)
    target: str | None = (
        None  # the column of what a set should give, the same in all its rows (default: `target` or `y`)
    )
    validation_table: str | None = None  # held-out sets to choose the best weights by; without them a part is set apart
    test_table: str | None = None  # held-out sets to judge the end result by; without them a part is set apart
    answer: Literal["number", "class"] | None = None  # what the target is (default: found from the column)
    kind: Literal["sum", "max", "variance", "distinct", "digits"] | None = None  # or a function of generated sets
    sets: int = 2000  # how many are generated to learn from
    largest: int = 10  # elements of a generated set, at most; those of the test part have up to three times as many

    def __post_init__(self) -> None:
        require(
            (self.kind is None or self.table is None, "`--kind` and `--table` exclude each other"),
            (min(self.sets, self.largest) >= 1, "`--sets` and `--largest` must be at least 1"),
        )


class Sets(LabelledTask[Data, LabelledSets, LabelledBatch, Classifier, SetBatches]):
    """Functions of sets: a set of vectors in, a number or the probability of each class out; the order means nothing.

    loss: squared error of the standardised number, or cross-entropy of the class; figures: R2 and RMSE, or accuracy.
    """

    aliases = ("functions of sets", "set regression", "set classification", "multiple-instance learning")
    reads, gives, model = "sets", "one vector", "deep_sets"
    unit, loss_unit = "sets", "per set"
    figures = (*estimates.FIGURES[:2], *answers.FIGURES[:2], Figure("loss", "per set", "lower", 4))
    columns = ("set", "predicted", "true", "note")
    uses = ("predict",)
    files = ("table", "validation_table", "test_table")
    tested = ("table", "set", "target")
    at_once = BATCH

    def __init__(self, data: Data, scale: ElementScale, answer: Answer) -> None:
        self.data, self.scale, self.answer = data, scale, answer
        self.averages = "numbers" if isinstance(answer, NumberAnswer) else "probabilities"

    # -- data ----------------------------------------------------------------------------------------------------------

    @classmethod
    def collect(cls, data: Data, seed: int) -> LabelledCorpus[LabelledSets]:
        if data.kind is not None:
            return generated_corpus(data.kind, data.sets, data.largest, seed)
        if data.table is None:
            hint = "`headway train sets --help` explains them."
            raise UsageError("which sets? `--table` with a column that names the set of each row, or `--kind`", hint)
        brought = brought_parts(data.validation_table, data.test_table)
        return collect_sets(data.table, data.set, data.target, brought, seed)

    @classmethod
    def recognise(cls, paths: Sequence[str]) -> Data | None:
        """A table with columns `set` and `target`, or as they are usually called."""
        columns = glance(paths[0]) if len(paths) == 1 else {}
        return Data(table=paths[0]) if NAMES[0] in columns and set(TARGETS) & set(columns) else None

    @classmethod
    def options_for(cls, paths: Sequence[str]) -> tuple[str, ...]:
        """If words in a column come again, and another column has one value for each of them."""
        columns = glance(paths[0]) if len(paths) == 1 else {}
        for name in (c for c, kind in kinds_of(columns).items() if kind == "words"):
            cells = columns[name]
            whole = [
                c for c in columns if c != name and len(set(zip(cells, columns[c], strict=True))) == len(set(cells))
            ]
            if whole and len(set(cells)) < len(cells) and len(columns) > 2:
                return ("--table", paths[0], "--set", name, "--target", whole[-1])
        return ()

    @classmethod
    def propose(cls, recipe: Recipe[Data], corpus: LabelledCorpus[LabelledSets], base: Base | None) -> Proposal[Data]:
        t, count = recipe.training, len(corpus.train)
        grade = (count >= 1000) + (count >= 20_000)
        model = sized(
            recipe.model or Choice(cls.model),
            width=(64, 128, 256)[grade],
            depth=2,
            inner=2,
            head_width=16,
            dropout=(0.1, 0.0, 0.0)[grade],
        )
        return Proposal(recipe.data, model, t.batch or (16, 64, 128)[grade], usual_rate(t, base, count))

    @classmethod
    def fit(cls, data: Data, corpus: LabelledCorpus[LabelledSets], base: Base | None) -> "Sets":
        """The scale of the elements and of the targets, or those of the run that this one begins with."""
        before, train = base.task if base else None, corpus.train
        number = data.answer == "number" if data.answer else data.kind is not None or are_numbers(train.targets)
        answer: Answer = NumberAnswer.fit(train.targets) if number else ClassAnswer(Classes.of(train.targets))
        if isinstance(before, Sets) and before.scale.columns == train.columns and type(before.answer) is type(answer):
            return cls(data, before.scale, before.answer)
        return cls(data, ElementScale.of(train), answer)

    def save(self, folder: Path) -> None:
        write_json(folder / FILE, asdict(self.scale))
        self.answer.save(folder)

    @classmethod
    def load(cls, data: Data, folder: Path) -> "Sets":
        scale = read_kept(ElementScale, folder / FILE)
        if len({len(scale.columns), len(scale.mean), len(scale.deviation)}) != 1:
            raise damaged(folder / FILE, "every column needs a mean and a deviation")
        classes = (folder / CLASSES).exists()
        return cls(data, scale, ClassAnswer(Classes.load(folder)) if classes else NumberAnswer.load(folder))

    @property
    def sizes(self) -> dict[str, int]:
        return {"features": len(self.scale.columns), "outputs": self.answer.outputs}

    def describe(self) -> str:
        return f"sets of up to {self.scale.largest:,} elements of {len(self.scale.columns)} numbers, {self.answer.describe()}"

    # -- training ------------------------------------------------------------------------------------------------------

    def prepare(self, corpus: LabelledCorpus[LabelledSets], folder: Path, batch: int, seed: int) -> SetBatches:
        for part in corpus.held_out.values():  # a target that training lacks is reported now
            self.answer.encode(part.targets, part.origin)
        write_held_out(corpus, folder)
        return self._batches(corpus.train, batch, seed)

    def _batches(self, part: LabelledSets, batch: int, seed: int = 0) -> SetBatches:
        wanted = self.answer.encode(part.targets, part.origin)
        return SetBatches(part, wanted, rows=batch, seed=seed, scale=self.scale)

    def loss(self, model: Classifier, batch: LabelledBatch) -> Loss:
        return self.answer.loss(model, batch)

    def validate(self, model: Classifier, folder: Path) -> Validation:
        part, batches = self._held_out(folder)["validation"]
        return self.answer.validation(model, batches, lambda i: show(part, i))

    def _read_parts(self, folder: Path) -> dict[str, LabelledSets]:
        return read_held_out(folder)

    # -- judging -------------------------------------------------------------------------------------------------------

    def _judgement(
        self, model: Classifier, name: str, part: LabelledSets, batches: SetBatches, sizes: dict[str, int]
    ) -> Judgement:
        return self.answer.judgement(model, name, batches, lambda i: show(part, i), sizes, self.scale.largest)

    def _given(self, data: Data) -> tuple[LabelledSets, tuple[str, ...]]:
        return self._read(data, "evaluate")

    def _read(self, data: Data, verb: str) -> tuple[LabelledSets, tuple[str, ...]]:
        """The sets of a table, whose columns are named as in training unless they are given, and what was left out."""
        path = require_path(data.table, "which sets? `--table`: rows with the same name in one column form a set", verb)
        name, target = data.set or self.data.set, data.target or self.data.target
        part, report = read_sets(path, name, target, self.scale.columns, with_target=verb == "evaluate")
        return part, report.left_out

    def example(self, model: Classifier) -> tuple[Callable[[], Tensor], int]:
        shape, device = (1, self.scale.median, len(self.scale.columns)), next(iter(model.parameters())).device
        elements, keep = torch.zeros(shape, device=device), torch.ones(shape[:2], dtype=torch.bool, device=device)
        return lambda: model.logits(model(elements, keep)), 1

    def commands(self, folder: str, judgement: Judgement) -> list[str]:
        return [f"predict {folder} --table new.csv", f"evaluate {folder} --table test.csv"]

    # -- using ---------------------------------------------------------------------------------------------------------

    def predict(self, model: Classifier, data: Data) -> Predicted:
        """What follows from the sets of a table, whose target, if there is one, is not looked at."""
        part, left_out = self._read(data, "predict")
        unknown = np.zeros(len(part), dtype=np.int64)  # what they should give is not known, and not asked for
        batches = SetBatches(part, unknown, rows=BATCH, seed=0, scale=self.scale)
        columns, cells = self.answer.predicted(model, batches)
        rows = zip(part.names, part.counts.tolist(), cells, strict=True)
        larger = int((part.counts > self.scale.largest).sum())
        words = f"larger than any set of training ({self.scale.largest:,} elements): {count_noun(larger, 'set')}"
        return Predicted(
            ("set", "elements", *columns),
            tuple((name, str(count), *rest) for name, count, rest in rows),
            warnings=(*left_out, *((words,) if larger else ())),
        )


def show(part: LabelledSets, row: int) -> str:
    """A set in a few words: its name, how many elements it has, and the first ones if they are short."""
    elements = part.elements_of(row)
    text = f"{part.names[row]}: {len(elements)} element{'s' * (len(elements) != 1)}"
    if len(part.columns) > 3:
        return text
    first = " ".join("(" + " ".join(f"{x:.3g}" for x in element) + ")" for element in elements[:8])
    return f"{text} {first}{' ...' * (len(elements) > 8)}"
