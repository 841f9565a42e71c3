"""`headway answer`: the part of a passage that answers a question."""

import argparse
import json

from headway.core.errors import UsageError
from headway.verbs.options import add_run, open_run

SUMMARY = "the part of a passage that answers a question"
EXAMPLES = """\
examples:
  headway answer runs/questions --context "Anna lives in Rome." --question "Where does Anna live?"
  headway answer runs/questions --context-file page.txt --question "Who wrote it?" --json

A passage of any length: it is read in parts that overlap, and the surest answer counts."""


def add_arguments(p: argparse.ArgumentParser, words: list[str]) -> None:
    add_run(p)
    p.add_argument("--context", metavar="TEXT", help="the passage")
    p.add_argument("--context-file", metavar="FILE", help="or a file that holds it; `-` is standard input")
    p.add_argument("--question", metavar="TEXT", required=True, help="what is asked")
    p.add_argument("--json", action="store_true", help="print JSON: the answer, its place and its probability")


def run(a: argparse.Namespace) -> None:
    if (a.context is None) == (a.context_file is None):
        raise UsageError("which passage?", "give it with `--context`, or a file with `--context-file`.")
    opened = open_run(a)
    from headway.data.input_file import InputFile

    context = a.context if a.context is not None else InputFile(a.context_file).text()
    found = opened.answer(context, a.question)
    if a.json:
        value = {"question": a.question, "answer": found.text, "start": found.start, "end": found.end}
        print(json.dumps(value | {"score": found.score, "warnings": found.warnings}, indent=2, ensure_ascii=False))
        return
    place = f"    characters {found.start} to {found.end}" if found.text else ""
    print(f"{found.text or '(no answer in this passage)'}    {found.score:.3f}{place}")
    for warning in found.warnings:
        print(f"note: {warning}")
