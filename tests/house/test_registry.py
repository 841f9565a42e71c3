"""The registry reads folders, not imports: names, lecture names, options, and what it says to a misspelt one."""

import dataclasses
import inspect
import typing

import pytest

from headway.cli import main
from headway.core import registry
from headway.core.config import option_type
from headway.core.entries import Entry, slug
from headway.core.errors import UnknownName
from headway.lab.parameters import declared
from headway.layers.activations import ACTIVATIONS
from headway.layers.initialisation import INITIALISATIONS
from headway.layers.masks import Causal


def is_experiment(entry: Entry) -> bool:
    return entry.room.startswith("lab/")


EVERY = [entry for room in registry.ROOMS for entry in registry.entries(room).values()]


@pytest.mark.parametrize("entry", EVERY, ids=lambda e: f"{e.room}/{e.name}")
def test_names_and_lecture_names_resolve(entry: Entry) -> None:
    for name in (entry.name, entry.class_name, entry.name.upper(), entry.name.replace("_", "-"), *entry.aliases):
        assert registry.get(entry.room, name) == entry


@pytest.mark.parametrize("room", registry.ROOMS)
def test_no_name_means_two_things(room: str) -> None:
    owners: dict[str, str] = {}
    for entry in registry.entries(room).values():
        for name in {slug(n) for n in (entry.name, *entry.aliases)}:
            assert owners.setdefault(name, entry.name) == entry.name, (
                f"`{name}` is both `{owners[name]}` and `{entry.name}`"
            )


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
        ("connections", "skip connection", "pre_norm"),
        ("connections", "DeepNorm", "deep_norm"),
        ("initialisations", "Kaiming", "he_normal"),
        ("masks", "look-ahead mask", "causal"),
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


@pytest.mark.parametrize(
    ("count", "listing", "hint"),
    [
        (3, "", "known: `n0`, `n1`, `n2`."),
        (40, "", "known: " + ", ".join(f"`{n}`" for n in sorted(f"n{i}" for i in range(40))) + "."),
        (41, "", "none of the 41 that are known is near it; `headway list` shows what there is."),
        (3, "headway list", "`headway list` lists them all."),
        (500, "headway list", "`headway list` lists them all."),
    ],
)
def test_a_hint_is_no_wall_of_names(count: int, listing: str, hint: str) -> None:
    assert UnknownName("name", "xyzzy", [f"n{i}" for i in range(count)], listing).hint == hint
    near = UnknownName("name", "mamab", ["mamba", *(f"n{i}" for i in range(count))], listing).hint
    assert near.startswith("did you mean `mamba`?") and len(near) < 60


def test_what_nobody_knows_is_answered_briefly(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["find", "xyzzy"]) == 2
    assert capsys.readouterr().err == "headway: error: unknown name `xyzzy`\nHint: `headway list` lists them all.\n"


def test_a_room_that_is_one_file() -> None:
    """Whatever says its lecture names is an entry, and is loaded as itself; what does not is furniture."""
    for room, table in (("activations", ACTIVATIONS), ("initialisations", INITIALISATIONS)):
        assert {name: entry.load() for name, entry in registry.entries(room).items()} == table
    assert set(registry.entries("masks")) == {"everything", "causal", "window", "first", "matrix"}
    assert registry.entries("masks")["causal"].load() is Causal
    he = registry.entries("initialisations")["he_normal"]
    assert he.aliases == ("He", "He initialisation", "Kaiming", "Kaiming initialisation") and he.doc.endswith(
        "lecture D."
    )
    for room in (r for r, place in registry.ROOMS.items() if place.endswith(".py")):
        assert registry.entries(room) and all(
            e.aliases and 0 < len(e.summary) < 160 for e in registry.entries(room).values()
        )


def test_an_unknown_room() -> None:
    with pytest.raises(UnknownName, match="unknown room `modles`\nHint: did you mean `models`"):
        registry.entries("modles")


def test_find_ranks_names_before_descriptions() -> None:
    found = registry.find("attention")
    named = ["attention" in slug(" ".join((e.name, *e.aliases))) for e in found]
    assert any(named) and not all(named) and named == sorted(named, reverse=True)
    assert registry.find("Bahdanau")[0].name == "attention_seq2seq"
    assert {e.name for e in registry.find("luong")} >= {"dot", "multiplicative", "attention_seq2seq"}
    assert registry.find("xyzzy") == [] and registry.find("") == [] and registry.find(" ?!") == []
    assert registry.find("deepnorm")[0].name == "deep_norm" and registry.find("He")[0].name == "he_normal", (
        "the very name comes first"
    )
    assert "pre_norm" in {e.name for e in registry.find("prenorm")} and registry.find("former"), (
        "hyphens and parts of names do not matter"
    )
    assert "step" in {e.name for e in registry.find("threshold activation")} and not registry.find("ldact"), (
        "no word begins inside another"
    )
    assert [e.name for e in registry.find("jozefowicz long short")] == [] and registry.find("short long memory")[
        0
    ].name == "lstm"


@pytest.mark.parametrize(
    "entry",
    [e for e in EVERY if e.options and (hasattr(e.module, "Config") or e.room == "tasks") and not is_experiment(e)],
    ids=lambda e: e.name,
)
def test_options_read_are_the_fields_of_the_dataclass(entry: Entry) -> None:
    config = entry.module.Data if entry.room == "tasks" else entry.module.Config
    hints = typing.get_type_hints(config)
    fields = [f for f in dataclasses.fields(config) if f.default is not dataclasses.MISSING]
    options = [
        o for o in entry.options if o.name in {f.name for f in fields}
    ]  # a dictionary has a factory, not a default
    assert [o.name for o in options] == [f.name for f in fields]
    assert [o.default for o in options] == [f.default for f in fields]
    assert [option_type(o.type) for o in options] == [hints[f.name] for f in fields]
    assert config.__dataclass_params__.frozen


@pytest.mark.parametrize(
    "entry",
    [e for e in EVERY if e.options and not hasattr(e.module, "Config") and e.room != "tasks" and not is_experiment(e)],
    ids=lambda e: e.name,
)
def test_options_of_a_layer_are_the_numbers_of_its_constructor(entry: Entry) -> None:
    parameters = inspect.signature(entry.load()).parameters
    numbers = {name: p.default for name, p in parameters.items() if type(p.default) in (int, float)}
    assert {o.name: o.default for o in entry.options} == numbers and list(parameters) == entry.facts["arguments"]


@pytest.mark.parametrize("entry", [e for e in EVERY if is_experiment(e)], ids=lambda e: e.name)
def test_options_of_an_experiment_are_its_parameters(entry: Entry) -> None:
    found = {name: (p.default, p.about) for name, p in declared(entry.load()).items()}
    assert {o.name: (o.default, o.meaning) for o in entry.options} == found


def test_a_mixer_is_a_causal_layer() -> None:
    assert {"lstm", "mamba", "performer", "transformer_xl", "multihead"} <= set(registry.mixers())
    assert not {"cross", "pointer", "non_local", "shifted_window", "two_stream", "bidirectional", "stacked"} & set(
        registry.mixers()
    )
    assert registry.mixer("Transformer-XL").name == "transformer_xl"
    with pytest.raises(UnknownName, match="mamba"):
        registry.mixer("mambo")


def test_a_name_that_is_a_file_is_read_without_the_rest_of_its_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """Opening a run asks for five names; reading all rooms for them took a fifth of `headway translate`."""
    expected = registry.get("models", "transformer"), registry.mixer("multihead")
    monkeypatch.setattr(registry, "entries", lambda room: pytest.fail(f"all of `{room}` was read"))
    assert (registry.get("models", "transformer"), registry.mixer("multihead")) == expected
    assert (expected[0].room, expected[1].room) == ("models", "attention")
