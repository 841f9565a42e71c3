"""The verbs that make runs: train and compare. Heavy rooms are imported inside the verb that needs them."""

import argparse
import dataclasses
from pathlib import Path
from typing import Any

from headway.core import registry
from headway.core.config import Choice, choose, override
from headway.core.errors import UnknownName, UsageError
from headway.core.files import expect_run
from headway.core.recipe import Data, Recipe
from headway.verbs.asked import path_of, positive


def do_train(a: argparse.Namespace) -> int:
    if a.resume:
        return _resume(a)
    if not a.recipe:
        raise UsageError("what should be trained?", "`headway train demo --out runs/demo`, or see `headway train --help`.")
    recipe = _recipe(a)
    if not a.out:
        raise UsageError("missing: `--out DIR`, where the run goes", f"for example `--out runs/{a.recipe}`.")
    return train(recipe, Path(a.out), a.quiet)


def train(recipe: Recipe, out: Path, quiet: bool) -> int:
    """Train and judge: what the command does and what `headway.train` does. Returns the exit code."""
    from headway.train.progress import Progress
    from headway.train.session import start

    return _finish(start(recipe, out, Progress(quiet)), out, quiet)


def _recipe(a: argparse.Namespace) -> Recipe:
    """The recipe that the command line describes."""
    given = {field.name: getattr(a, field.name, None) for field in dataclasses.fields(Data)}
    files: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if a.recipe == "language":
        if not a.text or any((a.pairs, a.source, a.target)):
            raise UsageError("which text? `language` needs `--text`: a file, a folder or .jsonl", "see `headway train --help`.")
        recipe = Recipe("language", Data(**{name: path_of(value, name) for name, value in files.items()}), model=Choice("gpt"))
    elif a.recipe == "translation":
        if not a.pairs and not (a.source and a.target):
            raise UsageError("which data? `translation` needs `--source` and `--target`, or `--pairs`", "see `headway train --help`.")
        if a.pairs and (a.source or a.target):
            raise UsageError("`--pairs` and `--source`/`--target` were both given", "choose one of them.")
        if bool(a.validation_source) != bool(a.validation_target):
            raise UsageError("`--validation-source` and `--validation-target` come together")
        recipe = Recipe(data=Data(**{name: path_of(value, name) for name, value in files.items()}))
    elif a.recipe in registry.entries("recipes"):
        if files:
            raise UsageError(
                f"the recipe `{a.recipe}` brings its own data",
                f"`headway train translation --{next(iter(files))} ...` takes yours.",
            )
        recipe = registry.get("recipes", a.recipe).load()()
    else:
        raise UnknownName("recipe", a.recipe, ["translation", "language", *registry.entries("recipes")], "headway train --help")
    for name in (f.name for f in dataclasses.fields(Data) if hasattr(a, f.name)):
        if f"data.{name}" in a.paths:
            raise UsageError(f"`--data.{name}` has an option of its own", f"write `--{name.replace('_', '-')}`.")
    options = {path[len("model.") :]: text for path, text in a.paths.items() if path.startswith("model.")}
    if a.model or options:
        chosen = choose(recipe.task, a.model or recipe.model.name, options)
        kept = recipe.model.options if chosen.name == recipe.model.name else {}
        recipe = dataclasses.replace(recipe, model=dataclasses.replace(chosen, options=kept | chosen.options))
    for path, text in a.paths.items():
        if not path.startswith("model."):
            recipe = override(recipe, path, text)
    if a.tokens:
        recipe = override(recipe, "tokens.kind", a.tokens)
    if a.seed is not None:
        recipe = dataclasses.replace(recipe, seed=a.seed)
    budget = {name: getattr(a, name) for name in ("minutes", "steps", "epochs") if getattr(a, name) is not None}
    for name, value in budget.items():
        if not value > 0:
            raise UsageError(f"`--{name} {value:g}` is no budget", "it must be greater than zero.")
        none = dict.fromkeys(("minutes", "steps", "epochs"))
        recipe = dataclasses.replace(recipe, training=dataclasses.replace(recipe.training, **{**none, name: value}))
    return recipe


def _resume(a: argparse.Namespace) -> int:
    folder = Path(a.resume)
    plain = {"verb", "resume", "recipe", "quiet", "debug", "paths"}
    asked = [f"--{name.replace('_', '-')}" for name, value in vars(a).items() if name not in plain and value is not None]
    asked += [f"--{path}" for path in a.paths] + ([a.recipe] if a.recipe else [])
    if asked:
        raise UsageError(
            f"`--resume` continues a run as it is; `{asked[0]}` would change it",
            f"`headway train --resume {folder}` and nothing else.",
        )
    expect_run(folder)
    from headway.train.progress import Progress
    from headway.train.session import resume

    return _finish(resume(folder, Progress(a.quiet)), folder, a.quiet)


def _finish(whole: bool, folder: Path, quiet: bool) -> int:
    """The closing words, the scores and the report."""
    if not whole:
        say = (lambda text: None) if quiet else print
        say(f"\nstopped. The run is usable as it is; `headway train --resume {folder}` continues it.")
        return 130
    from headway.inspect.summary import summarise

    if not quiet:
        print("judging the run on held-out data ...", flush=True)
    text = summarise(folder)
    if not quiet:
        print(text)
    return 0


def do_compare(a: argparse.Namespace) -> None:
    if a.what == "tasks":
        return _compare_tasks(a)
    if not a.text or not a.models:
        raise UsageError("`compare language` needs `--text` and `--models`", "see `headway compare --help`.")
    names = _names(a.models)
    options = {path[len("model.") :]: text for path, text in a.paths.items() if path.startswith("model.")}
    for name in names:
        choose("language", name, options)
    if len(names) < 2 or len(set(names)) < len(names):
        raise UsageError("a comparison needs two or more different models", "`--models gpt,lstm`.")
    positive(a, "seeds")
    path = path_of(a.text, "text")
    minutes, runs = a.minutes or 5.0, len(names) * a.seeds
    if not a.steps:
        print(f"{runs} runs of {minutes:g} minutes: about {runs * minutes:.0f} minutes", flush=True)
    from headway.inspect.compare import compare

    budget = ["--steps", str(a.steps)] if a.steps else ["--minutes", str(minutes)]
    extra = ["--tokens", a.tokens, *(w for p, t in a.paths.items() if not p.startswith("model.") for w in (f"--{p}", t))]
    print(compare(path, names, a.seeds, budget, options, extra, Path(a.out)))


def _compare_tasks(a: argparse.Namespace) -> None:
    if a.text or a.models or a.minutes:
        raise UsageError("`compare tasks` takes `--mixers`, `--riddles`, `--lengths` and `--steps`", "see `headway compare --help`.")
    positive(a, "seeds", *(["steps"] if a.steps is not None else []))
    mixers = [registry.mixer(name).name for name in _names(a.mixers)]
    options = {path.removeprefix("model."): text for path, text in a.paths.items()}
    for name in mixers or ["multihead"]:
        choose("language", name, options)
    from headway.data.riddles import RIDDLES

    riddles = _names(a.riddles)
    for name in riddles:
        if name not in RIDDLES:
            raise UnknownName("riddle", name, RIDDLES)
    if any(not text.isdecimal() or int(text) < 1 for text in _names(a.lengths)):
        raise UsageError(f"`--lengths {a.lengths}` should be whole numbers of at least 1", "for example `--lengths 8,16,32`.")
    from headway.inspect.separate import LENGTHS, MIXERS, separate

    lengths = [int(text) for text in _names(a.lengths)] or LENGTHS
    print(separate(mixers or MIXERS, riddles or RIDDLES, lengths, a.seeds, a.steps or 1000, options, Path(a.out)))


def _names(text: str | None) -> list[str]:
    return [name.strip() for name in (text or "").split(",") if name.strip()]
