"""Verdict and figure of each experiment: from a folder in which the lab has left them, or by running it."""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from headway.core.entries import Entry
from headway.core.errors import DataError
from headway.core.files import disk_errors
from headway.lab import catalog

_VERDICT = re.compile(r"^## (\S+)\n\n\*\*(.+?)\*\* · ", re.MULTILINE)  # of a page of `headway lab docs`


@dataclass(frozen=True)
class Outcome:
    verdict: str
    svg: str = ""  # nothing where the experiment was skipped
    file: Path | None = None  # where the figure is kept already


def stored(folder: Path) -> dict[str, Outcome]:
    """What `headway lab run --out FOLDER` (ID.json) or `headway lab docs --out FOLDER` (MODULE.md) wrote, with the figures ID.svg."""
    if not folder.is_dir():
        raise DataError(f"there is no folder `{folder}`", f"`headway lab run --all --out {folder}` makes it.")
    verdicts: dict[str, str] = {}
    with disk_errors(folder):
        for page in sorted(folder.glob("*.md")):
            verdicts |= dict(_VERDICT.findall(page.read_text(encoding="utf-8")))
    for file in sorted(folder.glob("*.json")):
        verdicts[file.stem] = _verdict(file)
    if not verdicts:
        raise DataError(
            f"`{folder}` holds no results of the lab", f"`headway lab run --all --out {folder}` makes them."
        )
    return {name: _outcome(verdict, folder / f"{name}.svg") for name, verdict in verdicts.items()}


def _verdict(file: Path) -> str:
    try:
        return str(json.loads(file.read_text(encoding="utf-8"))["verdict"])
    except (OSError, ValueError, KeyError, TypeError) as problem:
        hint = f"remove it, or run `headway lab run {file.stem} --out {file.parent}` again."
        raise DataError(f"`{file}` is not a result of the lab", hint) from problem


def _outcome(verdict: str, figure: Path) -> Outcome:
    with disk_errors(figure):
        return Outcome(verdict, figure.read_text(encoding="utf-8"), figure) if figure.is_file() else Outcome(verdict)


def measured(entries: Iterable[Entry], jobs: int | None, tell: Callable[[str], None]) -> dict[str, Outcome]:
    """Run these experiments; `tell` gets a line for each that is finished."""
    from headway.lab.runner import run_many

    wanted, found = list(entries), dict[str, Outcome]()
    for result in run_many(wanted, jobs=jobs) if wanted else ():
        found[result.id] = Outcome(result.verdict, result.svg)
        tell(f"[{len(found):3}/{len(wanted)}] {result.id:26} {result.seconds:6.2f} s  {result.verdict}")
    return found


def complete(known: Mapping[str, Outcome], jobs: int | None, tell: Callable[[str], None]) -> dict[str, Outcome]:
    """What is known, and the rest by running it."""
    rest = [entry for entry in catalog.every() if catalog.identity(entry) not in known]
    return dict(known) | measured(rest, jobs, tell)
