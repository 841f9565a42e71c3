"""`headway compare`: models on one task at equal size and budget; mixers on riddles that tell them apart."""

import argparse
from pathlib import Path

from headway.core import registry
from headway.core.entries import Entry
from headway.core.errors import UnknownName, UsageError
from headway.models.choice import choose_model, find_model, resolve
from headway.tasks.asking import Asked, ask, find_task, task_of
from headway.verbs.options import require_positive
from headway.verbs.task_options import add_task_options, asked_tasks, given_options

SUMMARY = "models at equal size and budget on one task; or mixers on riddles"
EXAMPLES = """\
examples:
  headway compare language --text input.txt --models gpt,lstm,mamba --minutes 5 --seeds 3 --out runs/compare
  headway compare translation --pairs data.tsv --models transformer,rnn_seq2seq --minutes 10 --out runs/translators
  headway compare mixers --mixers elman,lstm,mamba,multihead --riddles copy,parity --out runs/riddles

All models get as many parameters as the first one, within 5 %: their feed-forward network or their width is adapted.
The same command continues a comparison that was interrupted.
Each task explains its own options: headway compare translation --help"""
MIXERS = "mixers"


def add_arguments(p: argparse.ArgumentParser, words: list[str]) -> None:
    raw = p.formatter_class
    subparsers = p.add_subparsers(dest="task", metavar="TASK", parser_class=type(p), title="what to compare")
    for name, entry in asked_tasks([] if MIXERS in words else words).items():
        usage = f"headway compare {name} --models A,B [options] --out DIR"
        inner = subparsers.add_parser(
            name, usage=usage, help=entry.summary, description=entry.doc, formatter_class=raw, allow_abbrev=False
        )
        _add_task(inner, entry)
    about = "small models that differ in nothing but the mixer: which of them solves which riddle, up to which length"
    _add_mixers(subparsers.add_parser(MIXERS, help=about, description=about, formatter_class=raw))


def _add_task(p: argparse.ArgumentParser, entry: Entry) -> None:
    task = task_of(entry)
    models = ", ".join(registry.models_for(task.facts["reads"], task.facts["gives"]))
    about = f"two or more with commas between; the first sets the size: {models}, or names of mixers"
    p.add_argument("--models", metavar="NAMES", help=about)
    p.add_argument("--seeds", type=int, default=2, metavar="N", help="runs of each model (default 2)")
    p.add_argument("--out", metavar="DIR", help="where the runs and the comparison go")
    add_task_options(p, entry)
    about = "`--model.width 128` and the like: for every model that has the option (`headway show NAME` lists them)"
    p.add_argument_group("model options", about)


def _add_mixers(p: argparse.ArgumentParser) -> None:
    p.add_argument("--mixers", metavar="NAMES", help="with commas between (default: eleven of all families)")
    p.add_argument("--riddles", metavar="NAMES", help="with commas between (default: all nine)")
    lengths = "8,16,32,64,128"
    about = f"a longer one is tried once the shorter is solved (default {lengths})"
    p.add_argument("--lengths", default=lengths, metavar="N,N", help=about)
    about = "of each training, which stops when the riddle is solved (default 1000)"
    p.add_argument("--steps", type=int, default=1000, metavar="N", help=about)
    p.add_argument("--seeds", type=int, default=2, metavar="N", help="trainings of each mixer (default 2)")
    p.add_argument("--out", metavar="DIR", help="where the table goes")
    p.add_argument("--debug", action="store_true", help="show the traceback of an error")


def run(a: argparse.Namespace) -> None:
    if not a.task:
        raise UsageError("what should be compared?", "a task or `mixers`; `headway compare --help` explains it.")
    require_positive(a, "seeds")
    if a.task == MIXERS:
        return _mixers(a)
    entry = find_task(a.task)
    names = _names(a.models)
    if len(names) < 2:
        raise UsageError("a comparison needs two or more models", "`--models gpt,lstm`, with commas between.")
    asked = _asked(a, entry, names)
    if not a.out:
        raise UsageError("missing: `--out DIR`, where the runs go", "for example `--out runs/compare`.")
    from headway.compare.models import compare

    print(compare({name: one.recipe() for name, one in asked.items()}, a.seeds, Path(a.out), a.quiet, a.anyway))
    return None


def _names(words: str | None) -> list[str]:
    return list(dict.fromkeys(word.strip() for word in (words or "").split(",") if word.strip()))


def _asked(a: argparse.Namespace, entry: Entry, names: list[str]) -> dict[str, Asked]:
    """What is asked of each model, by its registered name. A model option goes to every model that has it; one must."""
    task = task_of(entry)
    data, training = given_options(a, entry)
    options = {name.removeprefix("model."): value for name, value in a.paths.items()}
    found: dict[str, Asked] = {}
    every: set[str] = set()
    for word in names:
        model, mixer = resolve(task.facts["reads"], task.facts["gives"], word)
        known = {o.name for e in (model, mixer) if e for o in e.options}
        every |= known
        name = mixer.name if mixer else model.name
        if name in found:
            raise UsageError(f"`{word}` is `{name}`, which is named twice", "name each model once.")
        found[name] = ask(
            a.task,
            data,
            word,
            {n: v for n, v in options.items() if n in known},
            training,
            device=a.device,
            precision=a.precision,
        )
    for option in options.keys() - every:
        raise UnknownName("option of these models:", f"--model.{option}", [f"--model.{n}" for n in every - {"options"}])
    return found


def _mixers(a: argparse.Namespace) -> None:
    require_positive(a, "steps")
    mixers = [registry.mixer(name).name for name in _names(a.mixers)]
    options = {name.removeprefix("model."): value for name, value in a.paths.items()}
    for name in mixers or ["multihead"]:
        model, _ = find_model(name)
        choose_model(model.facts["reads"][0], model.facts["gives"][0], name, options)
    from headway.data.riddles import RIDDLES

    riddles = _names(a.riddles)
    for name in riddles:
        if name not in RIDDLES:
            raise UnknownName("riddle", name, RIDDLES)
    try:
        lengths = [int(word) for word in _names(a.lengths)]
    except ValueError as problem:
        message = f"`--lengths {a.lengths}` should be whole numbers with commas between"
        raise UsageError(message, "for example `8,16,32`.") from problem
    if not lengths or min(lengths) < 1:
        raise UsageError(f"`--lengths {a.lengths}` should be at least 1", "for example `8,16,32`.")
    if not a.out:
        raise UsageError("missing: `--out DIR`, where the table goes", "for example `--out runs/riddles`.")
    from headway.compare.mixers import MIXERS as USUAL
    from headway.compare.mixers import compare_mixers

    print(compare_mixers(mixers or USUAL, riddles or RIDDLES, lengths, a.seeds, a.steps, options, Path(a.out)))
