"""What the tasks that name a class share of their data: the classes, and a split that has some of each."""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Generic, Protocol, Self, TypeVar

import numpy as np
from jaxtyping import Int

from headway.core.errors import DataError, nearest
from headway.core.files import write_json
from headway.core.folds import current_fold, current_turn, take_fold
from headway.core.seeds import derive
from headway.data.findings import Report
from headway.data.messages import display_name, list_names
from headway.tasks.held_out import damaged, read_kept

SHARE = 0.1  # of every class is held out for validation, and as much for a test
ENOUGH = 400  # examples from which on a test part is set apart beside the validation part
MOST = 2000  # examples of a held-out part, about
FILE = "classes.json"


class Examples(Protocol):
    """A table, or pictures."""

    def __len__(self) -> int: ...
    @property
    def fingerprint(self) -> str: ...
    def select(self, rows: Sequence[int]) -> Self: ...


E = TypeVar("E", bound=Examples)


@dataclass(frozen=True)
class LabelledCorpus(Generic[E]):
    """The examples to learn from, the parts to be judged by ("validation", and "test" where there is one)."""

    train: E
    held_out: dict[str, E]
    reports: tuple[Report, ...]
    unit: str  # what they are, in the plural: texts, pictures

    @cached_property
    def fingerprint(self) -> dict[str, str]:
        parts = {"train": self.train, **self.held_out}
        return {name: f"{len(part):,} {self.unit}, sha256 {part.fingerprint[:16]}" for name, part in parts.items()}

    def describe(self) -> str:
        parts = ", ".join(f"{len(part):,} for {name}" for name, part in self.held_out.items())
        learning = f"learning from {len(self.train):,} {self.unit}; held out: {parts}"
        return "\n".join([*(report.text() for report in self.reports), learning])


@dataclass(frozen=True)
class Classes:
    """The names of the classes in the order of a model's outputs, and how often each occurs in training."""

    names: tuple[str, ...]
    counts: tuple[int, ...]

    @classmethod
    def of(cls, labels: Sequence[str], base: object = None) -> "Classes":
        """In alphabetical order; or those of the task that this one begins with, if it knows them all."""
        counts, known = Counter(labels), getattr(base, "classes", None)
        same = isinstance(known, Classes) and counts.keys() <= set(known.names)
        names = known.names if same and known is not None else tuple(sorted(counts))
        return cls(names, tuple(counts[name] for name in names))

    @property
    def majority(self) -> str:
        """The most frequent class."""
        return self.names[int(np.argmax(self.counts))]

    def numbers(self, labels: Sequence[str], origin: str) -> Int[np.ndarray, "n"]:
        """The number of each label; a label that training never showed raises, with the nearest one."""
        index = {name: number for number, name in enumerate(self.names)}
        unknown = [name for name in dict.fromkeys(labels) if name not in index]
        if unknown:
            guess = nearest(unknown[0], self.names)
            hint = f"did you mean `{guess}`? " if guess else ""
            hint += f"the classes are {list_names(self.names[:10])}{' ...' if len(self.names) > 10 else '.'}"
            words = f"{display_name(origin)} has labels that training does not have: {list_names(unknown[:5])}"
            raise DataError(words, hint)
        return np.array([index[name] for name in labels], dtype=np.int64)

    def describe(self) -> str:
        return f"{len(self.names):,} class{'es' * (len(self.names) != 1)}"

    def save(self, folder: Path) -> None:
        write_json(folder / FILE, asdict(self))

    @classmethod
    def load(cls, folder: Path) -> "Classes":
        path = folder / FILE
        found = read_kept(cls, path)
        if not found.names or len(set(found.names)) != len(found.names) or len(found.counts) != len(found.names):
            raise damaged(path, "every class needs one name and one count")
        return found


def split_by_class(
    labels: Sequence[str], keys: Sequence[Hashable], parts: Sequence[str], seed: int, origin: str, turn: int = 0
) -> tuple[list[int], dict[str, list[int]]]:
    """Rows to learn from, and rows of each held-out part: the same share of every class (a stratified split).

    Examples with the same key are copies; they stay in training, so that no part holds what training has shown. A class
    keeps at least one example to learn from. The first part is another one at each turn, the others stay.
    """
    share, times = min(SHARE, MOST / max(1, len(labels))), Counter(keys)
    chosen: dict[str, list[int]] = {part: [] for part in parts}
    rows_of: dict[str, list[int]] = {}
    for row, label in enumerate(labels):
        rows_of.setdefault(label, []).append(row)
    for label in sorted(rows_of):
        rows = rows_of[label]
        single = [row for row in rows if times[keys[row]] == 1]
        count = min(max(1, round(share * len(rows))), len(rows) // (len(parts) + 1), len(single) // len(parts))
        order = np.random.default_rng(derive(seed, "validation", label)).permutation(single).tolist()
        for k, part in enumerate(parts[1:], 1):
            chosen[part] += order[k * count : (k + 1) * count]
        free = order[:count] + order[len(parts) * count :]
        chosen[parts[0]] += np.roll(free, -turn * count)[:count].tolist()
    if not all(chosen.values()):
        words = f"{display_name(origin)} holds too few different examples to set some apart for validation"
        raise DataError(words, "bring more examples, or validation data of your own.")
    taken = {row for rows in chosen.values() for row in rows}
    return [row for row in range(len(labels)) if row not in taken], {part: sorted(r) for part, r in chosen.items()}


def set_apart(
    train: E, held_out: dict[str, E], labels: Sequence[str], keys: Sequence[Hashable], seed: int, origin: str
) -> tuple[E, dict[str, E]]:
    """What to learn from and the held-out parts; those that a person did not bring are split off.

    Members of an ensemble take turns in what they validate by, unless the ensemble is judged by that part for want of a test.
    """
    if "validation" in held_out:
        return train, held_out
    parts = ["validation"] if "test" in held_out or len(train) < ENOUGH else ["validation", "test"]
    turn = current_turn() if "test" in (*parts, *held_out) else 0
    rest, chosen = split_by_class(labels, keys, parts, seed, origin, turn)
    if split := current_fold():
        rest, chosen["validation"] = take_fold([*rest, *chosen["validation"]], keys, labels, split)
    return train.select(rest), {part: train.select(rows) for part, rows in chosen.items()} | held_out
