"""Pairs that do not fit because one side moved or was shuffled are found, and healthy corpora are not suspected."""

import random

import pytest
from healthy import examine, healthy, only, pairs_of

from headway.data.drift import find_drift, first_drift


@pytest.mark.parametrize(
    ("first", "last", "shift", "severity"), [(100, 300, -1, "error"), (0, 300, 2, "error"), (150, 195, 1, "warning")]
)
def test_drift_of_files_of_equal_length(first: int, last: int, shift: int, severity: str) -> None:
    sources, targets = healthy()
    part = targets[first:last]
    targets[first:last] = part[-shift:] + part[:-shift]
    used, report = examine(pairs_of(sources, targets))
    finding = only(report, "drift")
    assert report.errors == ((finding,) if severity == "error" else ())
    assert (finding.severity, finding.action, len(used)) == (severity, "kept", 300)
    assert abs(finding.lines[0] - (first + 1)) <= 4
    assert abs(finding.count - (last - first)) <= 8
    direction = "down" if shift > 0 else "up"
    assert f"fit the targets {abs(shift)} line{'s' * (abs(shift) > 1)} further {direction}" in finding.message


def test_a_shuffled_stretch_and_a_shuffled_file() -> None:
    sources, targets = healthy(600)
    part = targets[200:280]
    random.Random(1).shuffle(part)
    _, report = examine(pairs_of(sources, targets[:200] + part + targets[280:]))
    assert "no shift mends it" in only(report, "drift").message
    random.Random(1).shuffle(targets)
    _, report = examine(pairs_of(sources, targets))
    assert "as if one side had been shuffled" in only(report, "unrelated").message


def test_one_odd_line_before_a_cut_is_not_a_drift() -> None:
    sources, targets = healthy(100)
    sources[90] = "no"  # fits the odd line better than its own source does
    assert sources[89].count(" ") > 3 and first_drift(sources, [*targets[:89], "nein"]) == 90
    assert first_drift(sources, targets[:40] + targets[41:]) == pytest.approx(40, abs=3), "a missing line is one"


def test_no_drift_is_seen_in_healthy_corpora() -> None:
    assert [seed for seed in range(40) if find_drift(*healthy(400, seed))] == []
    same_length = ["abc"] * 300
    assert find_drift(same_length, same_length) is None
    gaps = [target if i % 3 else "" for i, target in enumerate(healthy()[1])]
    assert find_drift(healthy()[0], gaps) is None
    block = healthy()[1][:100] + [""] * 60 + healthy()[1][160:]
    assert find_drift(healthy()[0], block) is None
