"""Sets to learn from and parts that are held out: from a person's table or a generator, kept in the run."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from headway.core.files import read_arrays, write_arrays
from headway.data.findings import drop_held_out
from headway.data.set_generators import Kind, generate_sets
from headway.data.set_tables import are_numbers, read_sets
from headway.data.sets import LabelledSets
from headway.tasks.held_out import read_parts, write_parts
from headway.tasks.labels import LabelledCorpus, set_apart

HELD_OUT = 0.2  # times as many sets are generated for validation, and as many for a test


def generated_corpus(kind: Kind, count: int, largest: int, seed: int) -> LabelledCorpus[LabelledSets]:
    sizes = {"train": count, "validation": max(1, round(HELD_OUT * count)), "test": max(1, round(HELD_OUT * count))}
    parts = {part: generate_sets(kind, size, largest, seed, part) for part, size in sizes.items()}
    train = parts.pop("train")
    return LabelledCorpus(train, parts, (), "sets")


def collect_sets(
    path: str, name: str | None, target: str | None, brought: Mapping[str, str], seed: int
) -> LabelledCorpus[LabelledSets]:
    """Read, examine, set apart: the same share of every class, or of all sets if the target is a number.

    Nothing is learned from a set that a person also holds out.
    """
    train, report = read_sets(path, name, target)
    held_out, reports = {}, [report]
    for part, other in brought.items():
        held_out[part], report = read_sets(other, name, target, train.columns)
        reports.append(report)
    keys = {key for part in held_out.values() for key in part.keys}
    hidden = np.array([key in keys for key in train.keys], dtype=bool)
    reports[0] = drop_held_out(reports[0], train.names, hidden, "set", int(train.counts[hidden].sum()))
    train = train.select(np.flatnonzero(~hidden).tolist())
    labels = [""] * len(train) if are_numbers(train.targets) else list(train.targets)
    train, held_out = set_apart(train, held_out, labels, train.keys, seed, path)
    return LabelledCorpus(train, held_out, tuple(reports), "sets")


# -- in the run -------------------------------------------------------------------------------------------------------


def write_held_out(corpus: LabelledCorpus[LabelledSets], folder: Path) -> None:
    def write(path: Path, part: LabelledSets) -> None:
        note = {"targets": part.targets, "names": part.names, "columns": part.columns, "origin": part.origin}
        write_arrays(path, {"elements": part.elements, "counts": part.counts}, note)

    write_parts(corpus.held_out, folder, ".safetensors", write)


def read_held_out(folder: Path) -> dict[str, LabelledSets]:
    def read(path: Path) -> LabelledSets:
        arrays, note = read_arrays(path)
        targets, names, columns = (tuple(map(str, note[key])) for key in ("targets", "names", "columns"))
        part = LabelledSets(arrays["elements"], arrays["counts"], targets, names, columns, str(note["origin"]))
        fits = len(part.counts) == len(targets) == len(names) and len(part.elements) == np.sum(part.counts)
        if not fits or part.elements.shape[1:] != (len(columns),):
            raise ValueError("its sets, targets and names do not fit together")
        return part

    return read_parts(folder, ".safetensors", read)
