"""A folder with one file of pairs per task: from a person's files to prefixed pairs, and parts that are held out.

`translate_en_de.tsv` is the task "translate en de": each of its inputs is read as "translate en de: ...".
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from headway.core.errors import DataError, UsageError
from headway.data.doctor_inputs import examine_inputs
from headway.data.messages import display_name
from headway.data.pairs import Pairs, read_pairs
from headway.data.readers import READERS
from headway.tasks.pairs import HeldOut, PairCorpus, set_apart


def prefix_of(name: str) -> str:
    """What the inputs of a task begin with."""
    return f"{name}: "


def task_paths(folder: str) -> dict[str, str]:
    """The files of a folder by the names of their tasks, in alphabetical order."""
    if not Path(folder).is_dir():
        raise DataError(f"{display_name(folder)} is not a folder", "make a folder with one file of pairs per task.")
    found = [p for p in sorted(Path(folder).iterdir()) if Path(p.name.removesuffix(".gz")).suffix.lower() in READERS]
    names = [Path(p.name.removesuffix(".gz")).stem.replace("_", " ").replace("-", " ") for p in found]
    twice = [name for name in names if names.count(name) > 1]
    if not found or twice:
        problem = f"has two files of the task `{twice[0]}`" if twice else "holds no files of pairs"
        hint = f"one file per task, such as `reverse.tsv`; known are {', '.join(READERS)}, each also with .gz."
        raise DataError(f"{display_name(folder)} {problem}", hint)
    return dict(zip(names, map(str, found), strict=True))


def collect_tasks(folder: str, brought: dict[str, str], longest: int, seed: int) -> PairCorpus:
    """Read, examine, set apart, each task by itself. The same files and seed give the same corpus."""
    given: dict[str, dict[str, Pairs]] = {}
    reports = []
    for part, other in brought.items():
        for name, path in task_paths(other).items():
            pairs, report = examine_inputs(read_pairs(pairs=path), longest, least=0)
            given.setdefault(name, {})[part] = pairs
            reports.append(report)
    train: list[Pairs] = []
    held_out: dict[str, list[Pairs]] = {}
    for name, path in task_paths(folder).items():
        own = {part: HeldOut(p.sources, p.targets) for part, p in given.pop(name, {}).items()}
        hidden = frozenset(text for part in own.values() for text in part.sources)
        pairs, report = examine_inputs(read_pairs(pairs=path), longest, held_out=hidden)
        reports.append(report)
        if "validation" not in own:
            pairs, own = set_apart(pairs, own, seed)
        train.append(prefixed(pairs, name))
        for part, rows in own.items():
            held_out.setdefault(part, []).append(prefixed(Pairs(rows.sources, rows.targets, (), path), name))
    if given:
        hint = "a task is named by its file: use the same names in all folders."
        raise UsageError(f"the held-out task `{next(iter(given))}` has no file in `{folder}`", hint)
    parts = {part: HeldOut(*joined(found)) for part, found in held_out.items()}
    sources, targets = joined(train)
    return PairCorpus(Pairs(sources, targets, tuple(range(1, len(sources) + 1)), folder), parts, tuple(reports))


def prefixed(pairs: Pairs, name: str) -> Pairs:
    return replace(pairs, sources=tuple(prefix_of(name) + text for text in pairs.sources))


def joined(parts: Sequence[Pairs]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return tuple(t for p in parts for t in p.sources), tuple(t for p in parts for t in p.targets)


def by_task(part: HeldOut, names: Sequence[str]) -> dict[str, HeldOut]:
    """The pairs of each task, found by their prefix; tasks without any are left out."""
    rows: dict[str, list[tuple[str, str]]] = {name: [] for name in names}
    for source, target in zip(part.sources, part.targets, strict=True):
        if name := task_of(source, names):
            rows[name].append((source, target))
    return {name: HeldOut(*zip(*found, strict=True)) for name, found in rows.items() if found}


def task_of(text: str, names: Sequence[str]) -> str | None:
    """The task that a text is for, by its prefix; of names that begin alike the longest."""
    fitting = [name for name in names if text.startswith(prefix_of(name))]
    return max(fitting, key=len, default=None)
