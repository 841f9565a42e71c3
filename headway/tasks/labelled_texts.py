"""Texts with classes: from a person's table to a part to learn from and parts that are held out, kept in the run."""

from collections.abc import Mapping

from headway.core.errors import DataError
from headway.data.cells import kinds_of
from headway.data.doctor_labels import examine_labels
from headway.data.findings import Report
from headway.data.messages import display_name, list_names
from headway.data.table import Table, glance, read_table
from headway.tasks.labels import LabelledCorpus, set_apart

TEXT, LABEL = "text", "label"  # the columns of a table in the run
MOST_CLASSES = 100  # different values of a column that is taken for classes without being asked


def collect_texts(
    path: str, text: str | None, label: str | None, brought: Mapping[str, str], seed: int
) -> LabelledCorpus[Table]:
    """Read, examine, set apart. The same files and seed give the same corpus; whatever is dropped is in the reports."""
    held_out, reports = {}, []
    for name, other in brought.items():
        held_out[name], report = read_texts(other, text, label)
        reports.append(report)
    hidden = frozenset(cell for part in held_out.values() for cell in part.column(TEXT))
    train, report = read_texts(path, text, label, hidden)
    labels, texts = train.column(LABEL), train.column(TEXT)
    train, held_out = set_apart(train, held_out, labels, texts, seed, path)
    return LabelledCorpus(train, held_out, (report, *reports), "texts")


def read_texts(
    path: str, text: str | None, label: str | None, hidden: frozenset[str] = frozenset()
) -> tuple[Table, Report]:
    """The rows of a table that have a text and a class, as columns `text` and `label`; and what was found."""
    table = read_table(path, [name for name in (text, label) if name is not None])
    missing = [f"`--{name}`" for name, given in ((TEXT, text), (LABEL, label)) if (given or name) not in table.columns]
    if missing:
        hint = f"its columns are {list_names(table.columns)}; name the ones that hold the texts and the classes."
        raise DataError(f"which columns of {display_name(path)}? missing: {' and '.join(missing)}", hint)
    text, label = text or TEXT, label or LABEL
    if text == label:
        raise DataError(f"the column `{text}` cannot be both the text and the class", "choose two columns.")
    columns = {TEXT: table.column(text), LABEL: tuple(cell.strip() for cell in table.column(label))}
    return examine_labels(Table(columns, table.lines, path, table.problems), TEXT, LABEL, held_out=hidden)


def likely_columns(path: str) -> tuple[str, str] | None:
    """The column with the longest cells, if they are words, and the last of the others: what a person might name."""
    columns = glance(path)
    longest = sorted(columns, key=lambda name: sum(map(len, columns[name])))[-1:]
    rest = [name for name in columns if name not in longest]
    return (longest[0], rest[-1]) if rest and kinds_of(columns)[longest[0]] == "words" else None


def guess_columns(path: str) -> tuple[str, str] | None:
    """The columns of texts and of classes, if a table has them beyond doubt: classes are few and come again."""
    columns = glance(path)
    if TEXT in columns and LABEL in columns:
        return TEXT, LABEL
    different = {name: len(set(cells)) for name, cells in columns.items()}
    words = {name: sum(len(cell.split()) for cell in cells) / len(cells) for name, cells in columns.items()}
    classes = [n for n, k in different.items() if 2 <= k <= MOST_CLASSES and 5 * k <= len(columns[n]) and words[n] < 3]
    texts = [n for n, k in different.items() if n not in classes and 2 * k > len(columns[n]) and words[n] >= 2]
    return (texts[0], classes[0]) if len(classes) == len(texts) == 1 else None
