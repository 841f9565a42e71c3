"""Configurations and errors: what goes into JSON comes back equal; what does not fit is told with its path, all of it at once."""

import dataclasses
import json
import types
import typing
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.core import errors
from headway.core.config import Choice, choose, difference, from_json, option_type, override, parse, to_json
from headway.core.errors import ConfigError, HeadwayError, UnknownName, UsageError
from headway.core.recipe import Data, Recipe, Tokens, Training

finite = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e299, max_value=1e299)
share = st.floats(min_value=0.001, max_value=0.999)
count = st.integers(min_value=1)
scalars = st.integers(min_value=-(10**17), max_value=10**17) | finite | st.booleans() | st.text() | st.none()
recipes = st.builds(
    Recipe,
    data=st.builds(Data, source=st.text() | st.none(), languages=st.none() | st.text(), grammar=count | st.none(), longest=count),
    tokens=st.builds(Tokens, size=count | st.none()),
    model=st.builds(Choice, name=st.text(), options=st.dictionaries(st.text(), scalars)),
    training=st.builds(
        Training,
        **{f.name: share | st.none() for f in dataclasses.fields(Training) if f.type == float | None},
        **{f.name: count | st.none() for f in dataclasses.fields(Training) if f.type == int | None},
        **dict.fromkeys(("decay", "clip"), share),
    ),
)
json_values = st.recursive(scalars, lambda some: st.lists(some, max_size=3) | st.dictionaries(st.text(), some), max_leaves=5)


@given(recipes)
def test_a_recipe_survives_json(recipe: Recipe) -> None:
    assert from_json(Recipe, json.loads(json.dumps(to_json(recipe))), "recipe.json") == recipe


@given(json_values)
def test_any_json_is_a_recipe_or_a_clear_error(value: Any) -> None:
    try:
        assert isinstance(from_json(Recipe, value, "recipe.json"), Recipe)
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


@pytest.mark.parametrize(("path", "kind"), leaves(Recipe), ids=lambda v: v if isinstance(v, str) else "")
@pytest.mark.parametrize("value", [None, True, 3, 3.5, "three", [], [3]], ids=repr)
def test_a_wrong_type_is_told_with_its_path(path: str, kind: Any, value: Any) -> None:
    *folders, name = path.split(".")
    whole = to_json(Recipe())
    inner = whole
    for folder in folders:
        inner = inner[folder]
    inner[name] = value
    if fits(kind, value):
        try:
            from_json(Recipe, whole, "recipe.json")
        except ConfigError as problem:  # the type fits, the range may not
            assert f"`{path}` must be" in str(problem)
        return
    with pytest.raises(ConfigError) as caught:
        from_json(Recipe, whole, "recipe.json")
    assert f"`{path}`" in str(caught.value).replace(".`", "`") and json.dumps(value) in str(caught.value)


def test_all_problems_are_told_at_once() -> None:
    with pytest.raises(ConfigError) as caught:
        from_json(Recipe, {"sead": 1, "training": {"rate": "fast", "steps": 1.5}, "tokens": {"kind": "bp"}, "model": {}}, "recipe.json")
    text = str(caught.value)
    for part in (
        "unknown field `sead` (did you mean `seed`?)",
        '`training.rate` should be a number or nothing, not "fast"',
        "`training.steps` should be a whole number or nothing, not 1.5",
        "`tokens.kind` should be one of 'bpe', 'wordpiece'",
        "`model.name` is missing",
        "Hint: the file was edited or damaged",
    ):
        assert part in text


def test_overrides() -> None:
    recipe = override(override(Recipe(), "training.rate", "1e-3"), "tokens.joint", "no")
    assert recipe == Recipe(training=Training(rate=1e-3), tokens=Tokens(joint=False))
    assert override(recipe, "seed", "7").seed == 7
    assert override(recipe, "training.rate", "none").training.rate is None
    assert override(recipe, "training.rate", "1").training.rate == 1.0
    assert override(recipe, "data.source", "3").data.source == "3", "a file may be called 3"


@pytest.mark.parametrize(
    ("path", "text", "message"),
    [
        ("training.rat", "1", "unknown option `--training.rat`\nHint: did you mean `--training.rate`?"),
        ("trainig.rate", "1", "unknown option `--trainig.rate`"),
        ("training.steps", "many", "`--training.steps` should be a whole number or nothing, not `many`"),
        ("training.steps", "1.5", "`--training.steps` should be a whole number or nothing, not `1.5`"),
        (
            "training.schedule",
            "cosin",
            "`--training.schedule` should be one of 'cosine', 'inverse_root', 'constant', not `cosin`\nHint: did you mean `cosine`?",
        ),
        ("tokens.joint", "maybe", "`--tokens.joint` should be true or false, not `maybe`"),
    ],
)
def test_overrides_that_do_not_fit(path: str, text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        override(Recipe(), path, text)
    assert str(caught.value).startswith(message)


def test_options_of_a_model() -> None:
    assert choose("translation", "Vaswani", {"depth": "4", "norm": "post"}) == Choice("transformer", {"depth": 4, "norm": "post"})
    with pytest.raises(UnknownName) as caught:
        choose("translation", "transformer", {"dept": "4"})
    assert str(caught.value) == (
        "unknown option of `transformer`: `--model.dept`\nHint: did you mean `--model.depth`? `headway show transformer` lists them all."
    )
    with pytest.raises(ConfigError, match=r"`--model.norm` should be one of 'pre', 'post', 'deep', not `pri`\nHint: did you mean `pre`"):
        choose("translation", "transformer", {"norm": "pri"})
    with pytest.raises(ConfigError, match=r"`--model.width` should be a whole number, not `wide`"):
        choose("translation", "transformer", {"width": "wide"})


def test_types_written_in_a_file() -> None:
    assert option_type("int | None") == int | None and option_type("float") is float
    assert option_type('Literal["pre", "post"]') == typing.Literal["pre", "post"]
    assert parse(float | None, "none", "x") is None and parse(bool, "YES", "x") is True


def test_differences_are_told_line_by_line() -> None:
    old, new = to_json(Recipe()), to_json(Recipe(seed=2, training=Training(rate=0.1)))
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
    assert str(caught.value).startswith("title:\n  - 0\n  - 1\n") and str(caught.value).endswith("\n  - 19\n  - ... and 10 more")
