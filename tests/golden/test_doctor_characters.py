"""The doctor names sick characters and foreign scripts in their lines, and lets good text of any language pass."""

import unicodedata

import pytest
from healthy import examine, healthy, only, pairs_of, planted

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


@pytest.mark.parametrize("text", ["itâ€™s", "StraÃ\x9fe", "â€œyes", "Å‚adny", "ÐŸÑ€Ð¸Ð²ÐµÑ‚", "ðŸ‘\x8d", "ï»¿the", "20Â°", "æ—¥æœ¬"])
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
