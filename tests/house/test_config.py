"""Configurations and errors: what goes into JSON comes back equal; what does not fit is reported with its path, all of it at once."""

import dataclasses
import json
import types
import typing
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.core import errors
from headway.core.config import Choice, difference, option_type, override, parse, to_json
from headway.core.errors import ConfigError, HeadwayError, UnknownName, UsageError
from headway.models.choice import choose_model
from headway.tasks.recipe import Recipe, Training, read_recipe
from headway.tasks.translation import Data

finite = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e299, max_value=1e299)
share = st.floats(min_value=0.001, max_value=0.999)
count = st.integers(min_value=1)
scalars = st.integers(min_value=-(10**17), max_value=10**17) | finite | st.booleans() | st.text() | st.none()
recipes = st.builds(
    Recipe,
    task=st.just("translation"),
    data=st.builds(
        Data, pairs=st.text() | st.none(), languages=st.none() | st.text(), longest=count, vocabulary=count | st.none()
    ),
    model=st.none() | st.builds(Choice, name=st.text(), options=st.dictionaries(st.text(), scalars)),
    training=st.builds(
        Training,
        **{f.name: share | st.none() for f in dataclasses.fields(Training) if f.type == float | None},
        **{f.name: count | st.none() for f in dataclasses.fields(Training) if f.type == int | None},
        clip=share,
    ),
    seed=st.integers(0, 99),
    start=st.none() | st.text(),
)
json_values = st.recursive(
    scalars, lambda some: st.lists(some, max_size=3) | st.dictionaries(st.text(), some), max_leaves=5
)


@given(recipes)
def test_a_recipe_survives_json(recipe: Recipe) -> None:
    assert read_recipe(json.loads(json.dumps(recipe.to_json())), Data, "recipe.json") == recipe


@given(json_values)
def test_any_json_is_a_recipe_or_a_clear_error(value: Any) -> None:
    try:
        assert isinstance(read_recipe(value, Data, "recipe.json"), Recipe)
    except ConfigError as problem:
        assert "`recipe.json` does not fit" in str(problem)


def leaves(kind: Any, path: str = "") -> list[tuple[str, Any]]:
    hints = typing.get_type_hints(kind)
    found = []
    for field in dataclasses.fields(kind):
        inner = hints[field.name]
        found.append((path + field.name, inner))
        if dataclasses.is_dataclass(inner):
            found += leaves(inner, f"{path}{field.name}.")
    return found


def fits(kind: Any, value: Any) -> bool:
    """Written independently of the code: does JSON `value` belong in a field of this type?"""
    if typing.get_origin(kind) in (typing.Union, types.UnionType):
        return any(fits(k, value) for k in typing.get_args(kind))
    if typing.get_origin(kind) is typing.Literal:
        return value in typing.get_args(kind)
    if dataclasses.is_dataclass(kind) or typing.get_origin(kind) is dict:
        return isinstance(value, dict)
    if kind is float:
        return type(value) in (int, float)
    return value is None if kind is type(None) else type(value) is kind


@pytest.mark.parametrize(
    ("path", "kind"),
    leaves(Training, "training.") + leaves(Data, "data."),
    ids=lambda v: v if isinstance(v, str) else "",
)
@pytest.mark.parametrize("value", [None, True, 3, 3.5, "three", [], [3]], ids=repr)
def test_a_wrong_type_is_reported_with_its_path(path: str, kind: Any, value: Any) -> None:
    *folders, name = path.split(".")
    whole = Recipe("translation", Data()).to_json()
    inner = whole
    for folder in folders:
        inner = inner[folder]
    inner[name] = value
    if fits(kind, value):
        try:
            read_recipe(whole, Data, "recipe.json")
        except ConfigError as problem:  # the type fits, the range or the company may not
            assert "must be" in str(problem) or "come together" in str(problem)
        return
    with pytest.raises(ConfigError) as caught:
        read_recipe(whole, Data, "recipe.json")
    assert f"`{path.removeprefix('data.')}`" in str(caught.value).replace(".`", "`") and json.dumps(value) in str(
        caught.value
    )


def test_all_problems_are_reported_at_once() -> None:
    with pytest.raises(ConfigError) as caught:
        read_recipe(
            {"task": "translation", "sead": 1, "training": {"rate": "fast", "steps": 1.5}, "model": {}, "data": {}},
            Data,
            "recipe.json",
        )
    text = str(caught.value)
    for part in (
        "unknown field `sead` (did you mean `seed`?)",
        '`training.rate` should be a number or nothing, not "fast"',
        "`training.steps` should be a whole number or nothing, not 1.5",
        "`model` should be",
        "Hint: the file was edited or damaged",
    ):
        assert part in text


def test_overrides() -> None:
    training = override(override(Training(), "rate", "1e-3"), "optimizer", "adamw")
    assert training == Training(rate=1e-3, optimizer="adamw")
    assert override(training, "rate", "none").rate is None and override(training, "rate", "1").rate == 1.0
    assert override(Data(), "pairs", "3").pairs == "3", "a file may be called 3"


@pytest.mark.parametrize(
    ("path", "text", "message"),
    [
        ("rat", "1", "unknown option `--training.rat`\nHint: did you mean `--training.rate`?"),
        ("steps", "many", "`--training.steps` should be a whole number or nothing, not `many`"),
        ("steps", "1.5", "`--training.steps` should be a whole number or nothing, not `1.5`"),
        (
            "schedule",
            "cosin",
            "`training.schedule` must be the name of a registered schedule, not `cosin`\nHint: did you mean `cosine`?",
        ),
    ],
)
def test_overrides_that_do_not_fit(path: str, text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        override(Training(), path, text, "training.")
    assert str(caught.value).startswith(message)


def test_options_of_a_model() -> None:
    need = ("tokens", "target tokens")
    assert choose_model(*need, "Vaswani", {"depth": "4", "norm": "post"}) == Choice(
        "transformer", {"depth": 4, "norm": "post"}
    )
    with pytest.raises(UnknownName) as caught:
        choose_model(*need, "transformer", {"dept": "4"})
    assert str(caught.value) == (
        "unknown option of `transformer`: `--model.dept`\nHint: did you mean `--model.depth`? `headway show transformer` lists them all."
    )
    with pytest.raises(
        ConfigError, match=r"`--model.norm` should be one of 'pre', 'post', 'deep', not `pri`\nHint: did you mean `pre`"
    ):
        choose_model(*need, "transformer", {"norm": "pri"})
    with pytest.raises(ConfigError, match=r"`--model.width` should be a whole number, not `wide`"):
        choose_model(*need, "transformer", {"width": "wide"})


def test_a_mixer_is_a_model_and_a_model_of_another_kind_is_called_by_its_name() -> None:
    assert choose_model("tokens", "next token", "Mamba", {"states": "8"}) == Choice(
        "gpt", {"mixer": "mamba", "options": {"states": 8}}
    )
    with pytest.raises(
        UsageError, match=r"`gpt` reads tokens and gives next token; this task needs tokens and target tokens"
    ) as caught:
        choose_model("tokens", "target tokens", "gpt", {})
    assert "it takes `attention_seq2seq`, `rnn_seq2seq`, `t5`, `transformer`" in str(caught.value)


def test_types_written_in_a_file() -> None:
    assert option_type("int | None") == int | None and option_type("float") is float
    assert option_type('Literal["pre", "post"]') == typing.Literal["pre", "post"]
    assert option_type("tuple[int, ...]") == tuple[int, ...] and option_type("list[int]") == list[int]
    assert option_type("dict[str, int | float]") == dict[str, int | float] and parse(list[int], "3, 4", "x") == [3, 4]
    with pytest.raises(ConfigError, match="is not a type that an option can have"):
        option_type("Tensor")
    assert parse(float | None, "none", "x") is None and parse(bool, "YES", "x") is True


def test_differences_are_reported_line_by_line() -> None:
    old, new = to_json(Recipe("x", 1)), to_json(Recipe("x", 1, seed=2, training=Training(rate=0.1)))
    assert difference(old, new) == ["`seed`: 1 -> 2", "`training.rate`: null -> 0.1"] and difference(old, old) == []


# -- errors --------------------------------------------------------------------------------------------------------------


def test_the_tree_of_errors_is_the_one_drawn() -> None:
    drawn = {UsageError: HeadwayError, UnknownName: UsageError, ConfigError: UsageError}
    drawn |= dict.fromkeys((errors.DataError, errors.RunError, errors.DiskError), HeadwayError)
    for kind, parent in drawn.items():
        assert kind.__base__ is parent and kind.__name__ in (errors.__doc__ or "")


def test_messages() -> None:
    assert str(HeadwayError("this")) == "this" and str(HeadwayError("this", "that")) == "this\nHint: that"
    assert str(UnknownName("verb", "xyz", ["b", "a"])) == "unknown verb `xyz`\nHint: known: `a`, `b`."
    assert errors.nearest("TRANSFORMR", ["Transformer"]) == "Transformer" and errors.nearest("x", []) is None
    errors.raise_all([], ConfigError, "nothing")
    with pytest.raises(ConfigError, match=r"^title: one\nHint: hint$"):
        errors.raise_all(["one"], ConfigError, "title", "hint")
    with pytest.raises(ConfigError) as caught:
        errors.raise_all([str(i) for i in range(30)], ConfigError, "title")
    assert str(caught.value).startswith("title:\n  - 0\n  - 1\n") and str(caught.value).endswith(
        "\n  - 19\n  - ... and 10 more"
    )


def test_json_has_no_tuples() -> None:
    """What is written and read again is equal to what was written: a tuple among a model's options kept runs from being resumed."""
    value = to_json(Choice("mlp", {"widths": (256, 128), "more": {"regions": (1, 2)}}))
    assert value == json.loads(json.dumps(value)) and difference(json.loads(json.dumps(value)), value) == []


def test_a_name_without_end_is_cut() -> None:
    """A damaged plan had a field of 20,000 letters, and the message repeated it."""
    name = "[" * 20_000
    assert len(str(ConfigError(f"unknown field `{name}` in `plan.json`"))) < 1100
    assert str(ConfigError(f"unknown field `{name}` in `plan.json`")).endswith("[... in `plan.json`")
    folder = "a" * 900
    assert folder in str(ConfigError(f"there is no file `{folder}`"))
