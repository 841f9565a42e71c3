"""A model from its name, its options and the sizes that a task knows."""

import inspect
from collections.abc import Mapping

import torch
from torch import nn

from headway.core import registry
from headway.core.config import Choice, Value, from_json
from headway.core.errors import ConfigError
from headway.models.choice import choose_model, find_model


def build_model(choice: Choice, sizes: Mapping[str, int]) -> nn.Module:
    """The untrained model; its constructor names the sizes it needs (`vocabulary`, `outputs` ...)."""
    entry = registry.get("models", choice.name)
    make = entry.load()
    wanted = list(inspect.signature(make).parameters.values())[1:]
    missing = [p.name for p in wanted if p.name not in sizes and p.default is inspect.Parameter.empty]
    if missing:
        hint = f"this task knows {', '.join(f'`{name}`' for name in sizes)}; choose another `--model`."
        raise ConfigError(f"`{choice.name}` needs to know {', '.join(f'`{name}`' for name in missing)}", hint)
    hint = f"`headway show {choice.name}` lists its options."
    config = from_json(entry.module.Config, choice.options, f"options of {choice.name}", hint)
    return make(config, **{p.name: sizes[p.name] for p in wanted if p.name in sizes})


def count_parameters(choice: Choice, sizes: Mapping[str, int]) -> int:
    """Parameters of the model, counted on a device that holds no numbers."""
    with torch.device("meta"):
        return sum(p.numel() for p in build_model(choice, sizes).parameters())


def build_named(name: str, options: Mapping[str, Value | type], sizes: Mapping[str, int]) -> nn.Module:
    """A model by any of its names, from sizes and options in one: what the constructor names is a size, the rest are options."""
    entry, mixer = find_model(name)
    wanted = list(inspect.signature(entry.load()).parameters)[1:]
    known = {option.name for option in entry.options}
    found = {
        key: value for key, value in options.items() if key in wanted and key not in known and isinstance(value, int)
    }
    rest = {key: value for key, value in options.items() if key not in found} | ({"mixer": mixer.name} if mixer else {})
    choice = choose_model(entry.facts["reads"][0], entry.facts["gives"][0], entry.name, rest)
    return build_model(choice, found | dict(sizes))
