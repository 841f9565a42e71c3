"""Sets of points: drawn or from a person's table, with parts that are held out and kept in the run."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from headway.core.files import read_arrays, write_arrays
from headway.core.seeds import derive
from headway.data.findings import Report, drop_held_out
from headway.data.point_problems import draw
from headway.data.point_sets import Columns, PointSets, examine_sets, read_sets
from headway.data.table import glance, read_table
from headway.tasks.held_out import read_parts, write_parts
from headway.tasks.labels import set_apart

DRAWN = {"validation": 500, "test": 1000}  # sets of the held-out parts
Names = tuple[str | None, ...]  # columns that a person named: set, x, y, order


@dataclass(frozen=True)
class PointCorpus:
    """Sets to learn from (None: they are drawn anew for every step) and the parts to be judged by."""

    train: PointSets | None
    held_out: dict[str, PointSets]
    reports: tuple[Report, ...]

    @property
    def sets(self) -> PointSets:
        """Those to learn from, or some that are drawn like them."""
        return self.train or self.held_out["validation"]

    @cached_property
    def fingerprint(self) -> dict[str, str]:
        parts = ({"train": self.train} if self.train else {}) | self.held_out
        return {name: f"{len(part):,} sets, sha256 {part.fingerprint[:16]}" for name, part in parts.items()}

    def describe(self) -> str:
        parts = ", ".join(f"{len(part):,} for {name}" for name, part in self.held_out.items())
        learning = f"{len(self.train):,} sets" if self.train else f"{self.sets.origin}, drawn anew for every step"
        return "\n".join([*(report.text() for report in self.reports), f"learning from {learning}; held out: {parts}"])


def collect_drawn(kind: str, sizes: range, seed: int) -> PointCorpus:
    return PointCorpus(None, {part: draw_sets(kind, sizes, count, seed, part) for part, count in DRAWN.items()}, ())


def draw_sets(kind: str, sizes: range, count: int, seed: int, part: str) -> PointSets:
    """`count` sets with their answers: a function of the seed and the name of the part."""
    random = np.random.default_rng(derive(seed, "held out", part))
    points: list[np.ndarray] = []
    orders: list[np.ndarray] = []
    for size, times in zip(
        sizes, np.bincount(random.integers(0, len(sizes), count), minlength=len(sizes)), strict=True
    ):
        some, answers = draw(kind, int(times), size, random)
        points += list(some)
        orders += list(answers)
    mixed = random.permutation(count)
    span = f"{sizes[0]} to {sizes[-1]}" if len(sizes) > 1 else f"{sizes[0]}"
    names = tuple(str(number) for number in range(1, count + 1))
    return PointSets(
        tuple(points[i] for i in mixed), tuple(orders[i] for i in mixed), names, f"{kind} of {span} points"
    )


def collect_table(path: str, named: Names, brought: Mapping[str, str], seed: int) -> PointCorpus:
    """Read, examine, set apart; nothing is learned from a set that a person also holds out."""
    parts = {name: read_given(file, named, ordered=True) for name, file in {"train": path, **brought}.items()}
    reports = [examine_sets(part) for part in parts.values()]
    train = parts.pop("train")
    keys = {key for part in parts.values() for key in part.keys}
    hidden = np.array([key in keys for key in train.keys], dtype=bool)
    reports[0] = drop_held_out(reports[0], train.names, hidden, "set", int(hidden.sum()))
    train = train.select(np.flatnonzero(~hidden).tolist())
    train, held_out = set_apart(train, parts, [""] * len(train), train.keys, seed, path)
    return PointCorpus(train, held_out, tuple(reports))


def read_given(path: str, named: Names, *, ordered: bool) -> PointSets:
    """The sets of a table; without `ordered` what should be chosen is not read."""
    set_, x, y, order = named
    columns = Columns(set_ or "set", x or "x", y, (order or "order") if ordered else None)
    if y is None and "y" in read_table(path, columns.wanted).columns:
        columns = replace(columns, y="y")
    return read_sets(path, columns)


def guess_columns(path: str) -> bool:
    """Whether this is a table of points with an order."""
    return {"set", "x", "order"} <= set(glance(path))


# -- in the run -------------------------------------------------------------------------------------------------------


def write_held_out(parts: Mapping[str, PointSets], folder: Path) -> None:
    def write(path: Path, part: PointSets) -> None:
        sizes, lengths = ([len(row) for row in rows] for rows in (part.points, part.orders))
        arrays = {"points": np.concatenate(part.points), "sizes": np.array(sizes)}
        arrays |= {"orders": np.concatenate(part.orders), "lengths": np.array(lengths)}
        write_arrays(path, arrays, {"names": part.names, "origin": Path(part.origin).name})

    write_parts(parts, folder, ".safetensors", write)


def read_held_out(folder: Path) -> dict[str, PointSets]:
    def read(path: Path) -> PointSets:
        arrays, note = read_arrays(path)
        points, orders = (
            tuple(np.split(arrays[rows], arrays[counts].cumsum()[:-1]))
            for rows, counts in (("points", "sizes"), ("orders", "lengths"))
        )
        found = PointSets(points, orders, tuple(note["names"]), note["origin"])
        if not (len(points) == len(orders) == len(found.names) > 0 and all(map(fits, points, orders))):
            raise ValueError("points, orders and names do not fit together")
        return found

    return read_parts(folder, ".safetensors", read)


def fits(points: np.ndarray, order: np.ndarray) -> bool:
    """Whether the order names points of the set, each once."""
    return (
        points.ndim == 2 and len(set(order.tolist())) == len(order) and set(order.tolist()) <= set(range(len(points)))
    )
