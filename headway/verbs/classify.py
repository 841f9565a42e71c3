"""`headway classify`: the class of a text or of a picture, with probabilities."""

import argparse
import json

from headway.verbs.options import add_run, open_with_inputs, write_lines

SUMMARY = "the class of a text or a picture, with probabilities"
EXAMPLES = """\
examples:
  headway classify runs/sentiment "a film of rare warmth"
  headway classify runs/sentiment --input reviews.txt --output labels.txt     one text per line, one label per line
  headway classify runs/digits 7.png 8.png"""
MANY = "inputs"


def add_arguments(p: argparse.ArgumentParser, words: list[str]) -> None:
    add_run(p)
    p.add_argument("inputs", nargs="*", help="texts, or paths of pictures")
    p.add_argument("--input", metavar="FILE", help="one text (or path) per line; `-` is standard input")
    p.add_argument(
        "--output", metavar="FILE", help="where the labels go, one per line (default: the screen, with probabilities)"
    )
    p.add_argument("--json", action="store_true", help="print JSON: label and probabilities of each input")


def run(a: argparse.Namespace) -> None:
    opened, inputs = open_with_inputs(
        a, a.inputs, "what should be classified?", "give texts or paths, or a file of them with `--input`."
    )
    found = opened.classify(inputs)
    if a.json:
        value = [
            {"input": text, "label": f.label, "probabilities": f.probabilities}
            for text, f in zip(inputs, found, strict=True)
        ]
        print(json.dumps(value, indent=2, ensure_ascii=False))
    elif a.output:
        write_lines([f.label for f in found], a.output)
    else:
        for text, f in zip(inputs, found, strict=True):
            others = "  ".join(f"{name} {p:.3f}" for name, p in list(f.probabilities.items())[:5])
            print(f"{f.label}    {others}" + (f"    {text[:60]}" if len(inputs) > 1 else ""))
            for warning in f.warnings:
                print(f"  note: {warning}")
