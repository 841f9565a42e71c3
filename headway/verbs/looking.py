"""The verbs that look: inside a run, at data, at what there is, at the theory. Heavy rooms are imported inside the verb that needs them."""

import argparse
import json
from pathlib import Path
from typing import Any

from headway.core import registry
from headway.core.errors import UnknownName, UsageError
from headway.core.files import expect_writable, write_text
from headway.core.recipe import Data
from headway.verbs.asked import run_of


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

    run = run_of(a)
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
        print(f"{entry.room + '/' + entry.name:30} {entry.summary}")
    if not found:
        known = [n for r in registry.ROOMS for e in registry.entries(r).values() for n in (e.name, *e.aliases)]
        raise UnknownName("name", words, known, "headway list")
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
        trained = entry.room == "models" or entry in registry.mixers().values()
        typed = "--model." if trained else "--set " if entry.room.startswith("lab/") else ""
        print("options:" if typed else "arguments:")
        for o in entry.options:
            print(f"  {typed}{o.name:14} {o.type} = {o.default}   {o.meaning}".rstrip())
    if "presets" in entry.facts["functions"]:
        print("presets (published sizes, counted without being made):")
        for name, config in entry.module.presets().items():
            sizes = "  ".join(f"{f} {getattr(config, f):,}" for f in ("depth", "width", "heads"))
            print(f"  {name:14} {sizes}  parameters {_counted(entry, config):,}")
    print(f"source: headway/{entry.path.relative_to(registry.ROOT)}")


def _counted(entry: registry.Entry, config: Any, vocabulary: int = 50257) -> int:
    """Parameters with the vocabulary of GPT-2, on a device that holds no numbers."""
    import torch

    with torch.device("meta"):
        return sum(p.numel() for p in entry.load()(config, vocabulary).parameters())


def do_lab(a: argparse.Namespace) -> int:
    from headway.lab.commands import do_lab as do

    return do(a)
