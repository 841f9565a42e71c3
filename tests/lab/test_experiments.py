"""Every experiment of the lab, found through the registry: at its small size the verdict is good and each control fails."""

import json
import re
import warnings

import numpy as np
import pytest

from headway.core.registry import Entry
from headway.lab import catalog, runner
from headway.lab.errata import register
from headway.lab.experiment import NOT_REPRODUCED, REFUTED, SKIPPED, Experiment
from headway.lab.result import Result

EVERY = catalog.every()
KINDS = {"EXACT", "BOUND", "STAT", "RATE", "TABLE", "REFUTE"}
each = pytest.mark.parametrize("entry", EVERY, ids=lambda e: e.name)
RESULTS: dict[str, Result] = {}


def small(entry: Entry) -> Result:
    """One run at the small size, shared by the tests of the same process."""
    if entry.name not in RESULTS:
        RESULTS[entry.name] = runner.run(entry.name, parameters=entry.facts.get("small", {}))
    return RESULTS[entry.name]


@each
def test_verdict_and_controls(entry: Entry) -> None:
    result = small(entry)
    if result.verdict == SKIPPED:
        pytest.skip(result.reasons[0])
    assert result.verdict != NOT_REPRODUCED, result.text()
    assert result.controls and not any(control.holds for control in result.controls)
    assert len({(check.name, check.seed) for check in result.checks}) == len(result.checks), "two checks have the same name"
    assert {c.kind for c in result.checks} <= KINDS - {"REFUTE"}, "`printed` is for controls"


@each
def test_the_file_says_what_it_is(entry: Entry) -> None:
    facts = entry.facts
    assert facts["lecture"] and set(facts["lecture"].split(", ")) <= set("ABCDE")
    assert facts["kinds"] and set(facts["kinds"]) <= KINDS and facts.get("cost", "S") in ("S", "M", "L")
    assert facts.get("source") and facts.get("assumptions"), "`source` and `assumptions` are missing"
    assert issubclass(entry.load(), Experiment) and entry.options and all(o.meaning for o in entry.options)
    assert "control" in facts["methods"] and "plot" in facts["methods"] and {"measure", "sample"} & set(facts["methods"])
    assert ("STAT" not in facts["kinds"]) or "sample" in facts["methods"], "a STAT experiment tries several seeds: `sample`"
    assert len(entry.summary) < 160 and len(entry.doc.splitlines()) > 2, "the statement needs its equation"
    assert entry.path.read_text(encoding="utf-8").count("\n") <= 160, "longer than an experiment should be"


@each
def test_errata_are_those_of_the_register(entry: Entry) -> None:
    name = catalog.identity(entry)
    assert set(entry.facts.get("errata", ())) == {e.id for e in register() if name in e.exposed_by}
    shown = {c.erratum for c in small(entry).controls if c.erratum}
    assert shown <= set(entry.facts.get("errata", ())), "a control names an erratum that the class does not"
    assert (small(entry).verdict == REFUTED) == any(c.kind == "REFUTE" for c in small(entry).controls)


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
    first, again = small(entry), runner.run(entry.name, parameters=entry.facts.get("small", {}))
    assert {**first.to_json(), "seconds": 0} == {**again.to_json(), "seconds": 0}
    assert first.svg == again.svg


@each
def test_json_round_trip(entry: Entry) -> None:
    record = small(entry).to_json()
    text = json.dumps(record, allow_nan=False)
    assert Result.from_json(json.loads(text)).to_json() == json.loads(text)
    assert record["seconds"] > 0 and isinstance(record["seed"], int)


@each
def test_parameters_of_full_exist(entry: Entry) -> None:
    for facts in (entry.facts.get("full", {}), entry.facts.get("small", {})):
        assert catalog.configured(entry, facts) is not None


def test_no_two_experiments_answer_to_one_name() -> None:
    owners: dict[str, str] = {}
    for entry in EVERY:
        for name in {re.sub(r"[^a-z0-9]+", "", n.lower()) for n in (entry.name, *entry.aliases)}:
            assert owners.setdefault(name, entry.name) == entry.name, f"`{name}` is both `{owners[name]}` and `{entry.name}`"


def test_random_state_is_left_alone() -> None:
    before = np.random.get_state()[1].copy()
    small(EVERY[0])
    assert np.array_equal(before, np.random.get_state()[1])
