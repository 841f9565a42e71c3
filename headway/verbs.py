"""What each verb of the command line does. Heavy rooms are imported inside the verb that needs them."""

import argparse
import dataclasses
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headway.core import registry
from headway.core.config import Choice, choose, override
from headway.core.errors import DataError, UnknownName, UsageError
from headway.core.files import expect_run, expect_writable, write_text
from headway.core.recipe import Data, Recipe

if TYPE_CHECKING:
    from headway.data.pairs import Pairs
    from headway.train.run import Run


def do_train(a: argparse.Namespace) -> int:
    if a.resume:
        return _resume(a)
    if not a.recipe:
        raise UsageError("what should be trained?", "`headway train demo --out runs/demo`, or see `headway train --help`.")
    recipe = _recipe(a)
    if not a.out:
        raise UsageError("missing: `--out DIR`, where the run goes", f"for example `--out runs/{a.recipe}`.")
    from headway.train.progress import Progress
    from headway.train.session import start

    return _finish(start(recipe, Path(a.out), Progress(a.quiet)), Path(a.out), a.quiet)


def _recipe(a: argparse.Namespace) -> Recipe:
    """The recipe that the command line describes."""
    given = {field.name: getattr(a, field.name, None) for field in dataclasses.fields(Data)}
    files: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if a.recipe == "language":
        if not a.text or any((a.pairs, a.source, a.target)):
            raise UsageError("which text? `language` needs `--text`: a file, a folder or .jsonl", "see `headway train --help`.")
        recipe = Recipe("language", Data(**{name: _path(value, name) for name, value in files.items()}), model=Choice("gpt"))
    elif a.recipe == "translation":
        if not a.pairs and not (a.source and a.target):
            raise UsageError("which data? `translation` needs `--source` and `--target`, or `--pairs`", "see `headway train --help`.")
        if a.pairs and (a.source or a.target):
            raise UsageError("`--pairs` and `--source`/`--target` were both given", "choose one of them.")
        if bool(a.validation_source) != bool(a.validation_target):
            raise UsageError("`--validation-source` and `--validation-target` come together")
        recipe = Recipe(data=Data(**{name: _path(value, name) for name, value in files.items()}))
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


def _path(value: str, name: str) -> Any:
    """An absolute path, so that the run can be continued from anywhere; a missing file is told before anything heavy is loaded."""
    if name == "languages" or value == "-":
        return value
    if not os.path.exists(value):
        raise DataError(f"there is no file `{value}` (`--{name.replace('_', '-')}`)", f"looked in `{Path(value).resolve().parent}`.")
    return str(Path(value).resolve())


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
        print("judging the run on held-out pairs ...", flush=True)
    text = summarise(folder)
    if not quiet:
        print(text)
    return 0


def do_compare(a: argparse.Namespace) -> None:
    names = [name.strip() for name in a.models.split(",") if name.strip()]
    options = {path[len("model.") :]: text for path, text in a.paths.items() if path.startswith("model.")}
    for name in names:
        choose("language", name, options)
    if len(names) < 2 or len(set(names)) < len(names):
        raise UsageError("a comparison needs two or more different models", "`--models gpt,lstm`.")
    _positive(a, "seeds")
    path = _path(a.text, "text")
    minutes, runs = a.minutes or 5.0, len(names) * a.seeds
    if not a.steps:
        print(f"{runs} runs of {minutes:g} minutes: about {runs * minutes:.0f} minutes", flush=True)
    from headway.inspect.compare import compare

    budget = ["--steps", str(a.steps)] if a.steps else ["--minutes", str(minutes)]
    extra = ["--tokens", a.tokens, *(w for p, t in a.paths.items() if not p.startswith("model.") for w in (f"--{p}", t))]
    print(compare(path, names, a.seeds, budget, options, extra, Path(a.out)))


def do_translate(a: argparse.Namespace) -> None:
    if a.text and a.input:
        raise UsageError("sentences and `--input` were both given", "choose one of them.")
    from headway.data.pairs import read_lines

    _positive(a, "beam", "batch", "n_best")
    if a.output:
        expect_writable(Path(a.output))
    run = _run(a)
    texts = a.text or read_lines(a.input or "-")
    lines = []
    if a.n_best == 1:
        lines = run.translate(texts, a.beam, a.penalty, a.batch)
    else:
        for number, found in enumerate(run.search(texts, max(a.beam, a.n_best), a.penalty, a.batch)):
            lines += [f"{number}\t{h.score(a.penalty):.4f}\t{text}" for text, h in found[: a.n_best]]
    _write(lines, a.output)


def do_generate(a: argparse.Namespace) -> None:
    from itertools import islice

    if not 0 < a.top_p <= 1 or a.temperature < 0:
        raise UsageError("`--top-p` should be above 0 and at most 1, and `--temperature` at least 0")
    _positive(a, "count", "length", *(["top_k"] if a.top_k is not None else []))
    run = _run(a)
    run.expect("language", "generate")
    for number in range(a.count):
        print(a.prompt, end="", flush=True)
        for piece in islice(run.generate(a.prompt, a.temperature, a.top_k, a.top_p, a.seed + number), a.length):
            print(piece, end="", flush=True)
        print("\n" + ("-" * 20 if number + 1 < a.count else ""), flush=True)


def _evaluate_text(a: argparse.Namespace) -> None:
    import tempfile

    from headway.data.text import Text

    path = _path(a.text, "text")
    run = _run(a)
    run.expect("language", "evaluate --text")
    with tempfile.TemporaryDirectory() as folder:
        found = run.task.judge(run.model, Text(path), run.recipe.training.context or 256, Path(folder))
    if a.json:
        print(json.dumps({"run": a.run, "text": a.text, **found.to_json()}, indent=2))
        return
    print(f"{found.tokens:,} tokens, {found.bytes:,} bytes")
    print(f"{found.nats:.4f} nats per token (standard error {found.error:.4f})")
    print(f"{found.bits_per_byte:.4f} bits per byte\nperplexity {found.perplexity:.3f}")


def do_evaluate(a: argparse.Namespace) -> None:
    if a.text:
        return _evaluate_text(a)
    from headway.evaluate.translation import bleu, chrf

    _positive(a, "beam", "batch")
    pairs = _pairs(a)
    run = _run(a)
    hypotheses = run.translate(pairs.sources, a.beam, a.penalty, a.batch)
    scores = [bleu(hypotheses, list(pairs.targets)), chrf(hypotheses, list(pairs.targets))]
    if a.json:
        print(json.dumps({"run": a.run, "pairs": len(pairs), "beam": a.beam, "scores": [dataclasses.asdict(s) for s in scores]}, indent=2))
        return
    print(f"{len(pairs):,} pairs, beam {a.beam}")
    for s in scores:
        print(f"{s.name:5} {s.value:5.1f}   95 % interval {s.low:.1f} to {s.high:.1f}   {s.signature}")


def do_align(a: argparse.Namespace) -> None:
    from headway.data.pairs import read_lines
    from headway.evaluate.alignment import measure, read_pharaoh, write_pharaoh
    from headway.inspect.align import aligned
    from headway.inspect.summary import view_of

    if a.output:
        expect_writable(Path(a.output))
    pairs = _pairs(a)
    run = _run(a)
    gold = read_pharaoh(read_lines(a.gold), f"`{a.gold}`") if a.gold else None
    view = view_of(run)
    links = aligned(run, view, pairs.sources, pairs.targets)
    _write(write_pharaoh(links), a.output)
    print(f"{len(links):,} pairs, read from {view}", file=sys.stderr)
    if gold:
        score = measure(links, *gold)
        print(f"alignment error rate {score.aer:.3f}  precision {score.precision:.3f}  recall {score.recall:.3f}", file=sys.stderr)


def do_inspect(a: argparse.Namespace) -> None:
    suffix = Path(a.out).suffix.lower()
    if suffix not in (".html", ".png"):
        raise UsageError(f"`--out {a.out}` should end in .html or .png")
    expect_writable(Path(a.out))
    if not a.text.strip():
        raise UsageError("the sentence is empty", 'for example `headway inspect runs/demo "The man reads a book."`.')
    from headway.inspect.maps import attention_maps
    from headway.inspect.page import attention_page
    from headway.inspect.picture import picture
    from headway.inspect.text_summary import text_maps

    run = _run(a)
    maps, target = (text_maps(run, a.text), a.text) if run.recipe.task == "language" else attention_maps(run, a.text, a.target)
    maps = [m for m in maps if a.only in (None, m.kind)]
    if suffix == ".png":
        picture(maps, Path(a.out), f"{a.text} → {target}")
    else:
        write_text(Path(a.out), attention_page(maps, a.text, target))
    heads, layers = sum(len(m.weights) for m in maps), len(maps)
    print(f"{target}\n{heads} map{'s' * (heads != 1)} of {layers} attention layer{'s' * (layers != 1)}: {a.out}")


def do_data(a: argparse.Namespace) -> None:
    from headway.data.doctor import examine
    from headway.data.pairs import Pairs, read_pairs, two_languages
    from headway.data.tokens import train_tokenizer

    def read(files: list[str]) -> Pairs:
        if len(files) > 2:
            raise UsageError(f"{len(files)} files were given", "two aligned files, or one file of pairs.")
        languages = two_languages(a.languages)
        return read_pairs(files[0], files[1]) if len(files) == 2 else read_pairs(pairs=files[0], languages=languages)

    pairs = read(a.files)
    tokenizer = train_tokenizer(a.tokens, [*pairs.sources, *pairs.targets], 8000) if len(pairs) else None
    _, report = examine(pairs, heldout=read(a.heldout) if a.heldout else None, tokenizer=tokenizer, limit=Data().longest)
    print(json.dumps(report.to_json(), indent=2, ensure_ascii=False) if a.json else report.text())


def do_lab(a: argparse.Namespace) -> int:
    from headway.lab.commands import do_lab as do

    return do(a)


def do_list(a: argparse.Namespace) -> None:
    rooms = [a.room] if a.room else registry.ROOMS
    for room in rooms:
        found = registry.entries(room).values()
        if found:
            print(f"{room}")
            for entry in found:
                print(f"  {entry.name:18} {entry.summary}")


def do_find(a: argparse.Namespace) -> int:
    words = " ".join(a.words)
    found = registry.find(words)
    for entry in found:
        print(f"{entry.room}/{entry.name:18} {entry.summary}")
    if not found:
        raise UnknownName("name", words, [n for r in registry.ROOMS for e in registry.entries(r).values() for n in (e.name, *e.aliases)])
    return 0


def do_show(a: argparse.Namespace) -> None:
    every = [e for room in registry.ROOMS for e in registry.entries(room).values()]
    entry = next((e for e in every if registry.named(e, a.name)), None)
    if entry is None:
        raise UnknownName("name", a.name, [n for e in every for n in (e.name, *e.aliases)], "headway list")
    print(f"{entry.name} ({entry.room})\n\n{entry.doc}\n")
    if entry.aliases:
        print("also called: " + ", ".join(entry.aliases))
    if entry.options:
        print("options:")
        for o in entry.options:
            print(f"  --model.{o.name:14} {o.type} = {o.default}   {o.meaning}")
    print(f"source: headway/{entry.path.relative_to(registry.ROOT)}")


def _run(a: argparse.Namespace) -> "Run":
    """The run, opened; a directory that is none is told before anything heavy is loaded."""
    expect_run(Path(a.run))
    from headway.train.run import Run

    return Run(a.run)


def _pairs(a: argparse.Namespace) -> "Pairs":
    from headway.data.pairs import read_pairs, two_languages

    if not a.pairs and not (a.source and a.target):
        raise UsageError("which pairs? `--source` and `--target`, or `--pairs`", f"`headway {a.verb} --help` explains it.")
    return read_pairs(a.source, a.target, a.pairs, two_languages(a.languages))


def _positive(a: argparse.Namespace, *names: str) -> None:
    for name in names:
        if getattr(a, name) < 1:
            raise UsageError(f"`--{name.replace('_', '-')} {getattr(a, name)}` should be at least 1")


def _write(lines: Sequence[str], output: str | None) -> None:
    if output:
        write_text(Path(output), "".join(line + "\n" for line in lines))
    else:
        for line in lines:
            print(line)
