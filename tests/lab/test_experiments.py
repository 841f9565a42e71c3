"""Every experiment of the lab, found through the registry: at its small size the verdict is good and each control fails."""

import json
import re
import warnings

import numpy as np
import pytest

from headway.core.errors import ConfigError
from headway.core.registry import Entry
from headway.lab import catalog, runner
from headway.lab.experiment import NOT_REPRODUCED, REFUTED, SKIPPED
from headway.lab.parameters import declared
from headway.lab.result import Result

EVERY = catalog.every()
KINDS = {"EXACT", "BOUND", "STAT", "RATE", "TABLE", "REFUTE"}
each = pytest.mark.parametrize("entry", EVERY, ids=lambda e: e.name)
RESULTS: dict[str, Result] = {}


def small(entry: Entry) -> Result:
    """One run at the small size, shared by the tests of the same process."""
    if entry.name not in RESULTS:
        RESULTS[entry.name] = runner.run(entry.name, parameters=catalog.values(entry, "small"))
    return RESULTS[entry.name]


@each
def test_verdict_and_controls(entry: Entry) -> None:
    result = small(entry)
    if result.verdict == SKIPPED:
        pytest.skip(result.reasons[0])
    assert result.verdict != NOT_REPRODUCED, result.text()
    assert result.controls and not any(row.holds for row in (*result.controls, *result.resolution))
    assert len({(check.name, check.seed) for check in result.checks}) == len(result.checks), "two checks have the same name"
    assert {c.kind for c in result.checks} <= KINDS - {"REFUTE"}, "`printed` is for controls"


@each
def test_the_file_says_what_it_is(entry: Entry) -> None:
    text, methods = catalog.statement(entry), set(entry.facts["methods"])
    assert text.notes and set(text.notes) <= set("ABCDE") and catalog.cost(entry) in ("S", "M", "L")
    assert text.source and text.assumptions, "`Source:` or `Assumes:` is missing"
    assert set(catalog.kinds(entry)) <= KINDS and catalog.kinds(entry)
    assert entry.options and all(o.meaning for o in entry.options)
    assert "control" in methods and {"measure", "sample"} & methods
    assert "STAT" not in catalog.kinds(entry) or "sample" in methods, "a STAT experiment tries several seeds: `sample`"
    assert len(text.claim) < 160 and any(equation for equation, _ in text.blocks), "the statement needs its equation"
    assert entry.path.read_text(encoding="utf-8").count("\n") <= 120, "longer than an experiment should be"
    assert all(c.why for c in small(entry).controls if c.kind != "REFUTE"), "`because` says why a control fails"
    assert "specification" not in entry.doc, "a student has none"


@each
def test_errata_are_those_of_the_register(entry: Entry) -> None:
    result, known = small(entry), {erratum.id for erratum in catalog.errata(entry)}
    rows = (*result.controls, *result.resolution)
    assert {c.erratum for c in rows if c.erratum} <= known, "a control names an erratum that the register does not"
    assert result.verdict == SKIPPED or (result.verdict == REFUTED) == any(c.kind == "REFUTE" for c in rows)


@pytest.mark.parametrize("name", catalog.modules())
def test_the_order_of_a_module_names_each_of_its_experiments(name: str) -> None:
    assert list(catalog._order(name)) == [catalog.identity(entry) for entry in catalog.module(name)]


@each
def test_the_figure_is_drawn_without_a_warning_and_labelled(entry: Entry) -> None:
    result = small(entry)
    if result.verdict == SKIPPED:
        pytest.skip(result.reasons[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        svg, axes = result.svg, result.figure.axes
        assert not re.search(r"\d{4}-\d\d-\d\dT", svg), "a date makes every file different"
    assert len(svg) < 1_500_000, "the figure is too large for a page: rasterize points, or draw fewer"
    for panel in axes:
        assert panel.get_title(loc="left") or panel.get_title() or panel.get_label() == "<colorbar>"
        assert panel.get_label() == "<colorbar>" or not panel.axison or (panel.get_xlabel() and panel.get_ylabel()), "an axis has no label"


@each
def test_the_same_seed_gives_the_same_numbers_and_bytes(entry: Entry) -> None:
    first, again = small(entry), runner.run(entry.name, parameters=catalog.values(entry, "small"))
    assert {**first.to_json(), "seconds": 0} == {**again.to_json(), "seconds": 0}
    assert first.svg == again.svg


@each
def test_json_round_trip(entry: Entry) -> None:
    record = small(entry).to_json()
    text = json.dumps(record, allow_nan=False)
    assert Result.from_json(json.loads(text)).to_json() == json.loads(text)
    assert record["seconds"] > 0 and isinstance(record["seed"], int)


@each
def test_parameters_have_ranges(entry: Entry) -> None:
    """`small` and `full` are inside, what is outside gets one sentence, and so does an empty tuple."""
    cls = entry.load()
    for size in ("small", "full"):
        assert cls(**catalog.values(entry, size))
    for name, p in declared(cls).items():
        if p.kind in (bool, str):
            continue
        assert p.least is not None and p.most is not None and p.about
        assert p.read(name, p.default) == p.default, "the default is outside of its range"
        for wrong in (p.least - 1, p.most + 1, float("nan"), "x", None):
            with pytest.raises(ConfigError, match=name):
                p.read(name, (wrong,) if isinstance(p.default, tuple) else wrong)
        if isinstance(p.default, tuple):
            with pytest.raises(ConfigError, match="is empty"):
                p.read(name, ())


def test_no_two_experiments_answer_to_one_name() -> None:
    owners: dict[str, str] = {}
    for entry in EVERY:
        for name in {re.sub(r"[^a-z0-9]+", "", n.lower()) for n in (entry.name, *entry.aliases)}:
            assert owners.setdefault(name, entry.name) == entry.name, f"`{name}` is both `{owners[name]}` and `{entry.name}`"


def test_random_state_is_left_alone() -> None:
    before = np.random.get_state()[1].copy()
    small(EVERY[0])
    assert np.array_equal(before, np.random.get_state()[1])
