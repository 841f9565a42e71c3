"""`headway tune`: search over options of a model, of training and of a task, and keep the best run."""

import argparse
from pathlib import Path

from headway.core.config import Value
from headway.core.entries import Entry
from headway.core.errors import UsageError
from headway.core.signals import exit_code
from headway.models.choice import check_options
from headway.tasks.asking import Asked, ask, find_task, task_of
from headway.training.search_space import Choices, Space, known_options, parse_space
from headway.verbs.options import require_positive
from headway.verbs.task_options import add_task_options, asked_tasks, given_options

SUMMARY = "search for the best options of a model and its training"
EXAMPLES = """\
examples:
  headway tune images --npz digits.npz --search "model.width=16..256:log training.rate=1e-4..1e-1:log" --steps 300 --out runs/tuned
  headway tune classification --table train.tsv --search "model.depth=1..4 smoothing=0..0.2" --folds 5 --minutes 1 --out runs/tuned
  headway tune language --text input.txt --search "model.mixer=multihead|lstm|mamba" --trials 6 --minutes 2 --out runs/tuned

The budget is that of each run. The same command continues a search that was interrupted, and with more `--trials` it goes on.
Each task explains its own options: headway tune images --help"""


def add_arguments(p: argparse.ArgumentParser, words: list[str]) -> None:
    raw = p.formatter_class
    subparsers = p.add_subparsers(dest="task", metavar="TASK", parser_class=type(p), title="what to train")
    for name, entry in asked_tasks(words).items():
        usage = f"headway tune {name} --search TEXT [options] --out DIR"
        inner = subparsers.add_parser(
            name, usage=usage, help=entry.summary, description=entry.doc, formatter_class=raw, allow_abbrev=False
        )
        _add_task(inner, entry)


def _add_task(p: argparse.ArgumentParser, entry: Entry) -> None:
    about = "options to try: `training.rate=1e-4..1e-2:log model.depth=2..6 model.mixer=multihead|lstm`"
    p.add_argument("--search", metavar="TEXT", help=about)
    p.add_argument("--trials", type=int, default=20, metavar="N", help="how many values are tried (default 20)")
    about = "cross-validation: each trial is N runs, each with another part of the data held out (default: one run)"
    p.add_argument("--folds", type=int, metavar="N", help=about)
    p.add_argument("--out", metavar="DIR", help="where the trials go, and the best run")
    p.add_argument("--model", metavar="NAME", help=f"which model (default {task_of(entry).facts['model']})")
    p.add_argument("--seed", type=int, default=1, metavar="S", help="the same seed gives the same search (default 1)")
    add_task_options(p, entry)


def run(a: argparse.Namespace) -> int:
    if not a.task:
        raise UsageError("what should be tuned?", "a task; `headway tune --help` explains it.")
    require_positive(a, "trials")
    if a.folds is not None and a.folds < 2:
        raise UsageError(f"`--folds {a.folds}` should be at least 2", "leave it out for one run for each trial.")
    if not a.search:
        hint = 'for example `--search "training.rate=1e-4..1e-2:log model.width=32..256:log"`.'
        raise UsageError("missing: `--search TEXT`, the options to try", hint)
    space = _space(a)
    for name, values in space.items():  # both ends of each range, and each choice, alone
        ends = values.values if isinstance(values, Choices) else (values.low, values.high)
        for value in ends:
            one = asked(a, {name: value}).recipe()
            if one.model:
                check_options(one.model)
    if not a.out:
        raise UsageError("missing: `--out DIR`, where the trials go", "for example `--out runs/tuned`.")
    if "-" in asked(a, {}).data.values():
        raise UsageError("standard input can be read only once, but every trial reads the data", "bring a file.")
    from headway.compare.trials import trials_page, trials_text
    from headway.core.files import write_text
    from headway.training.progress import Progress
    from headway.training.search import Search, read_trials
    from headway.verbs.train import finish

    out = Path(a.out)
    search = Search(lambda values: asked(a, values).recipe(), space, a.trials, a.folds or 0, a.seed, a.anyway)
    if not search.run(out, Progress(a.quiet)):
        if not a.quiet:
            print("\nstopped. The same command continues the search.")
        return exit_code()
    done = read_trials(out)[: a.trials]
    write_text(out / "search.html", trials_page(out.name, done))
    finish(True, out, a.quiet)
    if not a.quiet:
        print(f"\n{trials_text(done)}\n\ntrials over every option: {out / 'search.html'}")
    return 0


def _space(a: argparse.Namespace) -> Space:
    """The search of the command line; the mixers that it names bring options of their own."""
    mixers = [mixer for word in a.search.split() if word.startswith("model.mixer=") for mixer in word[12:].split("|")]
    return parse_space(a.search, known_options(task_of(find_task(a.task)), a.model, [m for m in mixers if m]))


def asked(a: argparse.Namespace, values: dict[str, Value]) -> Asked:
    """What the command line asks for, with these values in the place of its own."""
    data, training = given_options(a, find_task(a.task))
    options: dict[str, Value] = {name.removeprefix("model."): value for name, value in a.paths.items()}
    for name, value in values.items():
        where, _, option = name.rpartition(".")
        {"model": options, "training": training, "": data}[where][option] = value
    return ask(a.task, data, a.model, options, training, a.seed, device=a.device, precision=a.precision)
