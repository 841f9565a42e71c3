"""`headway data check`: what is wrong with data, before anything is trained on it. `headway data get`: public data by name.

`headway data prepare`: text of any size, tokenized once into files that `headway train language` maps into memory.
"""

import argparse
import inspect
import json
import os
import shlex
from pathlib import Path

from headway.core import registry
from headway.core.errors import UsageError
from headway.tasks.asking import absolute, ask, find_task
from headway.verbs.options import add_options

SUMMARY = "look at data before training, get public data by name, or tokenize large text once"
EXAMPLES = """\
examples:
  headway data check train.en train.de            encoding, drift, duplicates: what, where, and what will be done about it
  headway data check memory.tmx
  headway data check input.txt                    a text for a language model
  headway data check --task translation --pairs data.tsv --languages 1,2
  headway data get                                which public data there are
  headway data get fashion-mnist --out data/      through a package manager that this machine has; nothing is installed
  headway data prepare --text corpus/ --out shards/       tokenize text of any size once, on all cores
  headway data prepare --text corpus/ --out shards/ --tokens unigram --vocabulary 8000 --workers 4
  headway train language --text shards/ --out runs/text   train from it; the files are mapped, not read

`prepare` that was stopped goes on when the same command is given again; shards that are damaged are made again.
The exit code of `check` is 1 if errors in the data would spoil a model, so `headway data check ... && headway train ...` stops there."""
MANY = "files"


def add_arguments(p: argparse.ArgumentParser, words: list[str]) -> None:
    about = (
        "check: what is wrong with these files, line by line; get: bring public data by name; prepare: tokenize text"
    )
    p.add_argument("action", nargs="?", choices=["check", "get", "prepare"], help=about)
    p.add_argument(
        "files",
        nargs="*",
        default=[],
        help="files as they would be given to `headway train`, or the name of public data",
    )
    p.add_argument("--language", metavar="XX", help="get: the other language of parallel text, such as fr (default de)")
    where = "get: the folder that the data goes to (default data); prepare: the folder of the shards"
    p.add_argument("--out", metavar="DIR", help=where)
    p.add_argument(
        "--task",
        metavar="TASK",
        help=f"{', '.join(registry.entries('tasks'))} (default: found from the files); brings its options",
    )
    p.add_argument("--json", action="store_true", help="check: print JSON")
    if words[:1] == ["prepare"]:
        add_prepare_arguments(p.add_argument_group("prepare"))
    elif "--task" in words[:-1]:
        entry = find_task(words[words.index("--task") + 1])
        add_options(p.add_argument_group(entry.name), entry.options, entry.facts.get("files") or ())


def run(a: argparse.Namespace) -> int:
    if a.action is None:
        hint = (
            "`headway data check FILE` looks at data; `headway data get` lists public data; `prepare` tokenizes text."
        )
        raise UsageError("which action? `check`, `get` or `prepare`", hint)
    if a.action == "prepare":
        return prepare(a)
    return get_named(a.files, Path(a.out or "data"), a.language) if a.action == "get" else check(a)


def add_prepare_arguments(p: argparse._ActionsContainer) -> None:
    from headway.data.tokens import KINDS

    p.add_argument("--text", metavar="PATH", help="a text file, a folder of them or .jsonl, of any size")
    p.add_argument("--validation-text", metavar="PATH", help="held-out text (default: a part of the text)")
    p.add_argument("--test-text", metavar="PATH", help="held-out text to judge by (default: a part of the text)")
    p.add_argument("--tokens", choices=KINDS, metavar="KIND", help=f"{', '.join(KINDS)} (default bpe)")
    p.add_argument(
        "--vocabulary", type=int, metavar="N", help="how many different tokens (default: by the size of the text)"
    )
    p.add_argument("--from", dest="start", metavar="RUN", help="use the vocabulary of this run")
    p.add_argument("--workers", type=int, metavar="N", help="processes that tokenize (default: one per core)")


def prepare(a: argparse.Namespace) -> int:
    """Tokenize a text into shards, and report the progress with the time that is left."""
    if a.files or not a.text or not a.out:
        raise UsageError(
            "which text, and where to? `--text` and `--out`", "`headway data prepare --text corpus/ --out shards/`"
        )
    from headway.core.machine import cores
    from headway.tasks.preparation import Preparation
    from headway.training.progress import Countdown

    text, validation, test = (path and absolute(path) for path in (a.text, a.validation_text, a.test_text))
    workers = cores() if a.workers is None else a.workers
    asked = Preparation(text, validation, test, a.tokens, a.vocabulary, a.start, workers)
    countdown, out = Countdown("characters"), Path(a.out)
    try:
        index = asked.run(out, countdown.report)
    except KeyboardInterrupt:
        print(f"\nstopped; finished shards are kept in `{out}`, the same command continues")
        return 130
    files = sum(len(part.shards) for part in index.parts.values())
    parts = ", ".join(f"{part.tokens:,} for {name}" for name, part in index.parts.items())
    print(f"in `{out}`: {files:,} shards; tokens: {parts}; {index.kind} vocabulary of {index.size:,}")
    print(f"next: headway train language --text {shlex.quote(a.out)} --out runs/text")
    return 0


def get_named(names: list[str], out: Path, language: str | None) -> int:
    """Bring the data of each name into a folder of that name; without a name, list what there is."""
    from headway.data.named.sources import get

    known = registry.entries("datasets")
    asked = [registry.among(known, name, "dataset", "datasets", "headway data get") for name in names]
    plain = [entry.name for entry in asked if "language" not in inspect.signature(entry.load()).parameters]
    if language and plain:
        raise UsageError(f"`{plain[0]}` has no other language", "leave out `--language`.")
    found = [entry.load()(language) if language else entry.load()() for entry in asked]
    for dataset in found or [entry.load()() for entry in known.values()]:
        print(dataset.describe())
        if not found:
            continue
        folder = out / dataset.name
        get(dataset, folder, cache_folder(), print)
        files = ", ".join(f"{name} ({(folder / name).stat().st_size / 1e6:.1f} MB)" for name in dataset.files)
        print(f"in `{folder}`: {files}\nnext: headway {dataset.next_step.format(folder=folder)}")
    return 0


def cache_folder() -> Path:
    """Where archives stay: the cache of this person."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "headway"


def check(a: argparse.Namespace) -> int:
    from headway.tasks.names import task_class

    if a.task:
        entry = find_task(a.task)
        given = {o.name: v for o in entry.options if (v := getattr(a, o.name, None)) is not None}
        name, data = entry.name, ask(a.task, given).recipe().data
    else:
        if not a.files:
            raise UsageError("which data?", "`headway data check train.en train.de`, or see `headway data --help`.")
        name, data = _recognise([absolute(path) for path in a.files])
    corpus = task_class(name).collect(data, 1)
    errors = [finding for report in corpus.reports for finding in report.errors]
    if a.json:
        print(json.dumps([report.to_json() for report in corpus.reports], indent=2, ensure_ascii=False))
    else:
        print(f"as data for {name}:")
        print(corpus.describe())
        if errors:
            print("these errors would spoil a model: mend them, or train with `--anyway`")
    return 1 if errors else 0


def _recognise(paths: list[str]) -> tuple[str, object]:
    """The first task that these files are data for beyond doubt, and its data; else an error says which tasks could read them."""
    from headway.data.cells import kinds_of
    from headway.data.messages import count_noun
    from headway.data.table import glance
    from headway.tasks.names import task_class

    for name in registry.entries("tasks"):
        data = task_class(name).recognise(paths)
        if data is not None:
            return name, data
    files = f"`{paths[0]}`" if len(paths) == 1 else f"`{paths[0]}` and {count_noun(len(paths) - 1, 'other file')}"
    columns = kinds_of(glance(paths[0])) if len(paths) == 1 else {}
    holds = "; its columns: " + ", ".join(f"`{name}` ({kind})" for name, kind in columns.items()) if columns else ""
    possible = {name: task_class(name).options_for(paths) for name in registry.entries("tasks")}
    commands = [f"  headway data check --task {name} {shlex.join(words)}" for name, words in possible.items() if words]
    hint = "\n".join(["name the task, and the columns that it should read, such as", *commands])
    raise UsageError(
        f"cannot tell which task {files} should be data for{holds}",
        hint if commands else f"name it with `--task`: {', '.join(possible)}.",
    )
