"""Which model a name means, and what its options may be. Answers without loading torch."""

from collections.abc import Mapping

from headway.core import registry
from headway.core.config import Choice, Value, from_json, option_type, parse
from headway.core.entries import Entry
from headway.core.errors import UnknownName


def choose_model(reads: str, gives: str, name: str, options: Mapping[str, Value | type]) -> Choice:
    """A model that reads and gives this, with options as typed on a command line or given in Python; every misspelling raises.

    A mixer's name is a model, too: `mamba` is the first model that takes a mixer, with that one. What is neither an option of the model
    nor of its mixer is unknown.
    """
    entry, mixer = resolve(reads, gives, name)
    own = {option.name: option for option in entry.options}
    chosen = options.get("mixer")
    if "mixer" in own and chosen is not None:
        mixer = registry.mixer(registry.reference(chosen) if isinstance(chosen, type) else str(chosen))
    inner = {option.name: option for option in mixer.options if option.name not in own} if mixer else {}
    values: dict[str, Value] = {"mixer": mixer.name} if mixer else {}
    numbers: dict[str, int | float] = {}
    for key, value in options.items():
        if key == "mixer" and mixer:
            continue
        if key not in own and key not in inner:
            every = [f"--model.{f}" for f in (*own, *inner) if f != "options"]
            raise UnknownName(f"option of `{name}`:", f"--model.{key}", every, f"headway show {name}")
        kind = option_type((own | inner)[key].type)
        given = registry.reference(value) if isinstance(value, type) else value
        found = parse(kind, given, f"model.{key}") if isinstance(given, str) else given
        if key in own:
            values[key] = found
        elif isinstance(found, int | float):
            numbers[key] = found
    return Choice(entry.name, values | ({"options": numbers} if numbers else {}))


def resolve(reads: str, gives: str, name: str) -> tuple[Entry, Entry | None]:
    """The model of that name, and the mixer if the name is a mixer's."""
    if registry.is_reference(name):
        entry = registry.get("models", name)
        if "sees" not in entry.facts:
            return entry, None
    known = registry.models_for(reads, gives)
    takes = next((e for e in known.values() if any(o.name == "mixer" for o in e.options)), None)
    mixers = registry.mixers() if takes else {}
    for entry in known.values():
        if registry.named(entry, name):
            return entry, None
    if takes and (registry.is_reference(name) or any(registry.named(e, name) for e in mixers.values())):
        return takes, registry.mixer(name)
    other = next((e for e in registry.entries("models").values() if registry.named(e, name)), None)
    if other:
        does = (
            f"reads {' or '.join(other.facts.get('reads', ()))} and gives {' or '.join(other.facts.get('gives', ()))}"
        )
        text = f"`{other.name}` {does}; this task needs {reads} and {gives}"
        raise UnknownModel(text, [*known, *mixers])
    raise UnknownName(
        "model", name, [*known, *mixers, *(a for e in known.values() for a in e.aliases)], "headway list models"
    )


def find_model(name: str) -> tuple[Entry, Entry | None]:
    """A model by any of its names whatever it reads, or the first model that takes a mixer of this name."""
    known = registry.entries("models")
    if registry.is_reference(name) or any(registry.named(e, name) for e in known.values()):
        entry = registry.get("models", name)
        if "sees" not in entry.facts:
            return entry, None
    if registry.is_reference(name) or any(registry.named(e, name) for e in registry.mixers().values()):
        return next(
            e for e in known.values() if any(o.name == "mixer" for o in e.options) and "next token" in e.facts["gives"]
        ), registry.mixer(name)
    return registry.get("models", name), None


class UnknownModel(UnknownName):
    """A model that exists but does not fit what the task needs."""

    def __init__(self, message: str, known: list[str]) -> None:
        super().__init__("model", "", [])
        self.message, self.hint = message, "it takes " + ", ".join(f"`{name}`" for name in known) + "."
        self.args = (self.message,)


def check_options(choice: Choice) -> None:
    """Refuse options that no data could make possible, before any data are read.

    A width that is left open is planned later as a multiple of the heads, so heads alone are not judged by the default width.
    """
    config = getattr(registry.get("models", choice.name).module, "Config", None)
    if config is None:
        return
    heads = choice.options.get("heads")
    given = dict(choice.options)
    if isinstance(heads, int) and heads > 0 and "width" not in given:
        given["width"] = 64 * heads
    from_json(config, given, f"options of {choice.name}", f"`headway show {choice.name}` explains them.")
