"""`headway tag`: the tag of each word of a text."""

import argparse
import json
from pathlib import Path

from headway.core.files import write_text
from headway.verbs.options import add_run, open_with_inputs

SUMMARY = "the tag of each word of a text: parts of speech, names of persons and places"
EXAMPLES = """\
examples:
  headway tag runs/tags "Anna Berg lives in Rome."
  headway tag runs/tags --input texts.txt --output texts.conll      one text per line; one word and its tag per line
  headway tag runs/tags "Anna lives in Rome." --json                with the probability of each tag"""
MANY = "texts"


def add_arguments(p: argparse.ArgumentParser, words: list[str]) -> None:
    add_run(p)
    p.add_argument("texts", nargs="*", help="texts; signs such as `.` and `,` are words of their own")
    p.add_argument("--input", metavar="FILE", help="one text per line; `-` is standard input")
    p.add_argument("--output", metavar="FILE", help="where the words and tags go (default: the screen)")
    p.add_argument("--json", action="store_true", help="print JSON: words, tags and confidence of each text")


def run(a: argparse.Namespace) -> None:
    opened, texts = open_with_inputs(
        a, a.texts, "what should be tagged?", "give texts, or a file of them with `--input`."
    )
    from headway.data.conll import write_conll

    found = opened.tag(texts)
    if a.json:
        value = [
            {"text": text, "words": f.words, "tags": f.tags, "confidence": f.confidence}
            for text, f in zip(texts, found, strict=True)
        ]
        text = json.dumps(value, indent=2, ensure_ascii=False) + "\n"
    else:
        text = write_conll([f.words for f in found], [f.tags for f in found])
    if a.output:
        write_text(Path(a.output), text)
    else:
        print(text.removesuffix("\n\n").removesuffix("\n"))
    for number, f in enumerate(found, 1):
        if f.warnings and not a.json:
            print(f"note: text {number}: {'; '.join(f.warnings)}")
