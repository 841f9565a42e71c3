"""What a doctor writes down: findings, and the report that people and programs read."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from headway.data.pairs import Pairs
from headway.data.plaintext import shown

SEVERITIES = ("error", "warning", "note")
ACTIONS = {"kept": "kept", "dropped": "will be dropped"}
MOST_LINES, MOST_EXAMPLES = 20, 3


@dataclass(frozen=True)
class Finding:
    """One thing that is odd about `count` lines: where (the first 20), how it looks, how grave it is, what is done about it."""

    kind: str
    count: int
    lines: tuple[int, ...]
    examples: tuple[str, ...]
    severity: str  # "note", "warning" or "error"
    action: str  # "kept" or "dropped"
    message: str

    def text(self) -> str:
        first = ", ".join(map(str, self.lines[:3])) + (", ..." if self.count > 3 else "")
        where = f" ({'line' if self.count == 1 else 'lines'} {first})" if self.lines else ""
        return f"{self.severity}: {self.message}{where}: {ACTIONS[self.action]}"


@dataclass(frozen=True)
class Report:
    """All findings about a corpus, the gravest first."""

    origin: str
    total: int
    kept: int
    findings: tuple[Finding, ...]
    statistics: dict[str, Any]

    def to_json(self) -> dict[str, Any]:
        """Plain dictionaries, lists, strings and numbers."""
        value = dataclasses.asdict(self)
        for finding in value["findings"]:
            finding["lines"], finding["examples"] = list(finding["lines"]), list(finding["examples"])
        return value | {"findings": list(value["findings"])}

    def text(self) -> str:
        """A page for a terminal."""
        dropped = self.total - self.kept
        head = f"{self.origin}: {counted(self.total, 'pair')}, " + (f"{dropped:,} dropped, {self.kept:,} kept" if dropped else "all kept")
        rows = [head]
        for side in ("source", "target"):
            numbers = self.statistics[side]
            size = f"{numbers['words']:,} words ({numbers['vocabulary']:,} different)"
            spread = f"{numbers['mean']:.1f} on average, {numbers['median']:.0f} in the middle, {numbers['max']:,} at most"
            rows.append(f"  {side}: {size}; {self.statistics['unit']} per line: {spread}")
        for finding in self.findings:
            rows.append(f"  {finding.text()}")
            rows += [f"    e.g. {example}" for example in finding.examples[:1]]
        return "\n".join(rows if self.findings else [*rows, "  nothing odd was found"])


class Examination:
    """The findings so far, and which pairs they have left alive. A pair is dropped once, for the first reason."""

    def __init__(self, pairs: Pairs) -> None:
        self.pairs = pairs
        self.alive = np.ones(len(pairs), dtype=bool)
        self.findings: list[Finding] = []

    def tell(
        self,
        kind: str,
        indices: Sequence[int],
        severity: str,
        message: str,
        *,
        action: str = "kept",
        examples: Sequence[str] = (),
    ) -> None:
        """Record a finding about these pairs, if there are any."""
        if indices:
            examples = examples or [f"{shown(self.pairs.sources[i], 38)} | {shown(self.pairs.targets[i], 38)}" for i in indices[:3]]
            lines = tuple(self.pairs.lines[i] for i in indices[:MOST_LINES])
            found = Finding(kind, len(indices), lines, tuple(examples[:MOST_EXAMPLES]), severity, action, message)
            self.findings.append(found)

    def drop(self, kind: str, wrong: npt.NDArray[np.bool_], words: str) -> None:
        """Drop the pairs that are wrong and still alive, and tell."""
        indices = np.flatnonzero(wrong & self.alive).tolist()
        self.alive[indices] = False
        self.tell(kind, indices, "warning", f"{counted(len(indices), 'pair')} {words}", action="dropped")

    def finished(self) -> tuple[Finding, ...]:
        return tuple(sorted(self.findings, key=lambda finding: SEVERITIES.index(finding.severity)))


def counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' * (count != 1)}"
