"""What a run of an experiment found: verdict, rows, controls, seed and seconds; as text, JSON, HTML and figure."""

import dataclasses
import html
import math
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from headway.core.errors import ConfigError
from headway.lab import style
from headway.lab.checks import Check, Value
from headway.lab.experiment import NOT_REPRODUCED, Experiment
from headway.report.equations import to_html, to_unicode

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROWS = ("checks", "controls", "resolution")
NUMBERS = {"measured", "reference", "tolerance", "slack"}
COLUMNS = ("check", "measured", "", "theory", "slack", "")
WIDTH = 100  # columns of a terminal


@dataclass(frozen=True)
class Result:
    id: str
    module: str
    verdict: str
    reasons: tuple[str, ...]  # why it is not reproduced, or was skipped
    checks: tuple[Check, ...]
    controls: tuple[Check, ...]
    resolution: tuple[Check, ...]
    config: dict[str, Any]
    seed: int
    seeds: tuple[int, ...]
    seconds: float
    drawing: Experiment | None = field(default=None, repr=False, compare=False)  # the experiment, which draws
    drawn: Mapping[str, bytes] = field(default_factory=dict, repr=False, compare=False)  # `svg`, `png`: another process made them

    @property
    def ok(self) -> bool:
        return self.verdict != NOT_REPRODUCED

    @cached_property
    def figure(self) -> "Figure":
        """The figure, drawn when somebody asks for it."""
        if self.drawing is None:
            raise ConfigError(f"there is no figure of `{self.id}`", "an experiment that was skipped or given a network has none.")
        panels = self.drawing.plots()

        def draw(axes: style.Panels) -> None:
            for panel, place in zip(panels, axes, strict=False):
                panel.draw(place)
            for place in axes[len(panels) :]:
                place.set_visible(False)

        return style.figure(grid(len(panels)), draw, self.id)

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
        record["config"] = {k: list(v) if isinstance(v, tuple) else v for k, v in self.config.items()}
        return record | {"reasons": list(self.reasons), "seeds": list(self.seeds)}

    @staticmethod
    def from_json(record: dict[str, Any], drawn: Mapping[str, bytes] = MappingProxyType({})) -> "Result":
        rows = {key: tuple(Check(**row | {k: _number(row[k]) for k in NUMBERS & row.keys()}) for row in record[key]) for key in ROWS}
        return Result(**record | rows | {"reasons": tuple(record["reasons"]), "seeds": tuple(record["seeds"])}, drawn=drawn)

    def rows(self) -> list[tuple[Check, str]]:
        """The headline, other checks (""), controls and resolution; of the seeds of one check the worst stands for all."""
        checks = sorted(_folded(self.checks), key=lambda check: not check.headline)
        rest = [(check, kind) for kind, rows in (("control", self.controls), ("resolution", self.resolution)) for check in rows]
        return [(check, "") for check in checks] + rest

    def text(self, claim: str = "", verbose: bool = False) -> str:
        """For a terminal: the claim, the headline, what went wrong, and the verdict; all rows with `verbose`."""
        head = f"{self.id} ({self.module})  seed{'s' * (len(self.seeds) > 1)} {', '.join(map(str, self.seeds))}  {self.seconds:.2f} s"
        settings = ", ".join(f"{k} = {_plain(v)}" for k, v in self.config.items())
        lines = [head, *textwrap.wrap(settings, WIDTH), *(["", *textwrap.wrap(to_unicode(claim), WIDTH)] if claim else [])]
        every = self.rows()
        shown = [row for row in every if verbose or row[0].headline or _wrong(*row)] or every
        lines += ["", *_table(shown)] if shown else []
        if len(shown) < len(every):
            lines += ["", *textwrap.wrap(f"and {self._others(every, shown)} (`--verbose` shows them).", WIDTH)]
        reasons = [line for r in self.reasons for line in textwrap.wrap(r, WIDTH, initial_indent="  - ", subsequent_indent="    ")]
        return "\n".join([*lines, "", self.verdict, *reasons])

    @staticmethod
    def _others(every: list[tuple[Check, str]], shown: list[tuple[Check, str]]) -> str:
        hidden = [kind for row, kind in every if (row, kind) not in shown]
        words = {"": "check{} hold{}", "control": "control{} fail{}", "resolution": "wrong number{} {} refused"}
        parts = []
        for kind, text in words.items():
            n = hidden.count(kind)
            if n:
                verb = ("is" if n == 1 else "are") if kind == "resolution" else "s" * (n == 1)
                must = (" as it must" if n == 1 else " as they must") if kind == "control" else ""
                parts.append(f"{n} {'more ' * (not kind)}{text.format('s' * (n > 1), verb)}{must}")
        return ", ".join(parts)

    __str__ = text

    def table_html(self) -> str:
        head = "".join(f"<th>{title}</th>" for title in COLUMNS)
        body = ""
        for check, kind in self.rows():
            name, *numbers = _cells(check, kind)
            cells = [to_html(name) + (f"<small>{to_html(check.why)}</small>" if check.why else ""), *map(html.escape, numbers)]
            looks = ["headline"] * check.headline + ["control"] * bool(kind) + ["bad"] * _wrong(check, kind)
            row = "".join(f'<td data-label="{n}">{c}</td>' for n, c in zip(COLUMNS, cells, strict=True))
            body += f'<tr class="{" ".join(looks)}">{row}</tr>\n'
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


def _wrong(check: Check, kind: str) -> bool:
    """Whether a check fails, or a control or a wrong number passes."""
    return check.holds == bool(kind) or not check.defined


def _cells(check: Check, kind: str) -> tuple[str, ...]:
    theory = shown(check.reference) + (f" ± {shown(check.tolerance)}" if check.tolerance is not None else "")
    mark = ("PASSES" if check.holds else "fails") if kind else "holds" if check.holds else "FAILS"
    if not check.defined:
        mark = "not finite"
    title = ("as printed" if check.kind == "REFUTE" else kind) + f" {check.erratum}" * bool(check.erratum) + ": " if kind else ""
    note = f" ({check.note})" if check.note else ""
    seed = f" [worst of the seeds: {check.seed}]" if check.seed is not None else ""
    slack = shown(check.slack) if check.slack is not None and check.kind == "BOUND" and not kind else ""
    return title + check.name + note + seed, shown(check.measured), check.relation, theory, slack, mark


def _table(rows: list[tuple[Check, str]]) -> list[str]:
    """The rows in columns; what is checked and why a control fails take as many lines as they need."""
    cells = [COLUMNS, *(_cells(check, kind) for check, kind in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(1, len(COLUMNS))]
    name = max(20, min(WIDTH - sum(widths) - 2 * len(widths), max(len(row[0]) for row in cells)))
    lines = []
    for row, why in zip(cells, ["", *(check.why for check, _ in rows)], strict=True):
        first, *more = textwrap.wrap(to_unicode(row[0]), name) or [""]
        numbers = "  ".join(_align(cell, w, i) for i, (cell, w) in enumerate(zip(row[1:], widths, strict=True), 1))
        lines.append(f"{first:{name}}  {numbers}".rstrip())
        lines += [f"  {line}" for line in [*more, *textwrap.wrap(f"because {to_unicode(why)}" if why else "", WIDTH - 2)]]
    return lines


def grid(panels: int) -> tuple[int, int]:
    """Rows and columns of so many panels: up to three beside each other, four as a square."""
    columns = {1: 1, 2: 2, 3: 3, 4: 2}.get(panels, 3)
    return math.ceil(panels / columns), columns


def _plain(value: Any) -> str:
    return "(" + ", ".join(map(str, value)) + ")" if isinstance(value, tuple | list) else str(value)


def shown(value: Value | None) -> str:
    """A number with as many digits as one reads."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "" if value is None else str(value)
    if isinstance(value, int):
        return str(value) if abs(value) < 10**12 else f"{value:.4g}" if abs(value) < 10**300 else f"about 2^{value.bit_length() - 1}"
    return f"{value:.4g}"


def _align(cell: str, width: int, column: int) -> str:
    return cell.rjust(width) if column in (1, 4) else cell.ljust(width)
