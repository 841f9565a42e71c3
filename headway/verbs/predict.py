"""`headway predict`: what follows from examples that a person brings, as a table. Which options there are follows from the run's task."""

import argparse
import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path

from headway.core.errors import UsageError
from headway.core.files import require_writable, write_text
from headway.tasks.folder import require_weights
from headway.verbs.brought import add_brought, brought
from headway.verbs.options import add_run, open_run, refuse_overwriting

SUMMARY = "predictions for the rows of a table, the next values of a series"
EXAMPLES = """\
examples:
  headway predict runs/houses --table new.csv                              the first rows, on the screen
  headway predict runs/houses --table new.csv --output predictions.csv     all rows, with the predictions beside them
  headway predict runs/volume --table recent.csv --out forecast.html       a page with pictures
  headway predict runs/houses --help                                       the options of that run's task"""
SHOWN = 20  # rows on the screen
WIDEST = 24  # characters of a cell there


def add_arguments(p: argparse.ArgumentParser, words: list[str]) -> None:
    add_run(p)
    p.add_argument(
        "--output", metavar="FILE", help="where all rows go, as CSV (default: the first rows, on the screen)"
    )
    p.add_argument("--out", metavar="PAGE", help="a page with pictures of the predictions: predictions.html")
    p.add_argument("--json", action="store_true", help="print JSON: one object for each row")
    add_brought(p, words, "predict")


def run(a: argparse.Namespace) -> None:
    require_weights(Path(a.run))
    given = brought(a)
    if a.out and Path(a.out).suffix.lower() != ".html":
        raise UsageError(f"`--out {a.out}` should end in .html", "`--output` takes the rows, as CSV.")
    for path in (a.output, a.out):
        if path:
            refuse_overwriting(path, *(value for value in given.values() if isinstance(value, str)))
            require_writable(Path(path))
    found = open_run(a).predict(**given)
    if a.out:
        from headway.report.inspection import inspection_page

        if not found.panels:
            raise UsageError("there are no pictures of these predictions", "`--output` takes the rows, as CSV.")
        details = {"run": a.run} | {name: str(value) for name, value in given.items()}
        write_text(Path(a.out), inspection_page((), "Predictions", "", details, found.panels))
    if a.output:
        write_text(Path(a.output), csv_text(found.columns, found.rows))
    if a.json:
        print(
            json.dumps([dict(zip(found.columns, row, strict=True)) for row in found.rows], indent=2, ensure_ascii=False)
        )
        return
    if not a.output:
        print("\n".join(aligned(found.columns, found.rows[:SHOWN])))
        if len(found.rows) > SHOWN:
            print(f"... and {len(found.rows) - SHOWN:,} more rows: `--output predictions.csv` writes them all")
    for warning in found.warnings:
        print(f"note: {warning}")
    for path in filter(None, (a.output, a.out)):
        print(f"written: {path}")


def csv_text(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows([columns, *rows])
    return file.getvalue()


def aligned(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """The rows below the names of the columns; numbers to the right."""
    cells = [[cut(cell) for cell in row] for row in (columns, *rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    right = [all(is_number(cell) for cell in column[1:]) for column in zip(*cells, strict=True)]
    lines = []
    for row in cells:
        both = zip(row, widths, right, strict=True)
        lines.append(
            "  ".join(cell.rjust(width) if number else cell.ljust(width) for cell, width, number in both).rstrip()
        )
    return lines


def cut(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= WIDEST else text[: WIDEST - 3] + "..."


def is_number(text: str) -> bool:
    try:
        float(text or "0")
    except ValueError:
        return False
    return True
