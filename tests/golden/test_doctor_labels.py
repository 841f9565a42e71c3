"""The doctor of labelled texts finds what was planted, in its line."""

import json

import pytest
from healthy import healthy

from headway.core.errors import DataError
from headway.data.doctor_labels import examine_labels
from headway.data.findings import Finding, Report
from headway.data.rows import Problem
from headway.data.table import Table

LABELS = ("bad", "fair", "good")


def table_of(texts: list[str], labels: list[str]) -> Table:
    columns = {"text": tuple(texts), "label": tuple(labels)}
    return Table(columns, tuple(range(2, len(texts) + 2)), "reviews.tsv")


def good_rows(count: int = 300) -> tuple[list[str], list[str]]:
    return healthy(count)[0], [LABELS[i % 3] for i in range(count)]


def examine(texts: list[str], labels: list[str]) -> tuple[Table, Report]:
    return examine_labels(table_of(texts, labels), "text", "label")


def the(report: Report, kind: str) -> Finding:
    assert [finding.kind for finding in report.findings] == [kind], report.text()
    return report.findings[0]


def test_good_rows_have_no_findings() -> None:
    used, report = examine(*good_rows())
    assert report.findings == () and used == table_of(*good_rows()) and report.errors == ()
    assert report.statistics["classes"] == {"bad": 100, "fair": 100, "good": 100}
    assert report.statistics["majority"] == pytest.approx(1 / 3)
    assert "reviews.tsv: 300 rows, all kept" in report.text() and "3 classes: `bad` 33.3%" in report.text()
    assert json.loads(json.dumps(report.to_json())) == report.to_json()


def test_rows_without_text_or_label_are_dropped() -> None:
    texts, labels = good_rows()
    texts[4], labels[9] = " ", ""
    used, report = examine(texts, labels)
    found = {finding.kind: finding for finding in report.findings}
    assert (found["empty-text"].lines, found["empty-label"].lines) == ((6,), (11,))
    assert {finding.action for finding in found.values()} == {"dropped"} and len(used) == report.kept == 298
    with pytest.raises(DataError, match="nothing is left of reviews.tsv: 2 rows with nothing in column `text`"):
        examine(["", ""], ["a", "b"])


def test_copies_and_contradictions() -> None:
    texts, labels = good_rows()
    texts[30], texts[31] = texts[0], texts[0]  # labels: bad, bad, fair
    _, report = examine(texts, labels)
    found = {finding.kind: finding for finding in report.findings}
    assert set(found) == {"duplicate", "contradiction"}
    assert (found["duplicate"].lines, found["duplicate"].severity) == ((32,), "note")
    assert (found["contradiction"].lines, found["contradiction"].severity) == ((2, 32, 33), "warning")
    assert found["contradiction"].examples[0].startswith("bad: ")


def test_classes_without_enough_examples() -> None:
    texts, labels = good_rows()
    labels[7] = "once"
    labels[10:14] = ["seldom"] * 4
    _, report = examine(texts, labels)
    found = {finding.kind: finding for finding in report.findings}
    assert set(found) == {"single-example", "rare-class"}
    assert (found["single-example"].lines, found["single-example"].severity) == ((9,), "warning")
    assert (
        "1 class with only one example" in found["single-example"].message
        and "(`once`)" in found["single-example"].message
    )
    assert (found["rare-class"].lines, found["rare-class"].severity) == ((12, 13, 14, 15), "note")


def test_one_class_or_as_many_as_rows_are_errors() -> None:
    texts, _ = good_rows()
    _, report = examine(texts, ["good"] * 300)
    assert report.errors == (the(report, "one-class"),) and "every row has the label `good`" in report.text()
    _, report = examine(texts, [str(i) for i in range(300)])
    assert report.errors == (the(report, "many-classes"),) and "not classes" in report.text()


def test_a_class_that_is_nearly_everything() -> None:
    texts, _ = good_rows()
    _, report = examine(texts, ["good"] * 280 + ["bad"] * 20)
    assert "93.3% of the rows have the label `good`" in the(report, "imbalance").message
    assert examine(texts, ["good"] * 260 + ["bad"] * 40)[1].findings == ()


def test_damaged_texts_unreadable_rows_and_too_little() -> None:
    texts, labels = good_rows()
    texts[4] = "ein MÃ¤dchen läuft langsam heim"
    assert the(examine(texts, labels)[1], "mojibake").lines == (6,)
    assert the(examine(*good_rows(90))[1], "little-data").message.startswith("too little data: 90 rows")
    table = table_of(*good_rows())
    broken = Table(table.columns, table.lines, table.origin, (Problem(302, "is empty"),))
    _, report = examine_labels(broken, "text", "label")
    assert the(report, "unreadable").lines == (302,) and (report.total, report.kept) == (301, 300)
