"""Reading pairs: every way a file can be wrong gives its own message."""

import gzip
from pathlib import Path

import pytest
from pair_files import refused, stdin, tmx, unit, write

from headway.core.errors import UsageError
from headway.data.pairs import read_pairs
from headway.data.rows import Problem


def test_missing_directory_and_empty(tmp_path: Path) -> None:
    for suffix in ("tsv", "tmx"):
        refused(f"there is no file `{tmp_path}/no.{suffix}`", hint="looked in", pairs=f"{tmp_path}/no.{suffix}")
        (tmp_path / f"folder.{suffix}").mkdir()
        refused("is a directory", hint="", pairs=f"{tmp_path}/folder.{suffix}")
        refused("is empty", hint="expected", pairs=write(tmp_path / f"empty.{suffix}", ""))
    refused(
        "is empty", hint="one sentence", source=write(tmp_path / "e.en", "\ufeff"), target=write(tmp_path / "e.de", "x")
    )
    refused("holds no pairs", hint="after the header", pairs=write(tmp_path / "h.tsv", "source\ttarget\n"))


@pytest.mark.parametrize(
    ("content", "kind", "hint"),
    [
        (gzip.compress(b"text", mtime=0), "gzip data", "`.gz`"),
        (b"%PDF-1.7 ...", "a PDF document", "plain text"),
        (b"\x89PNG\r\n", "a PNG picture", "plain text"),
        (b"PK\x03\x04", "a zip archive", "plain text"),
        (b"one\ntwo\0\n", "a binary file (a NUL byte in line 2)", "UTF-8"),
    ],
)
def test_binary_files(tmp_path: Path, content: bytes, kind: str, hint: str) -> None:
    refused(kind, "not text", hint=hint, pairs=write(tmp_path / "a.tsv", content))


def test_damaged_gzip(tmp_path: Path) -> None:
    for name in ("a.tsv.gz", "a.tmx.gz"):
        refused("cannot", name, hint="copy", pairs=write(tmp_path / name, gzip.compress(b"<tmx>one\ttwo\n" * 99)[:-9]))
        refused("cannot", name, hint="copy", pairs=write(tmp_path / name, b"one\ttwo\n"))


def test_other_encodings(tmp_path: Path) -> None:
    latin = write(tmp_path / "a b.de", "eins\nein Mädchen\n".encode("latin-1"))
    other = write(tmp_path / "a.en", "one\na girl\n")
    message = refused(
        "0xe4 in line 2, byte 6",
        "Latin-1",
        "ein Mädchen",
        hint="iconv -f WINDOWS-1252 -t UTF-8",
        source=other,
        target=latin,
    )
    assert "is not UTF-8" in message
    refused(hint=f"'{tmp_path}/a b.utf8.de'", source=other, target=latin)
    mixed = write(tmp_path / "b.de", "schön\n".encode() + b"\xe4\n")
    refused("line 2, byte 1", "a few bytes are broken", hint="iconv -c -f UTF-8", source=other, target=mixed)
    wide = write(tmp_path / "c.de", "eins\nzwei\n".encode("utf-16"))
    refused("is UTF-16, expected UTF-8", hint="iconv -f UTF-16 -t UTF-8", source=other, target=wide)
    bare = write(tmp_path / "d.de", "eins\nzwei\n".encode("utf-16-le"))
    refused("UTF-16 without a byte order mark", hint="iconv -f UTF-16LE", source=other, target=bare)
    packed = write(tmp_path / "e.de.gz", gzip.compress("ä\n".encode("latin-1")))
    refused("is not UTF-8", hint="zcat", source=other, target=packed)


def test_bad_rows_are_told_and_dropped(tmp_path: Path) -> None:
    good = '{"source": "a", "target": "b"}\n'
    bad = [
        '{"source": "a", "tar',
        '{"source": "a"}',
        '{"source": "a", "target": 7}',
        "[1]",
        "",
        r'{"source": "\ud800", "target": "b"}',
    ]
    found = read_pairs(pairs=write(tmp_path / "a.jsonl", good + "".join(row + "\n" + good for row in bad)))
    assert found.lines == (1, 3, 5, 7, 9, 11, 13)
    assert [problem.line for problem in found.problems] == [2, 4, 6, 8, 10, 12]
    phrases = [
        "is not JSON",
        "has no key `target`; its keys are `source`",
        "a number under `target`",
        "is a list",
        "is empty",
        "surrogate",
    ]
    for problem, phrase in zip(found.problems, phrases, strict=True):
        assert phrase in problem.message
    rows = read_pairs(pairs=write(tmp_path / "a.tsv", "a\tb\none\nc\td\n\ne\tf\n1\t2\t3\n"))
    assert rows.problems == (
        Problem(2, "has 1 column, expected 2"),
        Problem(4, "is empty"),
        Problem(6, "has 3 columns, expected 2"),
    )
    assert rows.lines == (1, 3, 5)
    assert read_pairs(pairs=write(tmp_path / "c.tsv", "a\tb\n\t\n\n")).lines == (
        1,
        2,
    )  # a tab alone is a pair of empty texts
    assert read_pairs(pairs=write(tmp_path / "c.csv", "a\rb,c\nd,e\n")).sources == ("a b", "d")
    first = read_pairs(pairs=write(tmp_path / "b.tsv", "a title\na\tb\nc\td\n"))
    assert (first.lines, first.problems) == ((2, 3), (Problem(1, "has 1 column, expected 2"),))


def test_stray_quotes_in_csv_swallow_nothing_in_silence(tmp_path: Path) -> None:
    row = "one,eins\n"
    found = read_pairs(pairs=write(tmp_path / "a.csv", row * 3 + '"two,zwei\n' + row + 'th"ree,drei\n' + row * 3))
    assert found.lines == (1, 2, 3, 7, 8, 9)
    assert found.problems[0].line == 4
    assert "reaches to line 6" in found.problems[0].message
    open_ = read_pairs(pairs=write(tmp_path / "b.csv", row * 3 + '"two,zwei\n' + row))
    assert "never closed; lines 4 to 5 are lost" in open_.problems[0].message


def test_mostly_bad_is_an_error_that_tells_all(tmp_path: Path) -> None:
    rows = '{"source": "a", "target": "b"}\n{"x": 1}\nnonsense\n'
    message = refused("2 of 3 lines cannot be read", hint="--languages", pairs=write(tmp_path / "a.jsonl", rows))
    assert "\n  - line 2 has no key `source`, `target`; its keys are `x`" in message
    assert "\n  - line 3 is not JSON: expecting value" in message
    keys = '{"id": 1, "text": "a", "label": "b"}\n'
    refused("line 1 has the keys `id`, `text`, `label`", hint="--languages", pairs=write(tmp_path / "b.jsonl", keys))
    half = tmx(unit("one", "eins") + '<tu><tuv xml:lang="en"><seg>x</seg></tuv></tu>' * 2)
    refused("2 of 3 units", "unit 2 has no `de`", hint="--languages", pairs=write(tmp_path / "a.tmx", half))


def test_columns_that_do_not_tell(tmp_path: Path) -> None:
    three = write(tmp_path / "a.tsv", "id\tenglish\tgerman\n1\tone\teins\n")
    refused("has 3 columns: `id`, `english`, `german`", "expected two", hint="--languages 2,3", pairs=three)
    refused("has 3 columns", hint='--languages "english,german"', pairs=three)
    refused(
        "expected two, or a header with `en`, `fr`",
        hint="",
        pairs=write(tmp_path / "b.tsv", "en\tde\na\tb\n"),
        languages=("en", "fr"),
    )
    refused("has 1 column: `no tabs here`", hint="source", pairs=write(tmp_path / "c.tsv", "no tabs here\n"))


def test_columns_are_chosen_by_number(tmp_path: Path) -> None:
    bare = write(tmp_path / "a.tsv", "7\tone\teins\n8\ttwo\tzwei\n")
    found = read_pairs(pairs=bare, languages=("3", "2"))
    assert (found.sources, found.targets, found.lines) == (("eins", "zwei"), ("one", "two"), (1, 2))
    headed = write(tmp_path / "b.tsv", "id\tsource\ttarget\n7\tone\teins\n")
    assert read_pairs(pairs=headed, languages=("3", "2")).sources == ("eins",)
    codes = write(tmp_path / "d.tsv", "number\ten\tde\n7\tone\teins\n")
    assert read_pairs(pairs=codes, languages=("3", "2")).sources == ("eins",), "two languages make a header"
    for wrong in (("1", "4"), ("2", "2"), ("0", "1")):
        message = f"has 3 columns, columns {wrong[0]} and {wrong[1]} were asked for"
        refused(message, hint="from 1 to 3, source first: `--languages 1,2`", pairs=bare, languages=wrong)
    spaced = write(tmp_path / "c.csv", "Id,Source text,Target text\n1,one,eins\n")
    refused("has 3 columns", hint='`--languages "Source text,Target text"`', pairs=spaced)
    assert read_pairs(pairs=spaced, languages=("Source text", "Target text")).targets == ("eins",)


def test_lines_that_are_wrong_in_the_same_way_are_reported_once(tmp_path: Path) -> None:
    lists = write(tmp_path / "a.jsonl", '["one", "eins"]\n' * 20)
    message = refused("line 1 is a list, expected an object in braces (and 19 more lines)", hint="like {", pairs=lists)
    assert "\n" not in message
    keys = write(tmp_path / "b.jsonl", '{"id": 7, "question": "a", "answer": "b"}\n' * 20)
    message = refused(
        "line 1 has the keys `id`, `question`, `answer` (and 19 more", hint='--languages "question,answer"', pairs=keys
    )
    assert "\n" not in message
    assert read_pairs(pairs=keys, languages=("question", "answer")).sources == ("a",) * 20


def test_formats_that_do_not_tell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refused(
        "cannot tell the format",
        ".tsv, .csv, .jsonl",
        ".tmx",
        hint="--source",
        pairs=write(tmp_path / "a.txt", "prose\nmore\n"),
    )
    refused(
        "is one JSON list", hint="jq -c '.[]'", pairs=write(tmp_path / "a.json", '[{"source": "a", "target": "b"}]')
    )
    stdin(monkeypatch, "prose\n")
    refused("format of standard input", "TSV, TMX or JSON lines", hint="tab", pairs="-")
    stdin(monkeypatch, "")
    refused("standard input is empty", hint="UTF-8", pairs="-")


def test_tmx_that_cannot_be_used(tmp_path: Path) -> None:
    path = tmp_path / "a.tmx"
    third = '<tu><tuv xml:lang="fr"><seg>un</seg></tuv></tu>'
    refused(
        "`en` (1), `de` (1), `fr` (1)",
        "calls `en` the source",
        hint="--languages",
        pairs=write(path, tmx(unit("a", "b") + third)),
    )
    refused(
        "does not say which is the source",
        hint="--languages",
        pairs=write(path, tmx(unit("a", "b"), header="<header/>")),
    )
    refused(
        "has no `en`, `fr` pairs",
        "`de` (1)",
        hint="--languages",
        pairs=write(path, tmx(unit("a", "b"))),
        languages=("en", "fr"),
    )
    refused("no translation units", hint="<tu>", pairs=write(path, tmx("")))
    refused("not well-formed XML", "line 3", hint="xmllint", pairs=write(path, tmx(unit("a", "b"))[:-40]))
    refused("a PNG picture", hint="", pairs=write(path, b"\x89PNG...."))
    refused("encoding", hint="UTF-8", pairs=write(path, '<?xml version="1.0" encoding="shift_jis"?><tmx/>'))


def test_tmx_never_expands_declared_entities(tmp_path: Path) -> None:
    laughs = '<!DOCTYPE tmx [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>\n'
    refused(
        "declares an XML entity (`a`)",
        hint="<!ENTITY",
        pairs=write(tmp_path / "a.tmx", tmx(unit("&b;", "x"), doctype=laughs)),
    )
    secret = write(tmp_path / "secret", "password")
    outside = f'<!DOCTYPE tmx [<!ENTITY a SYSTEM "file://{secret}">]>\n'
    refused(
        "declares an XML entity",
        hint="<!ENTITY",
        pairs=write(tmp_path / "b.tmx", tmx(unit("&a;", "x"), doctype=outside)),
    )
    late = "<!-- " + "x" * 200_000 + " -->" + laughs
    refused(
        "declares an XML entity", hint="<!ENTITY", pairs=write(tmp_path / "c.tmx", tmx(unit("&b;", "x"), doctype=late))
    )


@pytest.mark.parametrize(
    ("given", "came"),
    [
        ({}, "none given"),
        ({"source": "a"}, "`source` given"),
        ({"source": "a", "pairs": "b"}, "`source` and `pairs` given"),
    ],
)
def test_arguments_that_make_no_sense(given: dict[str, str], came: str) -> None:
    with pytest.raises(UsageError, match=came) as caught:
        read_pairs(**given)  # type: ignore[arg-type]
    assert "--source train.en --target train.de" in caught.value.hint


def test_the_same_input_twice() -> None:
    with pytest.raises(UsageError, match="standard input can be read only once"):
        read_pairs("-", "-")
    with pytest.raises(UsageError, match="the same file `a`"):
        read_pairs("a", "a")


def test_messages_never_steer_the_terminal(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tsv", "\x1b[31mred\tb\tc\n")
    assert "\x1b" not in refused("\\u001b[31mred", hint="", pairs=path)
