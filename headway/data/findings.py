"""What a doctor writes down: findings, and the report that people and programs read."""

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from headway.core.errors import DataError
from headway.data.messages import count_noun, display_name
from headway.data.rows import Problem

SEVERITIES = ("error", "warning", "note")
ACTIONS = {"kept": "kept", "dropped": "will be dropped"}
MOST_LINES, MOST_EXAMPLES = 20, 3


@dataclass(frozen=True)
class Finding:
    """One thing that is odd about `count` items: where (the first 20), examples, how grave it is, what is done."""

    kind: str
    count: int
    lines: tuple[int, ...]
    examples: tuple[str, ...]
    severity: str  # "note", "warning" or "error"
    action: str  # "kept" or "dropped"
    message: str
    place: str = "line"  # what `lines` counts: lines, documents, pictures

    def text(self) -> str:
        first = ", ".join(map(str, self.lines[:3])) + (", ..." if self.count > 3 else "")
        where = f" ({self.place}{'s' * (self.count != 1)} {first})" if self.lines else ""
        return f"{self.severity}: {self.message}{where}: {ACTIONS[self.action]}"


@dataclass(frozen=True)
class Report:
    """All findings about some data, the gravest first."""

    origin: str
    total: int
    kept: int
    findings: tuple[Finding, ...]
    statistics: dict[str, Any]
    unit: str = "pair"  # what `total` and `kept` count
    summary: tuple[str, ...] = ()  # the statistics in words

    @property
    def errors(self) -> tuple[Finding, ...]:
        """Findings with which no model should be trained."""
        return tuple(finding for finding in self.findings if finding.severity == "error")

    @property
    def left_out(self) -> tuple[str, ...]:
        """What was dropped, and why: for whoever is shown what came of the rest."""
        return tuple(f"left out: {finding.message}" for finding in self.findings if finding.action == "dropped")

    def to_json(self) -> dict[str, Any]:
        """Plain dictionaries, lists, strings and numbers."""
        value = dataclasses.asdict(self)
        for finding in value["findings"]:
            finding["lines"], finding["examples"] = list(finding["lines"]), list(finding["examples"])
        return value | {"findings": list(value["findings"]), "summary": list(self.summary)}

    def text(self) -> str:
        """A page for a terminal."""
        dropped = self.total - self.kept
        kept = f"{dropped:,} dropped, {self.kept:,} kept" if dropped else "all kept"
        rows = [f"{self.origin}: {count_noun(self.total, self.unit)}, {kept}", *(f"  {line}" for line in self.summary)]
        for finding in self.findings:
            rows.append(f"  {finding.text()}")
            rows += [f"    e.g. {example}" for example in finding.examples[:1]]
        return "\n".join(rows if self.findings else [*rows, "  nothing odd was found"])


def unread(problems: Sequence[Problem], noun: str) -> tuple[str, ...]:
    """What could not be read, in the words of `Report.left_out`."""
    return (f"left out: {count_noun(len(problems), noun)} that cannot be read",) if problems else ()


class Examination:
    """The findings so far, and which items they have left alive. An item is dropped once, for the first reason.

    `lines` says where each item stands, `show` gives its text for the examples, `unit` is what it is called.
    """

    def __init__(self, lines: Sequence[int], unit: str, show: Callable[[int], str], place: str = "line") -> None:
        self.lines, self.unit, self.show, self.place = lines, unit, show, place
        self.alive = np.ones(len(lines), dtype=bool)
        self.findings: list[Finding] = []

    def report(
        self,
        kind: str,
        indices: Sequence[int],
        severity: str,
        message: str,
        *,
        action: str = "kept",
        examples: Sequence[str] = (),
    ) -> None:
        """Record a finding about these items, if there are any."""
        if indices:
            examples = examples or [self.show(i) for i in indices[:MOST_EXAMPLES]]
            lines = tuple(self.lines[i] for i in indices[:MOST_LINES])
            first = tuple(examples[:MOST_EXAMPLES])
            self.findings.append(Finding(kind, len(indices), lines, first, severity, action, message, self.place))

    def drop(self, kind: str, wrong: npt.NDArray[np.bool_], words: str) -> None:
        """Drop the items that are wrong and still alive, and report them."""
        indices = np.flatnonzero(wrong & self.alive).tolist()
        self.alive[indices] = False
        self.report(kind, indices, "warning", f"{count_noun(len(indices), self.unit)} {words}", action="dropped")

    def report_all(self, kind: str, severity: str, message: str, count: int = 1) -> None:
        """Record a finding about the data as a whole, which stands in no particular line."""
        self.findings.append(Finding(kind, count, (), (), severity, "kept", message, self.place))

    def report_unreadable(self, problems: Sequence[Problem], noun: str = "line") -> None:
        """Rows that the reader could not read."""
        if problems:
            examples = tuple(f"{noun} {problem.line} {problem.message}" for problem in problems[:MOST_EXAMPLES])
            lines = tuple(problem.line for problem in problems[:MOST_LINES])
            message = f"{count_noun(len(problems), noun)} that cannot be read"
            finding = Finding("unreadable", len(problems), lines, examples, "warning", "dropped", message, self.place)
            self.findings.append(finding)

    def finish(self) -> tuple[Finding, ...]:
        return tuple(sorted(self.findings, key=lambda finding: SEVERITIES.index(finding.severity)))


def drop_held_out(report: Report, names: Sequence[str], hidden: npt.NDArray[np.bool_], unit: str, lost: int) -> Report:
    """The report of a training part without the items that are also held out: nothing is learned from those.

    names    of the items
    hidden   which of them are also held out
    unit     what an item is
    lost     what they are in the unit of the report
    """
    if hidden.all():
        hint = f"learn from other {unit}s than those that you test with."
        raise DataError(f"nothing is left of {display_name(report.origin)}: every {unit} is also held out", hint)
    seen = Examination(range(1, len(names) + 1), unit, lambda i: names[i], unit)
    seen.drop("held-out", hidden, f"also among the held-out {unit}s")
    seen.findings += report.findings
    return dataclasses.replace(report, kept=report.kept - lost, findings=seen.finish())
