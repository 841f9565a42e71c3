"""`headway generate`: continue a prompt, token by token as it is written."""

import argparse

from headway.verbs.options import add_run, open_run, require_positive

SUMMARY = "continue a prompt, token by token as it is written"
EXAMPLES = """\
examples:
  headway generate runs/text --prompt "ROMEO:" --temperature 0.8 --top-p 0.95 --count 3
  headway generate runs/text --length 1000 --temperature 0       always the most probable token
  headway generate runs/chat --prompt "Who are you?"             the response of a run that answers prompts"""


def add_arguments(p: argparse.ArgumentParser, words: list[str]) -> None:
    add_run(p)
    p.add_argument("--prompt", default="", metavar="TEXT", help="how the text begins")
    p.add_argument("--length", type=int, default=500, metavar="N", help="tokens to write (default 500)")
    p.add_argument("--count", type=int, default=1, metavar="N", help="how many continuations (default 1)")
    p.add_argument(
        "--temperature",
        type=float,
        default=0.8,
        metavar="T",
        help="0 always takes the most probable token (default 0.8)",
    )
    p.add_argument("--top-k", type=int, metavar="K", help="draw from the K most probable tokens only")
    p.add_argument(
        "--top-p",
        type=float,
        default=0.95,
        metavar="P",
        help="draw from the fewest that hold this probability (default 0.95)",
    )
    p.add_argument("--seed", type=int, default=1, metavar="S", help="the same seed writes the same text (default 1)")


def run(a: argparse.Namespace) -> None:
    require_positive(a, "count", "length", "top_k")
    opened = open_run(a)
    for number in range(a.count):
        pieces = opened.stream(a.prompt, a.length, a.temperature, a.top_k, a.top_p, a.seed + number)
        first = next(pieces, "")  # what cannot be done is reported before the prompt is printed
        border = "" if getattr(opened.task, "continues", True) else "\n"
        print(a.prompt + border + first, end="", flush=True)
        for piece in pieces:
            print(piece, end="", flush=True)
        print("\n" + ("-" * 20 if number + 1 < a.count else ""), flush=True)
