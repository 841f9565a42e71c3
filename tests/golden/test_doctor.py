"""The doctor finds every planted problem in the line where it was planted, and is silent about a healthy corpus."""

import json
import random
import subprocess
import sys
import time
import unicodedata
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.core.errors import DataError
from headway.data.columns import Problem
from headway.data.doctor import examine
from headway.data.drift import find_drift
from headway.data.findings import Finding, Report
from headway.data.pairs import Pairs

WORDS = """the-der a-ein small-kleiner big-große old-alte red-rote green-grüne dog-Hund cat-Katze house-Haus street-Straße
    child-Kind woman-Frau man-Mann sees-sieht finds-findet likes-mag takes-nimmt near-nahe under-unter behind-hinter
    today-heute slowly-langsam"""
ENGLISH, GERMAN = zip(*(pair.split("-") for pair in WORDS.split()), strict=True)


def healthy(count: int = 300, seed: int = 0) -> tuple[list[str], list[str]]:
    """A word-for-word language of lines of 4 to 24 words, no two alike."""
    rng = random.Random(seed)
    sources, targets = [], []
    for number in range(count):
        words = [rng.randrange(len(ENGLISH)) for _ in range(rng.randint(4, 24))]
        sources.append(" ".join(ENGLISH[w] for w in words) + f" {number}.")
        targets.append(" ".join(GERMAN[w] for w in words) + f" {number}.")
    return sources, targets


def pairs_of(sources: list[str], targets: list[str], origin: str = "corpus") -> Pairs:
    return Pairs(tuple(sources), tuple(targets), tuple(range(1, len(sources) + 1)), origin)


def planted(changes: Mapping[int, tuple[str | None, str | None]]) -> Pairs:
    """A healthy corpus with the given lines (from 1) replaced; None leaves a side alone."""
    sources, targets = healthy()
    for line, (source, target) in changes.items():
        sources[line - 1] = sources[line - 1] if source is None else source
        targets[line - 1] = targets[line - 1] if target is None else target
    return pairs_of(sources, targets)


def only(report: Report, kind: str) -> Finding:
    """The finding of that kind, which must be the only one that is more than a note."""
    found = [finding for finding in report.findings if finding.kind == kind]
    assert len(found) == 1, report.text()
    assert not [f for f in report.findings if f.severity != "note" and f.kind != kind], report.text()
    return found[0]


def test_a_healthy_corpus_has_no_findings() -> None:
    pairs = pairs_of(*healthy())
    used, report = examine(pairs, heldout=pairs_of(*healthy(50, seed=1), origin="other"))
    assert report.findings == ()
    assert used == pairs
    assert (report.total, report.kept) == (300, 300)
    assert "300 pairs, all kept" in report.text()
    assert "nothing odd was found" in report.text()


GOOD_TEXT = [
    "„Viel Spaß“, sagte er – „groß…“ und ging; das „Ä“ fehlt.", "Le café\xa0» où l’on lit «\xa0Noël\xa0», ça coûte 3\xa0€ !",
    "NÃO É SÃO PAULO, Â É OK.",
    "Smørrebrød på Åland, Ærø og Østerbro’s façade", "5 µm, ΔT = 3 K, πr² and 20 °C", "Łódź, Škoda, Çeşme, Þór, Đà Nẵng",
    "emoji 👍🏽 and 👩‍💻",
]  # fmt: skip


@pytest.mark.parametrize("text", GOOD_TEXT)
def test_good_text_raises_no_warnings(text: str) -> None:
    _, report = examine(planted({7: (text, text + "!")}))
    assert [f for f in report.findings if f.severity != "note"] == []


@pytest.mark.parametrize(
    "text", ["привет мир, как дела сегодня", "今日は良い天気ですね、iPhoneを買いました", "שלום עולם טוב", "안녕하세요 세계 漢字"]
)
def test_other_scripts_are_at_home_on_their_side(text: str) -> None:
    sources, _ = healthy()
    _, report = examine(pairs_of(sources, [f"{text} {source.count(' ') * text[:3]} {i}" for i, source in enumerate(sources)]))
    assert report.findings == ()
    assert report.kept == 300


SYMPTOMS = {
    "replacement": "ein M\ufffddchen läuft langsam heim",
    "mojibake": "ein MÃ¤dchen läuft langsam heim",
    "control": "ein Mäd\x07chen läuft langsam heim",
    "homoglyph": "ein Mäd\u0441hen läuft langsam heim",  # a Cyrillic letter that looks like c
    "not-normalised": unicodedata.normalize("NFD", "ein Mädchen läuft langsam heim"),
}


@pytest.mark.parametrize("side", ["source", "target"])
@pytest.mark.parametrize("kind", SYMPTOMS)
def test_sick_characters(kind: str, side: str) -> None:
    text = SYMPTOMS[kind]
    change = (text, None) if side == "source" else (None, text)
    used, report = examine(planted({5: change, 90: change}))
    finding = only(report, kind)
    assert (finding.count, finding.lines, finding.severity, finding.action) == (2, (5, 90), "warning", "kept")
    assert f"2 on the {side} side" in finding.message
    assert "langsam" in finding.examples[0]
    assert text in (used.sources if side == "source" else used.targets)


@pytest.mark.parametrize(
    "text", ["itâ€™s", "StraÃ\x9fe", "â€œyes", "Å‚adny", "ÐŸÑ€Ð¸Ð²ÐµÑ‚", "ðŸ‘\x8d", "ï»¿the", "20Â°", "æ—¥æœ¬"]
)
def test_kinds_of_mojibake(text: str) -> None:
    _, report = examine(planted({8: (None, f"ein {text} Hund")}))
    assert [f.lines for f in report.findings if f.kind == "mojibake"] == [(8,)]


@pytest.mark.parametrize(
    ("space", "name"), [("\t", "tab"), ("\u00a0", "no-break space"), ("  ", "double space"), ("\u200b", "zero width space")]
)
def test_odd_white_space_is_a_note(space: str, name: str) -> None:
    _, report = examine(planted({3: (f"the old{space}dog sees", None)}))
    finding = only(report, "white-space")
    assert (finding.lines, finding.severity) == ((3,), "note")
    assert f"odd white space ({name})" in finding.message


def test_a_symptom_counts_once_per_line_and_at_its_beginning() -> None:
    _, report = examine(planted({5: ("\x07the\x07 dog\x07 sees", "\x07der Hund sieht")}))
    finding = only(report, "control")
    assert finding.lines == (5,)
    assert finding.message == "1 pair with control characters: 1 on the source side and 1 on the target side"


@pytest.mark.parametrize(("home", "guest"), [("слово ", "iPhone"), ("단어 ", "漢字")])
def test_guests_that_are_never_foreign(home: str, guest: str) -> None:
    sources, _ = healthy()
    targets = [home * source.count(" ") + str(i) for i, source in enumerate(sources)]
    targets[20] += f" {guest}"
    assert examine(pairs_of(sources, targets))[1].findings == ()


def test_the_gravest_comes_first() -> None:
    _, report = examine(planted({3: ("the\tdog sees it", "der Hund sieht es"), 4: ("dog " * 50, "Hund " * 50)}), limit=40)
    assert [finding.severity for finding in report.findings] == ["warning", "note"]


def test_foreign_script_is_a_note_with_the_name_of_the_script() -> None:
    _, report = examine(planted({11: (None, "der Hund Москва sieht Haus"), 12: ("the γάτα cat sees", None)}))
    finding = only(report, "foreign-script")
    assert (finding.lines, finding.severity) == ((11, 12), "note")
    assert "Cyrillic and Greek letters" in finding.message
    _, report = examine(planted({13: (None, "der Hund 犬 sieht Haus heute")}))
    assert "East Asian letters" in only(report, "foreign-script").message


def test_examples_show_what_cannot_be_seen() -> None:
    _, report = examine(planted({5: (None, "x" * 100 + " rot \x1b[31m und mehr")}))
    example = next(f for f in report.findings if f.kind == "control").examples[0]
    assert "\\u001b[31m" in example
    assert len(example) < 100
    assert "\x1b" not in report.text()


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
    used, report = examine(Pairs(pairs.sources, pairs.targets, pairs.lines, "x.tsv", (Problem(301, "has 1 column, expected 2"),)))
    finding = only(report, "unreadable")
    assert (finding.lines, finding.action, finding.examples) == ((301,), "dropped", ("line 301 has 1 column, expected 2",))
    assert (report.total, report.kept, used.problems) == (301, 300, ())


def test_too_long_lines_are_dropped() -> None:
    used, report = examine(
        planted({20: ("dog " * 31, "Hund " * 30), 21: ("dog " * 30, "Hund " * 31), 22: ("dog " * 30, "Hund " * 30)}), limit=30
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
    used, report = examine(pairs_of(sources, ["x" * max(1, len(source) // 12) + str(i) for i, source in enumerate(sources)]))
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


@pytest.mark.parametrize(
    ("first", "last", "shift", "severity"), [(100, 300, -1, "error"), (0, 300, 2, "error"), (150, 195, 1, "warning")]
)
def test_drift_of_files_of_equal_length(first: int, last: int, shift: int, severity: str) -> None:
    sources, targets = healthy()
    part = targets[first:last]
    targets[first:last] = part[-shift:] + part[:-shift]
    used, report = examine(pairs_of(sources, targets))
    finding = only(report, "drift")
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


def test_no_drift_is_seen_in_healthy_corpora() -> None:
    assert [seed for seed in range(40) if find_drift(*healthy(400, seed))] == []
    same_length = ["abc"] * 300
    assert find_drift(same_length, same_length) is None
    gaps = [target if i % 3 else "" for i, target in enumerate(healthy()[1])]
    assert find_drift(healthy()[0], gaps) is None
    block = healthy()[1][:100] + [""] * 60 + healthy()[1][160:]
    assert find_drift(healthy()[0], block) is None


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
    assert "raise the limit" in caught.value.hint
    with pytest.raises(DataError, match="no pairs"):
        examine(pairs_of([], []))


def test_report_as_json_and_as_text() -> None:
    _, report = examine(planted({4: (None, ""), 5: (None, SYMPTOMS["mojibake"])}))
    value = json.loads(json.dumps(report.to_json()))
    assert value == report.to_json()
    assert [finding["kind"] for finding in value["findings"]] == ["empty", "mojibake"]
    assert value["statistics"]["lines"] == 299
    assert {"words", "vocabulary", "characters", "mean", "median", "max"} == set(value["statistics"]["source"])
    text = report.text()
    assert "warning: 1 pair with an empty line: 1 on the target side (line 4): will be dropped" in text
    assert "warning: 1 pair with UTF-8 that was read as Latin-1 (mojibake): 1 on the target side (line 5): kept" in text


def test_statistics_are_right() -> None:
    _, report = examine(pairs_of(["a b c", "a"], ["eins zwei", "drei vier fünf sechs"]))
    assert report.statistics["source"] == {"words": 4, "vocabulary": 3, "characters": 6, "mean": 2.0, "median": 2.0, "max": 3}
    assert report.statistics["target"]["characters"] == 29
    assert report.statistics["ratio_median"] == pytest.approx((6 / 10 + 2 / 21) / 2)


SIDE = st.lists(st.text(max_size=60), min_size=1, max_size=30)


@given(SIDE, st.data())
def test_every_dropped_line_is_accounted_for(sources: list[str], data: st.DataObject) -> None:
    targets = data.draw(st.lists(st.text(max_size=60), min_size=len(sources), max_size=len(sources)))
    pairs = pairs_of([*sources, "at least one"], [*targets, "wenigstens eins"])
    used, report = examine(pairs, heldout=pairs_of(sources[:1], targets[:1]) if sources[0] != "at least one" else None, limit=8)
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
