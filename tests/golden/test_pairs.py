"""Reading pairs: every format gives the same pairs."""

import gzip
import json
import tracemalloc
from pathlib import Path
from xml.sax.saxutils import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pair_files import stdin, tmx, unit, write, write_csv

from headway.data.input_file import InputFile
from headway.data.pairs import Pairs, read_lines, read_pairs
from headway.data.tmx import elements
from headway.tasks.pairs import HeldOut, PairCorpus, read_held_out, read_own, write_held_out
from headway.tasks.translation import Data

SOURCES = ("A dog runs.", 'She says "hello, you".', "Where is the station?")
TARGETS = ("Ein Hund läuft.", "Sie sagt „hallo, du“.", "Wo ist der Bahnhof?")


def jsonl(names: tuple[str, str], nested: bool = False) -> str:
    rows = [dict(zip(names, pair, strict=True)) for pair in zip(SOURCES, TARGETS, strict=True)]
    return "".join(json.dumps({"translation": row} if nested else row) + "\n" for row in rows)


TABLE = "".join(f"{s}\t{t}\n" for s, t in zip(SOURCES, TARGETS, strict=True))
CONTENT = {
    "plain.tsv": TABLE,
    "mark.tsv": "\ufeff" + TABLE,
    "windows.tsv": TABLE.replace("\n", "\r\n"),
    "mac.tsv": TABLE.replace("\n", "\r"),
    "unended.tsv": TABLE.rstrip("\n"),
    "trailing.tsv": TABLE + "\n\n",
    "header.tsv": "source\ttarget\n" + TABLE,
    "short.tsv": "src\ttgt\n" + TABLE,
    "codes.tsv": "en\tde\n" + TABLE,
    "regions.tsv": "en-US\tde_AT\n" + TABLE,
    "scored.tsv": "id\ttarget\tsource\n" + "".join(f"7\t{t}\t{s}\n" for s, t in zip(SOURCES, TARGETS, strict=True)),
    "unknown.txt": TABLE,
    "keys.jsonl": jsonl(("source", "target")),
    "keys.ndjson": jsonl(("src", "tgt")),
    "codes.jsonl": jsonl(("en", "de")),
    "nested.jsonl": jsonl(("en", "de"), nested=True),
    "unknown.data": jsonl(("en", "de")),
    "memory.tmx": tmx("".join(unit(escape(s), escape(t)) for s, t in zip(SOURCES, TARGETS, strict=True))),
    "memory.xml": tmx("".join(unit(escape(s), escape(t)) for s, t in zip(SOURCES, TARGETS, strict=True))),
}


@pytest.mark.parametrize("name", CONTENT)
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gz"])
def test_every_format_gives_the_same_pairs(tmp_path: Path, name: str, packed: bool) -> None:
    data = CONTENT[name].encode()
    path = write(tmp_path / (name + ".gz" * packed), gzip.compress(data) if packed else data)
    found = read_pairs(pairs=path)
    assert (found.sources, found.targets, found.problems, found.origin) == (SOURCES, TARGETS, (), path)
    first = 2 if name.split(".")[0] in ("header", "short", "codes", "regions", "scored") and name.endswith("tsv") else 1
    assert found.lines == (first, first + 1, first + 2)


def test_two_files(tmp_path: Path) -> None:
    source = write(tmp_path / "a.en", "\n".join(SOURCES) + "\n")
    target = write(tmp_path / "a.de", "\ufeff" + "\r\n".join(TARGETS))
    assert read_pairs(source, target) == Pairs(SOURCES, TARGETS, (1, 2, 3), f"{source} + {target}")
    assert len(read_pairs(source, target)) == 3


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_csv_with_quotes_commas_and_line_breaks(tmp_path: Path, delimiter: str) -> None:
    rows = [("source", "target"), ("two\nlines, one cell; yes", "zwei\r\nZeilen"), *zip(SOURCES, TARGETS, strict=True)]
    found = read_pairs(pairs=write_csv(tmp_path / "a.csv", rows, delimiter))
    assert found.sources == ("two lines, one cell; yes", *SOURCES)
    assert found.targets == ("zwei Zeilen", *TARGETS)
    assert found.lines == (2, 5, 6, 7)  # where each row begins; the first spans three lines


@pytest.mark.parametrize("content", [TABLE, jsonl(("en", "de"))])
def test_standard_input(monkeypatch: pytest.MonkeyPatch, content: str) -> None:
    stdin(monkeypatch, content)
    assert read_pairs(pairs="-").targets == TARGETS


def test_languages_choose_columns_keys_and_variants(tmp_path: Path) -> None:
    three = '<tu><tuv xml:lang="fr"><seg>un</seg></tuv>'
    three += '<tuv lang="EN-us"><seg>one</seg></tuv><tuv xml:lang="de"><seg>eins</seg></tuv></tu>'
    paths = [
        write(tmp_path / "a.tsv", "fr\ten-US\tde\nun\tone\teins\n"),
        write(tmp_path / "a.jsonl", '{"translation": {"fr": "un", "en": "one", "de": "eins"}}\n'),
        write(tmp_path / "a.tmx", tmx(three, header="")),
        write_csv(tmp_path / "a.csv", [("fr", "en", "de"), ("un", "one", "eins")]),
    ]
    for path in paths:
        found = read_pairs(pairs=path, languages=("de", "en"))
        assert (found.sources, found.targets) == (("eins",), ("one",))
    odd = write(tmp_path / "odd.tsv", "English\tGerman\nid\tkey\n")
    assert read_pairs(pairs=odd, languages=("german", "english")).sources == ("key",)


def test_tmx_drops_codes_and_keeps_text(tmp_path: Path) -> None:
    source = (
        'Click <bpt i="1">&lt;b&gt;<sub>x</sub></bpt>here<ept i="1">&lt;/b&gt;</ept> <hi>and <hi>now</hi></hi><ph/>, '
    )
    source += '<it pos="begin">c</it>ok.'
    path = write(tmp_path / "a.tmx", tmx(unit(source, "Klick\n  hier."), doctype='<!DOCTYPE tmx SYSTEM "tmx14.dtd">'))
    assert read_pairs(pairs=path).sources == ("Click here and now, ok.",)
    wide = write(
        tmp_path / "b.tmx", tmx(unit("one", "zwölf")).replace('"1.0"', '"1.0" encoding="utf-16"').encode("utf-16")
    )
    assert read_pairs(pairs=wide).targets == ("zwölf",)


def test_tmx_is_a_stream(tmp_path: Path) -> None:
    """Elements are forgotten, so that the memory needed does not grow with the file."""
    path = write(tmp_path / "a.tmx", tmx(unit("one " * 50, "eins " * 50) * 10_000))
    tracemalloc.start()
    assert sum(element.tag == "tu" for element in elements(InputFile(path))) == 10_000
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2_000_000  # bytes; the whole tree takes ten times as much


def test_lines_are_cut_only_at_line_ends(tmp_path: Path) -> None:
    odd = "a\u2028b\x0bc\x0cd\x85e\x1cf\rg"
    path = write(tmp_path / "a.txt", f"{odd}\r\nsecond\n\n last ")
    assert read_lines(path) == [odd, "second", "", " last "]
    assert read_lines(write(tmp_path / "mac.txt", "a\rb\r")) == ["a", "b"]


def test_a_run_keeps_sentences_with_odd_line_ends(tmp_path: Path) -> None:
    """U+2028, U+2029 and U+0085 stand in crawled sentences; JSON does not escape them."""
    part = HeldOut(("a\u2028b", "c\u2029d", "e\x85f", "g\x0ch"), ("1", "2\u2028", "3", "4"))
    write_held_out(PairCorpus(Pairs((), (), (), ""), {"validation": part}, ()), tmp_path)
    assert read_held_out(tmp_path) == {"validation": part}


def test_what_cannot_be_read_of_given_pairs_is_told(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tsv", "a dog\tein Hund\na cat\na cow\teine Kuh\n")
    assert read_own(Data(pairs=path)) == HeldOut(
        ("a dog", "a cow"), ("ein Hund", "eine Kuh"), left_out=("left out: 1 pair that cannot be read",)
    )


def test_read_lines_of_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    stdin(monkeypatch, "\ufeffone\ntwo")
    assert read_lines("-") == ["one", "two"]


def test_fingerprint_depends_on_texts_and_their_order_only() -> None:
    one = Pairs(("a", "b"), ("c", "d"), (1, 2), "x")
    assert one.fingerprint == Pairs(("a", "b"), ("c", "d"), (5, 6), "y").fingerprint
    assert len(one.fingerprint) == 64
    others = [
        Pairs(("b", "a"), ("d", "c"), (1, 2), "x"),
        Pairs(("a", "c"), ("b", "d"), (1, 2), "x"),
        Pairs(("ac", ""), ("b", "d"), (1, 2), "x"),
    ]
    assert len({one.fingerprint, *(other.fingerprint for other in others)}) == 4


# --- whatever is written is read ------------------------------------------------------------------------------------------------

LEGAL = st.characters(exclude_categories=["Cs"], exclude_characters="\r\n\t\0")
XML = st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufeff\ufffe\uffff")


def texts(alphabet: st.SearchStrategy[str]) -> st.SearchStrategy[list[tuple[str, str]]]:
    """Pairs as reading promises them: without white space around them."""
    text = st.text(alphabet, min_size=1).map(lambda t: f"x{t}").map(str.strip)
    return st.lists(st.tuples(text, text), min_size=1, max_size=8)


@given(texts(LEGAL))
def test_written_is_read(tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[str, str]]) -> None:
    folder = tmp_path_factory.mktemp("pairs")
    sources, targets = zip(*pairs, strict=True)
    one = read_pairs(write(folder / "a.src", "\n".join(sources)), write(folder / "a.tgt", "\n".join(targets) + "\n"))
    two = read_pairs(pairs=write(folder / "a.tsv", "source\ttarget\n" + "".join(f"{s}\t{t}\n" for s, t in pairs)))
    rows = "".join(
        json.dumps({"source": s, "target": t}, ensure_ascii=bool(i % 2)) + "\n" for i, (s, t) in enumerate(pairs)
    )
    three = read_pairs(pairs=write(folder / "a.jsonl", rows))
    four = read_pairs(pairs=write_csv(folder / "a.csv", [("source", "target"), *pairs]))
    for found in (one, two, three, four):
        assert (found.sources, found.targets) == (sources, targets)


@given(texts(XML))
def test_written_is_read_from_tmx(tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[str, str]]) -> None:
    path = tmp_path_factory.mktemp("pairs") / "a.tmx"
    found = read_pairs(pairs=write(path, tmx("".join(unit(escape(s), escape(t)) for s, t in pairs))))
    assert list(zip(found.sources, found.targets, strict=True)) == pairs
