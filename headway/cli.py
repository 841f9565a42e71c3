"""The verbs of the command `headway`. This file says which options there are; `headway/verbs` does the work, and is imported late.

Nothing heavy is loaded before the whole command line is understood: `--help` and every misspelling answer at once.
"""

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from headway import __version__
from headway.core.errors import HeadwayError, UnknownName, UsageError
from headway.core.registry import ROOMS

EXAMPLES = """\
examples:
  headway train demo --out runs/demo                    two minutes on the embedded corpus
  headway train translation --source train.en --target train.de --minutes 30 --out runs/mine
  headway train --resume runs/mine                      continue exactly where it stopped
  headway translate runs/mine "A man is riding a bicycle."
  headway evaluate runs/mine --source test.en --target test.de
  headway inspect runs/mine "A man is riding a bicycle." --out maps.html
  headway train language --text input.txt --minutes 3 --out runs/text
  headway generate runs/text --prompt "ROMEO:" --count 3
  headway find "Bahdanau"                               what the lectures talk about, by any name

Every verb explains itself: headway train --help"""

TRAIN = """\
examples:
  headway train translation --source train.en --target train.de --minutes 30 --out runs/mine
  headway train translation --pairs memory.tmx --model attention_seq2seq --out runs/memory
  headway train translation --pairs data.tsv --steps 2000 --seed 7 --model.width 128 --training.rate 1e-3 --out runs/small
  headway train language --text input.txt --model mamba --tokens characters --minutes 3 --out runs/mamba
  cat pairs.tsv | headway train translation --pairs - --out runs/piped

What you do not choose is chosen from the size of the data and the budget, and said aloud. Any field of the recipe can be set by its
path: --model.<option> (see `headway show transformer`), --training.<field>, --tokens.<field>, --data.<field>. The fields:
"""


WHERE = {
    **dict.fromkeys(("train", "compare"), "training"),
    **dict.fromkeys(("translate", "generate", "evaluate", "align"), "using"),
    **dict.fromkeys(("inspect", "data", "list", "find", "show", "lab"), "looking"),
}  # which file of `headway/verbs` does the work of a verb


class Parser(argparse.ArgumentParser):
    """argparse that raises instead of exiting, and knows the options that were probably meant."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(message.replace("the following arguments are required:", "missing:"), f"`{self.prog} --help` explains it.")

    @property
    def known(self) -> list[str]:
        return [option for action in self._actions for option in action.option_strings if option.startswith("--")]


def parser() -> tuple[Parser, dict[str, Parser]]:
    """The whole command line, and the parser of each verb by its name."""
    raw = argparse.RawDescriptionHelpFormatter
    top = Parser(prog="headway", description="Train, use and understand the architectures of the deep-learning lectures.",
                 epilog=EXAMPLES, formatter_class=raw, allow_abbrev=False)  # fmt: skip
    top.add_argument("--version", action="version", version=f"headway {__version__}")
    verbs = top.add_subparsers(dest="verb", metavar="verb", required=True, parser_class=Parser)
    found: dict[str, Parser] = {}

    def verb(name: str, help: str, epilog: str = "") -> Parser:
        found[name] = verbs.add_parser(name, help=help, description=help, epilog=epilog, formatter_class=raw, allow_abbrev=False)
        found[name].add_argument("--debug", action="store_true", help="show the traceback of an error")
        return found[name]

    def run(p: Parser) -> None:
        p.add_argument("run", help="the directory that `headway train` made")

    def pairs(p: Parser) -> None:
        p.add_argument("--source", metavar="FILE", help="one sentence per line")
        p.add_argument("--target", metavar="FILE", help="its translation, line by line")
        p.add_argument("--pairs", metavar="FILE", help="both in one file: .tsv .csv .jsonl .tmx, `-` for standard input")
        p.add_argument("--languages", metavar="A,B", help="which two, where the file holds more: en,de")

    def search(p: Parser) -> None:
        p.add_argument("--beam", type=int, default=5, metavar="K", help="hypotheses kept; 1 is greedy (default 5)")
        p.add_argument("--penalty", type=float, default=1.0, metavar="A", help="length penalty: higher gives longer output (default 1)")
        p.add_argument("--batch", type=int, default=64, metavar="N", help="sentences at a time (default 64)")

    p = verb("train", "train a model on your data; or continue a run", TRAIN + fields())
    p.add_argument("recipe", nargs="?", help="`demo`, `translation` or `language`")
    pairs(p)
    p.add_argument("--validation-source", metavar="FILE", help="held-out sentences; without them a part of the data is set apart")
    p.add_argument("--validation-target", metavar="FILE", help="their translations")
    p.add_argument("--validation-pairs", metavar="FILE", help="or both in one file")
    p.add_argument("--text", metavar="PATH", help="for `language`: a text file, a folder, .jsonl, or `-`")
    p.add_argument("--validation-text", metavar="PATH", help="held-out text; without it the last tenth is held out")
    p.add_argument("--model", metavar="NAME", help="which architecture: `headway list models` (default transformer, gpt)")
    p.add_argument("--tokens", metavar="KIND", help="bpe, wordpiece, unigram, words, characters or bytes (default bpe)")
    budget = p.add_mutually_exclusive_group()
    budget.add_argument("--minutes", type=float, metavar="M", help="train about this long (default 10)")
    budget.add_argument("--steps", type=int, metavar="N", help="or this many steps (early stopping may end sooner: --training.patience)")
    budget.add_argument("--epochs", type=float, metavar="E", help="or this often through the data")
    p.add_argument("--seed", type=int, metavar="S", help="the same seed gives the same run (default 1)")
    p.add_argument("--out", metavar="DIR", help="where the run goes; must not exist yet")
    p.add_argument("--resume", metavar="DIR", help="continue this run")
    p.add_argument("--quiet", action="store_true", help="print nothing but errors")

    p = verb("compare", "train several models alike and set them side by side",
             "example:\n  headway compare language --text input.txt --models gpt,lstm,mamba --minutes 5 --out runs/compare")  # fmt: skip
    p.add_argument("what", choices=["language", "tasks"], help="language: models of text; tasks: mixers on riddles")
    p.add_argument("--text", metavar="PATH", help="language: a text file, a folder or .jsonl")
    p.add_argument("--models", metavar="A,B", help="language: by name; the first sets the number of parameters")
    p.add_argument("--mixers", metavar="A,B", help="tasks: by name (default: eleven recurrences and attentions)")
    p.add_argument("--riddles", metavar="A,B", help="tasks: copy, parity ... (default: all nine)")
    p.add_argument("--lengths", metavar="N,N", help="tasks: tried from the shortest on while solved (default 8,16,32,64,128)")
    p.add_argument("--tokens", metavar="KIND", default="characters", help="bpe, words, characters ... (default characters)")
    budget = p.add_mutually_exclusive_group()
    budget.add_argument("--minutes", type=float, metavar="M", help="for each run (default 5)")
    budget.add_argument("--steps", type=int, metavar="N", help="or this many steps (tasks: default 1000)")
    p.add_argument("--seeds", type=int, default=2, metavar="N", help="runs of each model; two give an interval (default 2)")
    p.add_argument("--out", required=True, metavar="DIR", help="where the runs, the table and the page go")

    p = verb("translate", "translate text, a file, or standard input")
    run(p)
    p.add_argument("text", nargs="*", help="sentences; without any, `--input` is read")
    p.add_argument("--input", metavar="FILE", help="one sentence per line; `-` is standard input")
    p.add_argument("--output", metavar="FILE", help="where the translations go (default: the screen)")
    search(p)
    p.add_argument("--n-best", type=int, default=1, metavar="N", help="print the N best of each sentence with their scores")

    p = verb("generate", "continue a prompt, token by token as it is written")
    run(p)
    p.add_argument("--prompt", default="", metavar="TEXT", help="how the text begins")
    p.add_argument("--length", type=int, default=500, metavar="N", help="tokens to write (default 500)")
    p.add_argument("--count", type=int, default=1, metavar="N", help="how many continuations (default 1)")
    p.add_argument("--temperature", type=float, default=0.8, metavar="T", help="0 always takes the most probable token (default 0.8)")
    p.add_argument("--top-k", type=int, metavar="K", help="draw from the K most probable tokens only")
    p.add_argument("--top-p", type=float, default=0.95, metavar="P", help="draw from the fewest that hold this probability (default 0.95)")
    p.add_argument("--seed", type=int, default=1, metavar="S", help="the same seed writes the same text (default 1)")

    p = verb("evaluate", "BLEU and chrF on pairs you bring; nats per token, bits per byte and perplexity on text")
    run(p)
    pairs(p)
    p.add_argument("--text", metavar="PATH", help="for a language model: a file, a folder or .jsonl")
    search(p)
    p.add_argument("--json", action="store_true", help="print JSON")

    p = verb("align", "word alignments in Pharaoh format, read off the attention")
    run(p)
    pairs(p)
    p.add_argument("--gold", metavar="FILE", help="alignments in Pharaoh format, to compute the error rate against")
    p.add_argument("--output", metavar="FILE", help="where the alignments go (default: the screen)")

    p = verb("inspect", "every attention map for a sentence, as a page (.html) or a picture (.png)")
    run(p)
    p.add_argument("text", help="a source sentence")
    p.add_argument("--target", metavar="TEXT", help="look at this translation instead of the model's own")
    p.add_argument("--only", choices=["encoder", "decoder", "cross"], help="only this kind of attention")
    p.add_argument("--out", default="maps.html", metavar="FILE", help="maps.html or maps.png (default maps.html)")

    p = verb("data", "look at data before training", "example:\n  headway data check train.en train.de")
    p.add_argument("action", choices=["check"], help="check: what is wrong with these files, line by line")
    p.add_argument("files", nargs="+", help="two aligned files, or one file of pairs")
    p.add_argument("--languages", metavar="A,B", help="which two, where the file holds more: en,de")
    p.add_argument("--heldout", nargs="+", metavar="FILE", help="test files: are their lines in the training data?")
    p.add_argument("--tokens", metavar="KIND", default="bpe", help="the tokenizer to try on it (default bpe)")
    p.add_argument("--json", action="store_true", help="print JSON")

    from headway.lab import commands as lab

    lab.add_arguments(verb("lab", "experiments that test the statements of the lectures", lab.EXAMPLES))
    p = verb("list", "what there is: " + ", ".join(room for room in ROOMS if not room.startswith("lab/")))
    p.add_argument("room", nargs="?", help="one room only")
    p = verb("find", "find anything of the lectures by any of its names")
    p.add_argument("words", nargs="+")
    p = verb("show", "what something is: its equation, source, names and options")
    p.add_argument("name")
    return top, found


def fields() -> str:
    """The fields of the recipe with their types, for the help page."""
    import dataclasses

    from headway.core.recipe import Data, Tokens, Training

    groups = {"training": Training, "tokens": Tokens, "data": Data}
    return "\n".join(f"  --{name}.*  " + " ".join(f.name for f in dataclasses.fields(cls)) for name, cls in groups.items())


def split_paths(words: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Options that are paths into the recipe (`--model.depth 4`, `--training.rate=1e-3`) apart from the others."""
    rest: list[str] = []
    paths: dict[str, str] = {}
    queue = list(words)
    while queue:
        word = queue.pop(0)
        name, equals, value = word.partition("=")
        if name.startswith("--") and "." in name and " " not in name:
            if not equals and (not queue or queue[0].startswith("--")):
                raise UsageError(f"`{name}` needs a value", f"write `{name} VALUE`.")
            paths[name[2:]] = value if equals else queue.pop(0)
        else:
            rest.append(word)
    return rest, paths


def understand(words: Sequence[str]) -> argparse.Namespace:
    """The command line as a value; every mistake in it raises."""
    top, verbs = parser()
    if not words:
        top.print_help()
        raise SystemExit(0)
    if not words[0].startswith("-") and words[0] not in verbs:
        raise UnknownName("verb", words[0], verbs, "headway --help")
    rest, paths = split_paths(words) if words[0] in ("train", "compare") else (list(words), {})
    arguments, left = top.parse_known_args(rest)
    several = {"translate": "text", "data": "files", "lab": "names"}.get(arguments.verb)
    if several and left and not any(word.startswith("-") for word in left):  # argparse gives up on `RUN --beam 5 "text"`
        setattr(arguments, several, [*getattr(arguments, several), *left])
        left = []
    if left:
        verb = verbs[arguments.verb]
        if left[0].startswith("-"):
            raise UnknownName("option", left[0].partition("=")[0], verb.known, f"{verb.prog} --help")
        raise UsageError(f"`{left[0]}` is one argument too many", f"`{verb.prog} --help` explains it; put sentences in quotes.")
    arguments.paths = paths
    return arguments


def main(words: Sequence[str] | None = None) -> int:
    words = sys.argv[1:] if words is None else words
    try:
        arguments = understand(words)
        room = importlib.import_module(f"headway.verbs.{WHERE[arguments.verb]}")
        code = int(getattr(room, f"do_{arguments.verb}")(arguments) or 0)
        sys.stdout.flush()
        return code
    except HeadwayError as problem:
        if "--debug" in words:
            raise
        print(f"headway: error: {problem}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("headway: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader of our output went away (`headway list | head`): nothing to tell
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as problem:
        if "--debug" in words:
            raise
        print(f"headway: error: {str(problem).lower()}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
