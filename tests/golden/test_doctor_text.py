"""The doctor of plain text finds what was planted, in its line, in the pass that counts the text anyway."""

import json
import random
import unicodedata
from pathlib import Path

import pytest
from healthy import ENGLISH, GERMAN

from headway.data import text as texts
from headway.data.findings import Finding, Report
from headway.data.text import Text, examine_text


def prose(lines: int = 3000, seed: int = 0) -> list[str]:
    """Lines of 8 to 14 words, no two alike."""
    rng = random.Random(seed)
    words = [*ENGLISH, *GERMAN]
    return [f"{number} " + " ".join(rng.choices(words, k=rng.randint(8, 14))) for number in range(lines)]


def report_of(path: Path, lines: list[str]) -> Report:
    path.write_bytes("\n".join(lines).encode())
    return examine_text(str(path))


def the(report: Report, kind: str) -> Finding:
    assert [finding.kind for finding in report.findings] == [kind], report.text()
    return report.findings[0]


def test_good_text_has_no_findings(tmp_path: Path) -> None:
    lines = prose()
    report = report_of(tmp_path / "a.txt", lines)
    assert report.findings == () and "nothing odd was found" in report.text()
    characters = len("\n".join(lines))
    assert report.statistics["characters"] == characters and report.statistics["lines"] == 3000
    assert report.statistics["longest_line"] == max(map(len, lines))
    assert report.statistics["different_characters"] == len(set("\n".join(lines)))
    assert f"{characters:,} characters" in report.text() and "1 document, all kept" in report.text()
    assert json.loads(json.dumps(report.to_json())) == report.to_json()


DAMAGED = {
    "replacement": "ein M\ufffddchen läuft langsam heim",
    "mojibake": "ein MÃ¤dchen läuft langsam heim",
    "control": "ein Maed\x07chen laeuft langsam heim",
    "homoglyph": "ein Mäd\u0441hen läuft langsam heim",
    "not-normalised": unicodedata.normalize("NFD", "ein Mädchen läuft langsam heim"),
    "carriage-return": "ein Mädchen läuft langsam heim\r",
    "long-line": "ein Mädchen " * 1000,
}


@pytest.mark.parametrize("kind", DAMAGED)
def test_planted_damage_is_found_in_its_line(tmp_path: Path, kind: str) -> None:
    lines = prose()
    lines[2345] = DAMAGED[kind]
    finding = the(report_of(tmp_path / "a.txt", lines), kind)
    assert (finding.lines, finding.count, finding.action) == ((2346,), 1, "kept")
    assert finding.examples and "(line 2346)" in finding.text()


def test_mojibake_of_latin_1_is_mojibake_too(tmp_path: Path) -> None:
    report = report_of(tmp_path / "a.txt", [*prose(), "auf der StraÃ\x9fe"])  # ß; windows-1252 has Ÿ for the second byte
    assert {finding.kind for finding in report.findings} == {"mojibake", "control"}


def test_repeated_lines_are_a_note_and_many_a_warning(tmp_path: Path) -> None:
    lines = prose()
    finding = the(report_of(tmp_path / "a.txt", [*lines, lines[0], "}", "}", "}"]), "repeated-line")
    assert (finding.count, finding.lines, finding.severity) == (1, (3001,), "note")
    finding = the(report_of(tmp_path / "a.txt", lines * 2), "repeated-line")
    assert (finding.count, finding.severity) == (3000, "warning") and "50.0% of all lines" in finding.message


def test_documents_that_repeat_or_are_nearly_empty(tmp_path: Path) -> None:
    rows = [*prose(2500), "short", prose(1)[0]]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps({"text": row}) + "\n" for row in rows))
    report = examine_text(str(tmp_path / "a.jsonl"))
    found = {finding.kind: finding for finding in report.findings}
    assert set(found) == {"short-document", "repeated-line", "repeated-document"} and report.total == 2502
    assert (found["short-document"].lines, found["repeated-document"].lines) == ((2501,), (2502,))
    assert found["repeated-document"].severity == "warning" and "(document 2502)" in found["repeated-document"].text()


def test_too_little_text_is_a_warning_with_the_number(tmp_path: Path) -> None:
    finding = the(report_of(tmp_path / "a.txt", ["a few words"]), "little-data")
    assert finding.severity == "warning" and "too little text: 11 characters" in finding.message


def test_files_that_are_left_out_are_reported(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("\n".join(prose()))
    (tmp_path / "b.png").write_bytes(b"\x89PNG....")
    finding = the(examine_text(str(tmp_path)), "not-text")
    assert (finding.examples, finding.action) == (("`b.png` is a PNG picture, not text",), "dropped")


def test_size_and_report_take_one_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.txt").write_text("\n".join(prose(10)))
    passes = []
    original = texts.read_documents
    monkeypatch.setattr(texts, "read_documents", lambda file: passes.append(file) or original(file))
    text = Text(str(tmp_path / "a.txt"))
    assert text.size.characters == text.report.statistics["characters"] and text.size.sha256
    assert len(passes) == 1
