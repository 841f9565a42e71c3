"""The registry reads folders, not imports: names, lecture names, options, and what it says to a misspelt one."""

import dataclasses
import inspect
import typing

import pytest

from headway.core import registry
from headway.core.config import option_type
from headway.core.errors import UnknownName

EVERY = [entry for room in registry.ROOMS for entry in registry.entries(room).values()]


@pytest.mark.parametrize("entry", EVERY, ids=lambda e: f"{e.room}/{e.name}")
def test_names_and_lecture_names_resolve(entry: registry.Entry) -> None:
    for name in (entry.name, entry.class_name, entry.name.upper(), entry.name.replace("_", "-"), *entry.aliases):
        assert registry.get(entry.room, name) == entry


@pytest.mark.parametrize("room", registry.ROOMS)
def test_no_name_means_two_things(room: str) -> None:
    owners: dict[str, str] = {}
    for entry in registry.entries(room).values():
        for name in {registry._slug(n) for n in (entry.name, *entry.aliases)}:
            assert owners.setdefault(name, entry.name) == entry.name, f"`{name}` is both `{owners[name]}` and `{entry.name}`"


@pytest.mark.parametrize(
    ("room", "name", "expected"),
    [
        ("models", "bahdanau", "attention_seq2seq"),
        ("models", "Attention is all you need", "transformer"),
        ("models", "stacked seq2seq", "rnn_seq2seq"),
        ("scores", "Luong general", "multiplicative"),
        ("recurrences", "vanilla RNN", "elman"),
        ("attention", "self attention", "multihead"),
        ("positions", "positional encoding", "sinusoidal"),
    ],
)
def test_what_the_lecture_calls_it(room: str, name: str, expected: str) -> None:
    assert registry.get(room, name).name == expected


@pytest.mark.parametrize(
    ("room", "name", "message", "guess"),
    [
        ("models", "tranformer", "unknown model `tranformer`", "did you mean `transformer`?"),
        ("models", "Badanau", "unknown model `Badanau`", "did you mean `Bahdanau`?"),
        ("models", "xyzzy", "unknown model `xyzzy`", ""),
        ("scores", "aditive", "unknown attention score `aditive`", "did you mean `additive`?"),
        ("positions", "lerned", "unknown position `lerned`", "did you mean `learned`?"),
    ],
)
def test_a_misspelt_name_is_answered_with_the_nearest(room: str, name: str, message: str, guess: str) -> None:
    with pytest.raises(UnknownName) as caught:
        registry.get(room, name)
    hints = [*([guess] if guess else []), f"`headway list {room}` lists them all."]
    assert str(caught.value) == f"{message}\nHint: " + " ".join(hints)


def test_an_unknown_room() -> None:
    with pytest.raises(UnknownName, match="unknown room `modles`\nHint: did you mean `models`"):
        registry.entries("modles")


def test_find_ranks_names_before_descriptions() -> None:
    found = registry.find("attention")
    named = ["attention" in registry._slug(" ".join((e.name, *e.aliases))) for e in found]
    assert any(named) and not all(named) and named == sorted(named, reverse=True)
    assert registry.find("Bahdanau")[0].name == "attention_seq2seq"
    assert {e.name for e in registry.find("luong")} >= {"dot", "multiplicative", "attention_seq2seq"}
    assert registry.find("xyzzy") == [] and registry.find("") == [] and registry.find(" ?!") == []
    assert [e.name for e in registry.find("jozefowicz long short")] == [] and registry.find("short long memory")[0].name == "lstm"


@pytest.mark.parametrize("entry", [e for e in EVERY if e.options and hasattr(e.module, "Config")], ids=lambda e: e.name)
def test_options_read_are_the_fields_of_the_dataclass(entry: registry.Entry) -> None:
    config = entry.module.Config
    hints = typing.get_type_hints(config)
    fields = [f for f in dataclasses.fields(config) if f.default is not dataclasses.MISSING]
    options = [o for o in entry.options if o.name in {f.name for f in fields}]  # a dictionary has a factory, not a default
    assert [o.name for o in options] == [f.name for f in fields]
    assert [o.default for o in options] == [f.default for f in fields]
    assert [option_type(o.type) for o in options] == [hints[f.name] for f in fields]
    assert config.__dataclass_params__.frozen


@pytest.mark.parametrize("entry", [e for e in EVERY if e.options and not hasattr(e.module, "Config")], ids=lambda e: e.name)
def test_options_of_a_layer_are_the_numbers_of_its_constructor(entry: registry.Entry) -> None:
    parameters = inspect.signature(entry.load()).parameters
    numbers = {name: p.default for name, p in parameters.items() if type(p.default) in (int, float)}
    assert {o.name: o.default for o in entry.options} == numbers and list(parameters) == entry.facts["arguments"]


def test_a_mixer_is_a_causal_layer() -> None:
    assert {"lstm", "mamba", "performer", "transformer_xl", "multihead"} <= set(registry.mixers())
    assert not {"cross", "pointer", "non_local", "shifted_window", "two_stream", "bidirectional", "stacked"} & set(registry.mixers())
    assert registry.mixer("Transformer-XL").name == "transformer_xl"
    with pytest.raises(UnknownName, match="mamba"):
        registry.mixer("mambo")
