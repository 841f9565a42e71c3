"""Tagged sentences: from a person's CoNLL files to a part to learn from and parts that are held out, kept in the run."""

from collections.abc import Mapping
from pathlib import Path

from headway.core.errors import DataError, RunError
from headway.core.files import write_text
from headway.data.conll import TaggedSentences, read_conll, write_conll
from headway.data.doctor_tags import examine_tags
from headway.tasks.labels import LabelledCorpus, set_apart


def collect_tagged(
    path: str, word: int, tag: int | None, brought: Mapping[str, str], seed: int
) -> LabelledCorpus[TaggedSentences]:
    """Read, examine, set apart. The same files and seed give the same corpus; whatever is dropped is in the reports."""
    held_out, reports = {}, []
    for name, other in brought.items():
        held_out[name], report = examine_tags(read_conll(other, word, tag), least=0)
        reports.append(report)
    hidden = frozenset(words for part in held_out.values() for words in part.words)
    train, report = examine_tags(read_conll(path, word, tag), held_out=hidden)
    one_class = [""] * len(train)  # the split is by chance alone
    train, held_out = set_apart(train, held_out, one_class, train.words, seed, path)
    return LabelledCorpus(train, held_out, (report, *reports), "sentences")


def looks_tagged(path: str) -> bool:
    """Whether a file is named, and its first lines look, like one word and its tag per line."""
    if Path(path.removesuffix(".gz")).suffix.lower() not in (".conll", ".conllu", ".iob", ".bio", ".tags"):
        return False
    try:
        return len(read_conll(path)) > 0
    except DataError:
        return False


# -- in the run -------------------------------------------------------------------------------------------------------


def write_held_out(corpus: LabelledCorpus[TaggedSentences], folder: Path) -> None:
    """The held-out parts in the run: it is judged, now and later, without the person's files."""
    (folder / "held_out").mkdir(exist_ok=True)
    for name, part in corpus.held_out.items():
        write_text(folder / "held_out" / f"{name}.conll", write_conll(part.words, part.tags))


def read_held_out(folder: Path) -> dict[str, TaggedSentences]:
    """The parts that the run keeps; a damaged line is reported with its file."""
    hint = "restore the file from a copy, or train again."
    parts: dict[str, TaggedSentences] = {}
    for path in sorted((folder / "held_out").glob("*.conll")):
        try:
            parts[path.stem] = part = read_conll(str(path))
        except DataError as problem:
            raise RunError(f"`{path}` is damaged: {problem.message}", hint) from problem
        if part.problems:
            line = part.problems[0]
            raise RunError(f"`{path}` is damaged: line {line.line} {line.message}", hint)
    if "validation" not in parts:
        raise RunError(f"`{folder / 'held_out' / 'validation.conll'}` is missing", hint)
    return parts
