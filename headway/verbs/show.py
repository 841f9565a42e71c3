"""`headway show`: what something is: its equation, source, names and options."""

import argparse

from headway.core import registry
from headway.core.entries import Entry
from headway.core.errors import UnknownName

SUMMARY = "what something is: its equation, source, names and options"
EXAMPLES = """\
examples:
  headway show transformer
  headway show rotary
  headway show my_package.mixers:MyMixer"""


def add_arguments(p: argparse.ArgumentParser, words: list[str]) -> None:
    p.add_argument("name", help="any name: `headway find` helps")


def run(a: argparse.Namespace) -> None:
    entry = _find(a.name)
    print(f"{entry.name} ({entry.room})\n\n{entry.doc}\n")
    if entry.aliases:
        print("also called: " + ", ".join(entry.aliases))
    if entry.options:
        trained = entry.room == "models" or "sees" in entry.facts
        typed = (
            "--model."
            if trained
            else "--set "
            if entry.room.startswith("lab/")
            else "--"
            if entry.room == "tasks"
            else ""
        )
        print("options:" if typed else "arguments:")
        for o in entry.options:
            name = o.name.replace("_", "-") if typed == "--" else o.name
            print(f"  {typed}{name:14} {o.type} = {o.default}   {o.meaning}".rstrip())
    if "presets" in entry.facts["functions"]:
        _show_presets(entry)
    inside = entry.path.is_relative_to(registry.ROOT)
    print(f"source: {'headway/' + str(entry.path.relative_to(registry.ROOT)) if inside else entry.path}")


def _find(name: str) -> Entry:
    if registry.is_reference(name):
        return registry.get("models", name)
    every = [e for room in registry.ROOMS for e in registry.entries(room).values()]
    entry = next((e for e in every if registry.named(e, name)), None)
    if entry is None:
        raise UnknownName("name", name, [n for e in every for n in (e.name, *e.aliases)], "headway list")
    return entry


def _show_presets(entry: Entry) -> None:
    import torch

    print("presets (published sizes, counted without being made):")
    for name, config in entry.module.presets().items():
        sizes = "  ".join(f"{f} {getattr(config, f):,}" for f in ("depth", "width", "heads"))
        with torch.device("meta"):  # with the vocabulary of GPT-2, on a device that holds no numbers
            count = sum(p.numel() for p in entry.load()(config, 50257).parameters())
        print(f"  {name:14} {sizes}  parameters {count:,}")
