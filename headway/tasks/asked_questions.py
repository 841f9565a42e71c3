"""Questions about passages: from a person's files to a part to learn from and parts that are held out, kept in the run."""

from collections.abc import Mapping
from pathlib import Path

from headway.core.errors import DataError
from headway.core.files import write_text
from headway.data.doctor_questions import asked, examine_questions
from headway.data.questions import Questions, read_questions, write_questions
from headway.tasks.held_out import read_parts, whole, write_parts
from headway.tasks.labels import ENOUGH, LabelledCorpus, set_apart, split_by_class

FEW_PASSAGES = 20  # below which questions are set apart, not passages


def collect_questions(path: str, brought: Mapping[str, str], seed: int) -> LabelledCorpus[Questions]:
    """Read, examine, set apart. The same files and seed give the same corpus; whatever is dropped is in the reports."""
    held_out, reports = {}, []
    for name, other in brought.items():
        held_out[name], report = examine_questions(read_questions(other), least=0)
        reports.append(report)
    hidden = frozenset(asked(row) for part in held_out.values() for row in part.rows)
    train, report = examine_questions(read_questions(path), held_out=hidden)
    if "validation" not in held_out:
        train, held_out = split_by_passage(train, held_out, seed)
    return LabelledCorpus(train, held_out, (report, *reports), "questions")


def split_by_passage(
    train: Questions, held_out: dict[str, Questions], seed: int
) -> tuple[Questions, dict[str, Questions]]:
    """All questions about a passage stay together, so that no passage is judged by that training has shown.

    Of a few long passages, each with many questions, single questions are set apart instead.
    """
    numbers: dict[str, int] = {}
    passages = [numbers.setdefault(row.context, len(numbers)) for row in train.rows]
    if len(numbers) < FEW_PASSAGES:
        return set_apart(train, held_out, [""] * len(train), [asked(row) for row in train.rows], seed, train.origin)
    parts = ["validation"] if "test" in held_out or len(train) < ENOUGH else ["validation", "test"]
    _, chosen = split_by_class([""] * len(numbers), range(len(numbers)), parts, seed, train.origin)
    part_of = {passage: name for name, found in chosen.items() for passage in found}
    rows: dict[str, list[int]] = {name: [] for name in ("train", *parts)}
    for i, passage in enumerate(passages):
        rows[part_of.get(passage, "train")].append(i)
    return train.select(rows.pop("train")), {name: train.select(found) for name, found in rows.items()} | held_out


def looks_asked(path: str) -> bool:
    """Whether a file holds questions about passages beyond doubt."""
    if Path(path.removesuffix(".gz")).suffix.lower() not in (".json", ".jsonl", ".ndjson"):
        return False
    try:
        return len(read_questions(path)) > 0
    except DataError:
        return False


# -- in the run -------------------------------------------------------------------------------------------------------


def write_held_out(corpus: LabelledCorpus[Questions], folder: Path) -> None:
    def write(path: Path, part: Questions) -> None:
        write_text(path, write_questions(part.rows))

    write_parts(corpus.held_out, folder, ".jsonl", write)


def read_held_out(folder: Path) -> dict[str, Questions]:
    return read_parts(folder, ".jsonl", lambda path: whole(read_questions(str(path))))
