"""What a run of an experiment found: verdict, rows, controls, seed and seconds; as text, JSON, HTML and figure."""

import dataclasses
import html
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from headway.core.errors import ConfigError
from headway.lab import style
from headway.lab.checks import Check, Value
from headway.lab.experiment import NOT_REPRODUCED, Experiment

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROWS = ("checks", "controls")
NUMBERS = {"measured", "reference", "tolerance", "slack"}
COLUMNS = ("check", "measured", "", "theory", "slack", "")


@dataclass(frozen=True)
class Result:
    id: str
    module: str
    verdict: str
    reasons: tuple[str, ...]  # why it is not reproduced, or was skipped
    checks: tuple[Check, ...]
    controls: tuple[Check, ...]
    config: dict[str, Any]
    seed: int
    seeds: tuple[int, ...]
    seconds: float
    drawing: tuple[Experiment, Any] | None = field(default=None, repr=False, compare=False)
    drawn: Mapping[str, bytes] = field(default_factory=dict, repr=False, compare=False)  # `svg`, `png`: another process made them

    @property
    def ok(self) -> bool:
        return self.verdict != NOT_REPRODUCED

    @cached_property
    def figure(self) -> "Figure":
        """The figure, drawn when somebody asks for it."""
        if self.drawing is None:
            raise ConfigError(f"there is no figure of `{self.id}`", "an experiment that was skipped or given a network has none.")
        experiment, config = self.drawing
        return style.figure(experiment.panels, lambda axes: experiment.plot(config, axes), self.id)

    @cached_property
    def svg(self) -> str:
        """The figure as SVG, or nothing where there is none."""
        return self.image("svg").decode("utf-8") if self.drawing or self.drawn else ""

    def image(self, kind: str) -> bytes:
        """The figure as `svg` or `png`."""
        return self.drawn[kind] if kind in self.drawn else style.image(self.figure, kind, self.id)

    def to_json(self) -> dict[str, Any]:
        """Plain values. Numbers that JSON does not know are the texts `nan`, `inf` and `-inf`."""
        record = {f.name: getattr(self, f.name) for f in dataclasses.fields(self) if f.name not in ("drawing", "drawn")}
        record |= {key: [_sparse(check) for check in record[key]] for key in ROWS}
        return record | {"reasons": list(self.reasons), "seeds": list(self.seeds)}

    @staticmethod
    def from_json(record: dict[str, Any], drawn: Mapping[str, bytes] = MappingProxyType({})) -> "Result":
        rows = {key: tuple(Check(**row | {k: _number(row[k]) for k in NUMBERS & row.keys()}) for row in record[key]) for key in ROWS}
        return Result(**record | rows | {"reasons": tuple(record["reasons"]), "seeds": tuple(record["seeds"])}, drawn=drawn)

    def rows(self) -> list[tuple[Check, bool]]:
        """Checks and then controls (True); of the seeds of one check the worst stands for all."""
        return [(check, False) for check in _folded(self.checks)] + [(check, True) for check in self.controls]

    def text(self) -> str:
        """The table and the verdict for a terminal."""
        table = [COLUMNS, *(_cells(check, control) for check, control in self.rows())]
        widths = [max(len(row[i]) for row in table) for i in range(len(COLUMNS))]
        lines = ["  ".join(_align(cell, w, i) for i, (cell, w) in enumerate(zip(row, widths, strict=True))).rstrip() for row in table]
        settings = ", ".join(f"{k} = {v}" for k, v in self.config.items())
        head = f"{self.id} ({self.module})  seed{'s' * (len(self.seeds) > 1)} {', '.join(map(str, self.seeds))}  {self.seconds:.2f} s"
        parts = [head, *([settings] if settings else []), "", *(lines if len(table) > 1 else ()), "", self.verdict]
        return "\n".join([*parts, *(f"  - {reason}" for reason in self.reasons)])

    __str__ = text

    def table_html(self) -> str:
        head = "".join(f"<th>{title}</th>" for title in COLUMNS)
        body = ""
        for check, control in self.rows():
            bad = check.holds == control or not check.defined
            cells = "".join(f'<td data-label="{n}">{html.escape(c)}</td>' for n, c in zip(COLUMNS, _cells(check, control), strict=True))
            body += f'<tr class="{"control " if control else ""}{"bad" if bad else ""}">{cells}</tr>\n'
        return f'<div class="table"><table class="checks"><thead><tr>{head}</tr></thead><tbody>\n{body}</tbody></table></div>'

    def _repr_html_(self) -> str:
        reasons = "".join(f"<li>{html.escape(reason)}</li>" for reason in self.reasons)
        title = f"<p><b>{html.escape(self.id)}</b>: {html.escape(self.verdict)}</p>" + (f"<ul>{reasons}</ul>" if reasons else "")
        picture = self.svg
        return f"<div>{title}{self.table_html()}{picture[picture.index('<svg') :] if picture else ''}</div>"


def _sparse(check: Check) -> dict[str, Any]:
    """Only the fields that say something."""
    said = {f.name: getattr(check, f.name) for f in dataclasses.fields(check) if getattr(check, f.name) != f.default}
    return {k: str(v) if isinstance(v, float) and not math.isfinite(v) else v for k, v in said.items()}


def _number(value: Any) -> Any:
    return float(value) if value in ("nan", "inf", "-inf") else value


def _folded(checks: tuple[Check, ...]) -> list[Check]:
    """Rows of the same name (from several seeds): the one that fails or comes closest to it."""
    groups: dict[str, list[Check]] = {}
    for check in checks:
        groups.setdefault(check.name if check.seed is not None else f"{check.name}\0{len(groups)}", []).append(check)
    return [min(group, key=_margin) for group in groups.values()]


def _margin(check: Check) -> tuple[bool, float]:
    """Whether it holds, and how much room there is."""
    m, r = check.measured, check.reference
    if isinstance(m, str) or isinstance(r, str) or not check.defined:
        return check.holds, 0.0
    if check.tolerance:
        return check.holds, 1 - abs(m - r) / check.tolerance
    return check.holds, abs(m - r) / max(abs(r), 1e-300)


def _cells(check: Check, control: bool) -> tuple[str, ...]:
    theory = shown(check.reference) + (f" ± {shown(check.tolerance)}" if check.tolerance is not None else "")
    mark = ("passes, but must fail" if check.holds else "fails, as it must") if control else "holds" if check.holds else "FAILS"
    if not check.defined:
        mark = "not a number"
    title = ("as printed" if check.kind == "REFUTE" else "control") + f" ({check.erratum})" * bool(check.erratum) + ": " if control else ""
    note = f" ({check.note})" if check.note else ""
    seed = f" [worst of the seeds: {check.seed}]" if check.seed is not None else ""
    slack = shown(check.slack) if check.slack is not None and check.kind == "BOUND" and not control else ""
    return title + check.name + note + seed, shown(check.measured), check.relation, theory, slack, mark


def shown(value: Value | None) -> str:
    """A number with as many digits as one reads."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "" if value is None else str(value)
    if isinstance(value, int):
        return str(value) if abs(value) < 10**12 else f"{value:.4g}" if abs(value) < 10**300 else f"about 2^{value.bit_length() - 1}"
    return f"{value:.4g}"


def _align(cell: str, width: int, column: int) -> str:
    return cell.rjust(width) if column in (1, 4) else cell.ljust(width)
