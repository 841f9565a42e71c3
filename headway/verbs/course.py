"""`headway course`: the lectures as pages that are made from the code."""

import argparse
from pathlib import Path

from headway.core.errors import UsageError

SUMMARY = "the lectures as pages: every concept, experiment and erratum, made from the code"
EXAMPLES = """\
examples:
  headway course --out course                            run the lab, and write a site that needs no network
  headway lab run --all --out runs/lab                   run the lab once, and keep verdicts and figures ...
  headway course --out course --lab runs/lab             ... for the pages
  headway course --markdown docs/lectures --lab docs/lab   the pages of the documentation"""


def add_arguments(p: argparse.ArgumentParser, words: list[str]) -> None:
    p.add_argument(
        "--out", metavar="DIR", help="write a site: index.html, a page for each lecture, and the code that they quote"
    )
    p.add_argument("--markdown", metavar="DIR", help="write the pages as Markdown, too, or alone")
    p.add_argument(
        "--lab",
        metavar="DIR",
        help="verdicts and figures that `headway lab run --out DIR` or `headway lab docs --out DIR` left; "
        "experiments that are not there are run",
    )
    p.add_argument("--jobs", type=int, metavar="N", help="processes that run experiments (default: one for each core)")


def run(a: argparse.Namespace) -> None:
    if not (a.out or a.markdown):
        raise UsageError("where should the course go?", "`headway course --out course` writes a site into that folder.")
    if a.jobs is not None and a.jobs < 1:
        raise UsageError(f"`--jobs {a.jobs}` should be at least 1")
    from headway.course import outcomes
    from headway.course.markdown import write_markdown
    from headway.course.site import write_site

    for folder in filter(None, (a.out, a.markdown)):
        require_folder(Path(folder))
    known = outcomes.stored(Path(a.lab)) if a.lab else {}
    found = outcomes.complete(known, a.jobs, lambda line: print(line, flush=True))
    if a.out:
        print(f"site: {write_site(Path(a.out), found)[0]}")
    if a.markdown:
        print(f"pages: {write_markdown(Path(a.markdown), found)[0]}")


def require_folder(folder: Path) -> None:
    """Say before the experiments run that their pages could not be written there."""
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"`{folder}` is a file, not a folder", "name a folder; it is made if it is not there.")
