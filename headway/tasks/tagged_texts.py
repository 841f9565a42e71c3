"""Tagged sentences: from a person's CoNLL files to a part to learn from and parts that are held out, kept in the run."""

from collections.abc import Mapping
from pathlib import Path

from headway.core.errors import DataError
from headway.core.files import write_text
from headway.data.conll import TaggedSentences, read_conll, write_conll
from headway.data.doctor_tags import examine_tags
from headway.tasks.held_out import read_parts, whole, write_parts
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
    def write(path: Path, part: TaggedSentences) -> None:
        write_text(path, write_conll(part.words, part.tags))

    write_parts(corpus.held_out, folder, ".conll", write)


def read_held_out(folder: Path) -> dict[str, TaggedSentences]:
    return read_parts(folder, ".conll", lambda path: whole(read_conll(str(path))))
