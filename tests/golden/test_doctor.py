"""The doctor finds every planted problem in the line where it was planted, and is silent about a healthy corpus."""

import json
import subprocess
import sys
import time

import pytest
from healthy import GERMAN, examine, healthy, only, pairs_of, planted
from hypothesis import given
from hypothesis import strategies as st

from headway.core.errors import DataError
from headway.data import doctor
from headway.data.pairs import Pairs
from headway.data.rows import Problem


def test_a_healthy_corpus_has_no_findings() -> None:
    pairs = pairs_of(*healthy())
    used, report = examine(pairs, heldout=pairs_of(*healthy(50, seed=1), origin="other"))
    assert report.findings == ()
    assert used == pairs
    assert (report.total, report.kept) == (300, 300)
    assert "300 pairs, all kept" in report.text()
    assert "nothing odd was found" in report.text()


def test_the_gravest_comes_first() -> None:
    _, report = examine(
        planted({3: ("the\tdog sees it", "der Hund sieht es"), 4: ("dog " * 50, "Hund " * 50)}), limit=40
    )
    assert [finding.severity for finding in report.findings] == ["warning", "note"]


def test_empty_lines_are_dropped() -> None:
    used, report = examine(planted({4: (None, ""), 19: (None, " "), 33: ("\u200b", None), 40: ("", "")}))
    finding = only(report, "empty")
    assert (finding.count, finding.lines, finding.action) == (4, (4, 19, 33, 40), "dropped")
    assert "4 pairs with an empty line: 1 on the source side, 2 on the target side, 1 on both sides" in finding.message
    assert (len(used), report.kept) == (296, 296)
    assert not {4, 19, 33, 40} & set(used.lines)
    assert "(lines 4, 19, 33, ...): will be dropped" in report.text()
    assert "4 dropped, 296 kept" in report.text()


def test_unreadable_rows_are_told() -> None:
    pairs = pairs_of(*healthy())
    used, report = examine(
        Pairs(pairs.sources, pairs.targets, pairs.lines, "x.tsv", (Problem(301, "has 1 column, expected 2"),))
    )
    finding = only(report, "unreadable")
    assert (finding.lines, finding.action, finding.examples) == (
        (301,),
        "dropped",
        ("line 301 has 1 column, expected 2",),
    )
    assert (report.total, report.kept, used.problems) == (301, 300, ())


def test_too_long_lines_are_dropped() -> None:
    used, report = examine(
        planted({20: ("dog " * 31, "Hund " * 30), 21: ("dog " * 30, "Hund " * 31), 22: ("dog " * 30, "Hund " * 30)}),
        limit=30,
    )
    finding = only(report, "too-long")
    assert (finding.lines, finding.action) == ((20, 21), "dropped")
    assert "longer than 30 words" in finding.message
    assert 22 in used.lines
    _, report = examine(planted({20: (None, "犬" * 600)}), limit=30)  # a script without spaces is not one word
    assert "too-long" in [f.kind for f in report.findings]


def test_wild_ratios_are_dropped_and_unlikely_ones_told() -> None:
    long = " ".join(GERMAN[:20])
    used, report = examine(
        planted(
            {
                50: ("dog", long),
                60: (long, "@@"),
                70: ("the old dog sees the house", long),
                80: ("Yes.", "Ja, das finde ich auch."),
            }
        )
    )
    assert (only(report, "wild-ratio").lines, only(report, "wild-ratio").action) == ((50, 60), "dropped")
    unlikely = next(f for f in report.findings if f.kind == "unlikely-ratio")
    assert (unlikely.lines, unlikely.severity, unlikely.action) == ((70,), "note", "kept")
    assert {70, 80} <= set(used.lines)


def test_ratios_are_relative_to_the_corpus() -> None:
    sources, _ = healthy()
    used, report = examine(
        pairs_of(sources, ["x" * max(1, len(source) // 12) + str(i) for i, source in enumerate(sources)])
    )
    assert len(used) == 300
    assert "wild-ratio" not in [f.kind for f in report.findings]


def test_training_pairs_that_are_held_out_are_dropped() -> None:
    sources, targets = healthy()
    heldout = pairs_of([sources[9], sources[99], "new"], [targets[9], "anders", "neu"], origin="val.tsv")
    used, report = examine(pairs_of(sources, targets), heldout=heldout)
    finding = only(report, "held-out")
    assert (finding.lines, finding.action) == ((10, 100), "dropped")
    assert "held out for evaluation (val.tsv)" in finding.message
    assert not set(used.sources) & set(heldout.sources)


def test_repetitions_are_kept_and_told() -> None:
    sources, targets = healthy()
    changes = {
        30: (sources[0], targets[0]),
        31: (sources[0], targets[0]),
        45: (sources[1], "ganz anders gesagt ist das hier"),
        70: ("Paris 7", "Paris 7"),
    }
    used, report = examine(planted(changes))
    found = {finding.kind: finding for finding in report.findings}
    assert found["duplicate"].lines == (30, 31)
    assert found["several-targets"].lines == (2, 45)
    assert found["untranslated"].lines == (70,)
    assert {f.severity for f in found.values()} == {"note"}
    assert len(used) == 300


def test_a_largely_untranslated_corpus_is_a_warning() -> None:
    sources, targets = healthy()
    _, report = examine(pairs_of(sources, sources[:30] + targets[30:]))
    assert only(report, "untranslated").severity == "warning"


class Letters:
    """A tokenizer of letters that does not know the q."""

    unknown = 3

    def encode(self, texts: list[str]) -> list[list[int]]:
        return [[3 if c == "q" else ord(c) for c in text.replace(" ", "")] for text in texts]


def test_what_the_tokenizer_does() -> None:
    sources, targets = healthy()
    sources[16], targets[16] = "a quay", "ein Kai"
    pairs = pairs_of(sources, targets)
    _, report = examine(pairs, tokenizer=Letters(), limit=1000)
    finding = next(f for f in report.findings if f.kind == "unknown-tokens" and f.severity == "note")
    assert finding.lines == (17,)
    letters = sum(len(text.replace(" ", "")) for text in (*sources, *targets))
    tokens = report.statistics["tokens"]
    assert tokens["tokens"] == letters
    assert tokens["unknown"] == sum(text.count("q") for text in (*sources, *targets)) / letters
    assert tokens["longest"] == max(len(text.replace(" ", "")) for text in (*sources, *targets))
    assert tokens["per_word"] == pytest.approx(letters / sum(len(text.split()) for text in (*sources, *targets)))
    _, report = examine(planted({3: ("q" * 1500, "q" * 1500)}), tokenizer=Letters(), limit=2000)
    assert only(report, "unknown-tokens").severity == "warning"


def test_which_lines_cost_the_memory() -> None:
    _, report = examine(planted({40: ("dog " * 100, "Hund " * 100), 41: ("dog " * 200, "Hund " * 200)}))
    finding = only(report, "costly")
    assert (finding.lines, finding.severity, finding.action) == ((41, 40), "note", "kept")  # the longest first
    rest = [max(len(s.split()), len(t.split()), len(s) // 16, len(t) // 16) for s, t in zip(*healthy(), strict=True)]
    share = (100**2 + 200**2) / (100**2 + 200**2 + sum(n * n for i, n in enumerate(rest) if i not in (39, 40)))
    assert f"with {share:.0%} of the cost of attention" in finding.message
    assert report.statistics["cost"]["longest_lines"][:2] == [41, 40]


def test_nothing_left() -> None:
    with pytest.raises(DataError, match="nothing is left of corpus: 2 pairs with an empty line") as caught:
        examine(pairs_of(["", "a"], ["b", ""]))
    assert caught.value.hint == "every line needs a text on both sides."
    with pytest.raises(DataError, match="no pairs"):
        examine(pairs_of([], []))


def test_the_hint_fits_what_left_nothing() -> None:
    pairs = pairs_of(*healthy())
    with pytest.raises(DataError, match="300 pairs whose source is held out") as caught:
        examine(pairs, heldout=pairs)
    assert "training and validation hold the same sentences" in caught.value.hint and "limit" not in caught.value.hint
    with pytest.raises(DataError, match="300 pairs longer than 2 words") as caught:
        examine(pairs, limit=2)
    assert "--data.longest" in caught.value.hint


def test_too_little_data_is_a_warning_with_the_number() -> None:
    for count, found in ((1, ["warning"]), (999, ["warning"]), (1000, [])):
        _, report = doctor.examine(pairs_of(*healthy(count)))
        assert [f.severity for f in report.findings if f.kind == "little-data"] == found
    _, report = doctor.examine(pairs_of(*healthy(42)))
    assert (
        "warning: too little data: 42 pairs; a model needs at least about 1,000 to learn more than these: kept"
        in report.text()
    )


def test_report_as_json_and_as_text() -> None:
    _, report = examine(planted({4: (None, ""), 5: (None, "ein MÃ¤dchen läuft langsam heim")}))
    value = json.loads(json.dumps(report.to_json()))
    assert value == report.to_json()
    assert [finding["kind"] for finding in value["findings"]] == ["empty", "mojibake"]
    assert value["statistics"]["lines"] == 299
    assert {"words", "vocabulary", "characters", "mean", "median", "max"} == set(value["statistics"]["source"])
    text = report.text()
    assert "; words per line: mean " in text and ", median " in text and "in the middle" not in text
    assert "warning: 1 pair with an empty line: 1 on the target side (line 4): will be dropped" in text
    assert "warning: 1 pair with UTF-8 that was read as Latin-1 (mojibake): 1 on the target side (line 5): kept" in text


def test_statistics_are_right() -> None:
    _, report = examine(pairs_of(["a b c", "a"], ["eins zwei", "drei vier fünf sechs"]))
    assert report.statistics["source"] == {
        "words": 4,
        "vocabulary": 3,
        "characters": 6,
        "mean": 2.0,
        "median": 2.0,
        "max": 3,
    }
    assert report.statistics["target"]["characters"] == 29
    assert report.statistics["ratio_median"] == pytest.approx((6 / 10 + 2 / 21) / 2)


SIDE = st.lists(st.text(max_size=60), min_size=1, max_size=30)


@given(SIDE, st.data())
def test_every_dropped_line_is_accounted_for(sources: list[str], data: st.DataObject) -> None:
    targets = data.draw(st.lists(st.text(max_size=60), min_size=len(sources), max_size=len(sources)))
    pairs = pairs_of([*sources, "at least one"], [*targets, "wenigstens eins"])
    used, report = examine(
        pairs, heldout=pairs_of(sources[:1], targets[:1]) if sources[0] != "at least one" else None, limit=8
    )
    assert report.total - report.kept == sum(f.count for f in report.findings if f.action == "dropped")
    assert [(pairs.sources[n - 1], pairs.targets[n - 1]) for n in used.lines] == list(
        zip(used.sources, used.targets, strict=True)
    )
    again, second = examine(used, limit=8)
    assert again.sources == used.sources or "wild-ratio" in [f.kind for f in second.findings]
    json.dumps(report.to_json())


def test_it_is_quick_and_light() -> None:
    pairs = pairs_of(*healthy(30_000))
    start = time.process_time()
    examine(pairs)
    assert time.process_time() - start < 4  # about 1 s; the margin is for a busy machine
    script = "import sys, headway.data.doctor; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
