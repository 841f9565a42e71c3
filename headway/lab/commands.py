"""What `headway lab ...` does. Listing, showing and every misspelling answer without loading numpy."""

import argparse
import json
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from headway.core.entries import Entry
from headway.core.errors import ConfigError, UsageError
from headway.core.files import disk_errors, require_writable, write_text, write_whole
from headway.core.registry import ROOT
from headway.lab import catalog, errata
from headway.lab.kinds import MEANINGS
from headway.report.equations import to_unicode

if TYPE_CHECKING:
    from headway.lab.result import Result

WIDTH = 100  # columns of a terminal
FOLDER = "runs/lab"  # where the figures of named experiments go
EXAMPLES = """\
examples:
  headway lab list                             by module, with lecture, kind and cost
  headway lab show telgarsky-32                the statement, its assumptions and source, what was misprinted
  headway lab run telgarsky-32 --set L=3       table of measured against bound, verdict, figure
  headway lab run depth --seed 1               all experiments of a module
  headway lab run pwl-relu-sum --network net.safetensors
  headway lab run --all --json results.json    everything, in parallel
  headway lab report --out report.html         one page with every figure, table and verdict
  headway lab errata                           what is printed, what is right, and the run that shows it"""


ACTIONS = {
    "list": "the experiments by module, with lecture, kind and cost",
    "show": "the statement of an experiment, its assumptions, its source, its erratum if there is one",
    "run": "run experiments: a table of measured against bound, a verdict and a figure",
    "report": "one page with every figure, table, verdict and erratum",
    "errata": "what is printed in the lectures, what is right, and the run that shows it, where there is one",
    "docs": "the pages of docs/lab",
}


def add_arguments(p: argparse.ArgumentParser) -> "argparse._SubParsersAction[argparse.ArgumentParser]":
    """The actions, to which the verb may add others."""
    actions = p.add_subparsers(dest="action", metavar="ACTION", required=True, parser_class=type(p), title="what to do")
    for name, about in ACTIONS.items():
        _add_action(actions.add_parser(name, help=about, description=about, allow_abbrev=False), name)
    return actions


def _add_action(p: argparse.ArgumentParser, action: str) -> None:
    """Every action has all values; those that it does not use are not offered."""
    runs = action in ("run", "report", "docs")
    p.add_argument("names", nargs="*", help="experiments or modules: `headway lab list` names them")
    p.add_argument("--debug", action="store_true", help="show the traceback of an error")
    if runs:
        p.add_argument("--seed", type=int, default=0, metavar="S", help="the same seed gives the same numbers and figures (default 0)")
        p.add_argument("--full", action="store_true", help="larger parameters")
        p.add_argument("--jobs", type=int, metavar="N", help="processes (default: one for each core)")
        place = {"run": f"a directory for figures (default {FOLDER})", "report": "the page (default report.html)"}
        place |= {"docs": "a directory (default docs/lab)"}
        p.add_argument("--out", metavar="PATH", help=place[action])
    if action == "run":
        p.add_argument("--all", action="store_true", help="every experiment")
        p.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a parameter of the experiment; may be repeated")
        p.add_argument("--network", metavar="FILE", help="a network of your own, the state_dict of a Sequential as .safetensors")
        p.add_argument("--json", metavar="FILE", help="the results as JSON")
        p.add_argument("--verbose", action="store_true", help="all rows of the table, not the headline alone")
    p.set_defaults(**{name: value for name, value in {"seed": 0, "full": False}.items() if not runs})


def do_lab(a: argparse.Namespace) -> int:
    if a.seed < 0:
        raise UsageError(f"`--seed {a.seed}` should not be negative")
    if a.action in ("list", "errata") and a.names:
        for name in a.names:
            catalog.module(name)
    return {"list": _list, "show": _show, "run": _run, "report": _report, "errata": _errata, "docs": _docs}[a.action](a)


def _list(a: argparse.Namespace) -> int:
    for name, title in catalog.modules().items():
        if not a.names or name in a.names:
            print(f"{name}: {title}")
            for entry in catalog.module(name):
                text = catalog.statement(entry)
                own = " (takes a network of your own)" if "examine" in entry.facts["methods"] else ""
                head = f"  {catalog.identity(entry):26} {', '.join(text.notes):5} {catalog.cost(entry)}  "
                print(textwrap.fill(to_unicode(text.claim) + own, WIDTH, initial_indent=head, subsequent_indent=" " * len(head)))
            print()
    print("notes A to E: `headway lab errata` names them; cost: S under 1 s, M under 10 s, L under a minute")
    return 0


def _show(a: argparse.Namespace) -> int:
    if not a.names:
        raise UsageError("which experiment?", "`headway lab list` names them.")
    print("\n\n".join(describe(catalog.find(name)) for name in a.names))
    return 0


def describe(entry: Entry) -> str:
    """What the file says of its experiment."""
    text, name = catalog.statement(entry), catalog.identity(entry)
    lines = [f"{name} ({catalog.module_of(entry)})", "", *textwrap.wrap(to_unicode(text.claim), WIDTH)]
    for equation, block in text.blocks:
        lines += ["", *(textwrap.indent(to_unicode(block), "    ").split("\n") if equation else textwrap.wrap(to_unicode(block), WIDTH))]
    notes = ", ".join(f"{key} ({errata.NOTES.get(key, key)})" for key in text.notes)
    kinds = [f"{kind}, {MEANINGS[kind]}" for kind in catalog.kinds(entry)]
    facts = [("notes", [notes]), ("source", [text.source]), ("assumes", text.assumptions), ("kinds", kinds)]
    facts += [("deviates", [text.deviates] if text.deviates else []), ("cost", [catalog.cost(entry)])]
    lines.append("")
    for title, values in facts:
        for value in values:
            start = f"{title + ':':10} "
            lines += textwrap.wrap(to_unicode(value), WIDTH, initial_indent=start, subsequent_indent=" " * 11, break_long_words=False)
    for erratum in catalog.errata(entry):
        lines += ["", *_erratum(erratum)]
    if entry.options:
        lines += ["", "parameters:"]
    for o in entry.options:
        start = f"  --set {f'{o.name}={_plain(o.default)}':32} "
        lines += textwrap.wrap(to_unicode(o.meaning), WIDTH, initial_indent=start, subsequent_indent=" " * 41)
    if "examine" in entry.facts["methods"]:
        lines.append("  --network FILE: a network of your own")
    return "\n".join([*lines, "", f"file: headway/{entry.path.relative_to(ROOT)}"])


def _plain(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _erratum(erratum: errata.Erratum) -> list[str]:
    lines = []
    for title, text in (("printed", erratum.printed), ("correct", erratum.correct), ("source", erratum.source)):
        if text:
            lines += textwrap.wrap(to_unicode(text), WIDTH, initial_indent=f"  {title}: ", subsequent_indent=" " * 11)
    return [f"erratum {erratum.id}", *lines]


def _errata(a: argparse.Namespace) -> int:
    known = {catalog.identity(entry) for entry in catalog.every()}
    note = ""
    for erratum in errata.register():
        if erratum.id[0] != note:
            note = erratum.id[0]
            print(f"Notes {note}: {errata.NOTES[note]}\n")
        runs = [f"headway lab run {name}" + ("" if name in known else " (not built yet)") for name in erratum.exposed_by]
        print("\n".join([*_erratum(erratum), "  shown by: " + ("; ".join(runs) or "nothing to run"), ""]))
    return 0


def _run(a: argparse.Namespace) -> int:
    if a.all == bool(a.names):
        raise UsageError("which experiments?", "name some (`headway lab list`), or `--all`.")
    chosen = catalog.every() if a.all else catalog.select(a.names)
    if (a.set or a.network) and len(chosen) != 1:
        raise UsageError(f"`--set` and `--network` are for one experiment, not {len(chosen)}")
    if a.json:
        require_writable(Path(a.json))
    out = a.out or (None if a.all else FOLDER)
    if len(chosen) == 1:
        results = [_one(a, chosen[0])]
        print(results[0].text(catalog.statement(chosen[0]).claim, a.verbose))
    else:
        results = _many(a, chosen, ("svg", "png") if out else ())
        print(f"\n{summary(results)}")
    if out:
        print("\n".join(_write(result, Path(out)) for result in results))
    if a.json:
        text = json.dumps([r.to_json() for r in sorted(results, key=lambda r: (r.module, r.id))], indent=2, ensure_ascii=False)
        write_text(Path(a.json), text + "\n")
        print(f"results: {a.json}")
    return 0 if all(result.ok for result in results) else 1


def _one(a: argparse.Namespace, entry: Entry) -> "Result":
    parameters = catalog.typed(entry, a.set)
    if a.network and "examine" not in entry.facts["methods"]:
        able = ", ".join(f"`{catalog.identity(e)}`" for e in catalog.every() if "examine" in e.facts["methods"])
        raise ConfigError(f"`{catalog.identity(entry)}` has no place for a network of your own", f"these have: {able}.")
    from headway.lab import runner
    from headway.lab.relu_net import ReluNet

    network = ReluNet.load(a.network) if a.network else None
    with runner.one_thread():  # as when all are run
        return runner.run(entry.name, a.seed, parameters, full=a.full, network=network)


def _many(a: argparse.Namespace, chosen: list[Entry], images: tuple[str, ...] = ("svg",)) -> "list[Result]":
    """All of them, with a line for each that is finished."""
    from headway.lab import runner

    results = []
    for result in runner.run_many(chosen, a.seed, a.full, a.jobs, images):
        results.append(result)
        print(f"[{len(results):3}/{len(chosen)}] {result.id:26} {result.seconds:6.2f} s  {result.verdict}", flush=True)
        for reason in result.reasons:
            print(f"          - {reason}")
    return results


def summary(results: "list[Result]") -> str:
    """How many of each verdict, the slack aside, and those that were not reproduced by name."""
    counts: dict[str, int] = {}
    for result in results:
        kind = "BOUND HOLDS" if result.verdict.startswith("BOUND HOLDS") else result.verdict
        counts[kind] = counts.get(kind, 0) + 1
    lines = [f"{len(results)} experiments, {sum(r.seconds for r in results):.0f} s of computing"]
    lines += [f"  {count:3} {kind}" for kind, count in sorted(counts.items(), key=lambda item: -item[1])]
    return "\n".join([*lines, *(f"  not reproduced: {r.id}" for r in results if not r.ok)])


def _write(result: "Result", folder: Path) -> str:
    """Figure and numbers of one experiment as files; what was written."""
    with disk_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / f"{result.id}.json", json.dumps(result.to_json(), indent=2, ensure_ascii=False) + "\n")
    if not result.svg:
        return f"numbers: {folder / result.id}.json"
    write_text(folder / f"{result.id}.svg", result.svg)
    write_whole(folder / f"{result.id}.png", lambda part: part.write_bytes(result.image("png")))
    return f"figure: {folder / result.id}.svg, .png; numbers: {result.id}.json"


def _report(a: argparse.Namespace) -> int:
    path = Path(a.out or "report.html")
    require_writable(path)
    results = _many(a, catalog.select(a.names) if a.names else catalog.every())
    from headway.lab.page import report_page

    write_text(path, report_page(results))
    print(f"\n{summary(results)}\nreport: {path}")
    return 0 if all(result.ok for result in results) else 1


def _docs(a: argparse.Namespace) -> int:
    folder = Path(a.out or "docs/lab")
    with disk_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    results = _many(a, catalog.select(a.names) if a.names else catalog.every())
    from headway.lab.page import markdown

    for name in dict.fromkeys(result.module for result in results):
        mine = [result for result in results if result.module == name]
        write_text(folder / f"{name}.md", markdown(name, mine))
        for result in mine:
            if result.svg:
                write_text(folder / f"{result.id}.svg", result.svg)
    print(f"\n{summary(results)}\npages: {folder}")
    return 0 if all(result.ok for result in results) else 1
