"""Sets of points, each with the sequence of points that should be chosen; and tables of them.

    set,x,y,order
    a,0.1,0.7,2         the second point to be chosen in set a
    a,0.4,0.2,1
    a,0.3,0.5,          never chosen

Rows of one set may stand anywhere; points are numbered in the order of the file. Columns have these names unless others are given.
"""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int

from headway.core.errors import DataError, raise_all
from headway.data.findings import Examination, Report, unread
from headway.data.messages import count_noun, display_name
from headway.data.rows import Problem
from headway.data.table import Table, read_table

LEAST_SETS = 200  # with fewer a model learns them by heart


@dataclass(frozen=True)
class Columns:
    """The names of the columns; `y` may be None (numbers on a line), and so may `order` (what should be chosen is asked for)."""

    set: str = "set"
    x: str = "x"
    y: str | None = "y"
    order: str | None = "order"

    @property
    def wanted(self) -> list[str]:
        return [name for name in (self.set, self.x, self.y, self.order) if name is not None]


@dataclass(frozen=True)
class PointSets:
    points: tuple[Float[np.ndarray, "_ c"], ...]
    orders: tuple[Int[np.ndarray, "_"], ...]  # which points, numbered from 0, one after the other
    names: tuple[str, ...]
    origin: str
    problems: tuple[Problem, ...] = ()  # lines of the table that could not be read

    def __len__(self) -> int:
        return len(self.points)

    @property
    def coordinates(self) -> int:
        return self.points[0].shape[1]

    @property
    def every(self) -> bool:
        """Whether all points are chosen in every set."""
        return all(len(order) == len(points) for order, points in zip(self.orders, self.points, strict=True))

    def select(self, rows: Sequence[int]) -> "PointSets":
        points, orders = tuple(self.points[row] for row in rows), tuple(self.orders[row] for row in rows)
        return PointSets(points, orders, tuple(self.names[row] for row in rows), self.origin)

    @cached_property
    def keys(self) -> list[bytes]:
        """The same for two sets of the same points, in whatever order."""
        return [b"".join(sorted(point.tobytes() for point in points)) for points in self.points]

    @property
    def left_out(self) -> tuple[str, ...]:
        """What could not be read, for whoever is shown what came of the rest."""
        lines = ", ".join(str(problem.line) for problem in self.problems[:3]) + " ..." * (len(self.problems) > 3)
        rest = f"(line {lines}): the points that are left are numbered 1, 2, 3 ..."
        return tuple(f"{words} {rest}" for words in unread(self.problems, "line"))

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 over names, points and orders."""
        digest = hashlib.sha256()
        for points, order, name in zip(self.points, self.orders, self.names, strict=True):
            digest.update(repr((name, points.shape, order.tolist())).encode("utf-8", "surrogatepass"))
            digest.update(np.ascontiguousarray(points.astype("<f8")).data)
        return digest.hexdigest()


def read_sets(path: str, columns: Columns) -> PointSets:
    """The sets of a table; all that is wrong with it is reported at once."""
    table = read_table(path, columns.wanted)
    rows: dict[str, list[int]] = {}
    for row, name in enumerate(table.column(columns.set)):
        rows.setdefault(name, []).append(row)
    problems: list[str] = []
    axes = [numbers(table, name, problems) for name in (columns.x, columns.y) if name is not None]
    orders = [read_order(table, columns.order, name, some, problems) for name, some in rows.items()]
    hint = "each set numbers the points to be chosen 1, 2, 3 ... and leaves the cells of the others empty."
    raise_all(problems, DataError, f"{display_name(path)} cannot be used", hint)
    points = tuple(np.stack([axis[some] for axis in axes], 1) for some in rows.values())
    return PointSets(points, tuple(orders), tuple(rows), path, table.problems)


def numbers(table: Table, name: str, problems: list[str]) -> Float[np.ndarray, "n"]:
    """The column as finite numbers; cells that hold none become problems."""
    found = np.zeros(len(table))
    for row, cell in enumerate(table.column(name)):
        try:
            found[row] = float(cell)
        except ValueError:
            found[row] = math.nan
        if not math.isfinite(found[row]):
            problems.append(f"line {table.lines[row]}: `{name}` is `{cell}`, expected a number")
    return found


def read_order(
    table: Table, column: str | None, name: str, rows: Sequence[int], problems: list[str]
) -> Int[np.ndarray, "_"]:
    """Which points of the set are chosen, first to last."""
    if column is None:
        return np.arange(0)
    cells = [table.column(column)[row].strip() for row in rows]
    given = {cell: place for place, cell in enumerate(cells) if cell}
    expected = [str(k) for k in range(1, len(given) + 1)]
    if not given or len(given) != sum(map(bool, cells)) or set(given) != set(expected):
        shown = ", ".join(cell for cell in cells if cell) or "nothing"
        problems.append(f"set `{name}`: `{column}` holds {shown}, expected each of 1, 2, 3 ... once")
        return np.arange(0)
    return np.array([given[k] for k in expected], dtype=np.int64)


def examine_sets(sets: PointSets) -> Report:
    """What is odd about them: copies of a point in a set, sets of one point, few sets."""
    seen = Examination([i + 1 for i in range(len(sets))], "set", lambda i: sets.names[i], "set")
    rows = Examination((), "row", str)  # what cannot be read stands in a line, not in a set
    rows.report_unreadable(sets.problems)
    seen.findings += rows.findings
    copies = [i for i, points in enumerate(sets.points) if len(np.unique(points, axis=0)) < len(points)]
    message = f"{count_noun(len(copies), 'set')} with the same point twice: which of them is meant cannot be learned"
    seen.report("copies", copies, "warning", message)
    single = [i for i, points in enumerate(sets.points) if len(points) == 1]
    seen.report("single", single, "note", f"{count_noun(len(single), 'set')} of a single point")
    if len(sets) < LEAST_SETS:
        message = f"too little data: {count_noun(len(sets), 'set')}; a model needs at least about {LEAST_SETS:,}"
        seen.report_all("little-data", "warning", message, len(sets))
    sizes = [len(points) for points in sets.points]
    words = "all points are chosen in every set" if sets.every else "some points are not chosen"
    summary = (f"{min(sizes)} to {max(sizes)} points in a set, {count_noun(sets.coordinates, 'coordinate')}", words)
    statistics = {"sets": len(sets), "points": sum(sizes), "chosen": sum(map(len, sets.orders))}
    return Report(sets.origin, len(sets), len(sets), seen.finish(), statistics, "set", summary)
