"""Tables: every format gives the same columns, and every way a table can be wrong gives its own message."""

import gzip
import importlib.util
import json
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pair_files import write, write_csv

from headway.core.errors import DataError
from headway.data.cells import to_time
from headway.data.rows import Problem, cell_text
from headway.data.table import Table, read_table

ROWS = [("1", "very, good", "5"), ("2", 'a "bad" one', "1"), ("3", "", "3")]
NAMES = ("id", "text", "stars")
OBJECTS = [{"id": int(i), "text": text or None, "stars": stars} for i, text, stars in ROWS]
CONTENT = {
    "a.tsv": "\n".join("\t".join(row) for row in [NAMES, *ROWS]) + "\n",
    "a.csv": 'id,text,stars\n1,"very, good",5\n2,"a ""bad"" one",1\n3,,3\n',
    "semicolon.csv": 'id;text;stars\r\n1;very, good;5\r\n2;"a ""bad"" one";1\r\n3;;3\r\n',
    "a.jsonl": "".join(json.dumps(row) + "\n" for row in OBJECTS),
}


@pytest.mark.parametrize("name", CONTENT)
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gz"])
def test_every_format_gives_the_same_table(tmp_path: Path, name: str, packed: bool) -> None:
    data = CONTENT[name].encode()
    path = write(tmp_path / (name + ".gz" * packed), gzip.compress(data) if packed else data)
    table = read_table(path, ["text", "stars"])
    assert table.columns == dict(zip(NAMES, zip(*ROWS, strict=True), strict=True))
    first = 1 if name.endswith("jsonl") else 2
    assert (len(table), table.lines, table.problems, table.origin) == (3, (first, first + 1, first + 2), (), path)


def test_parquet(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    if importlib.util.find_spec("pyarrow") is None:
        path.write_bytes(b"PAR1")
        with pytest.raises(
            DataError, match="package `pyarrow` that reads it is not installed\nHint: `pip install pyarrow`"
        ):
            read_table(str(path), ["text"])
        return
    import pyarrow
    from pyarrow import parquet

    parquet.write_table(pyarrow.Table.from_pylist(OBJECTS), path)
    table = read_table(str(path), ["text"])
    assert table.columns == dict(zip(NAMES, zip(*ROWS, strict=True), strict=True)) and table.lines == (1, 2, 3)
    path.write_bytes(path.read_bytes()[:40])
    with pytest.raises(DataError, match="is not Parquet"):
        read_table(str(path), ["text"])


def test_a_wrong_name_gets_the_nearest_and_the_list(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tsv", CONTENT["a.tsv"])
    with pytest.raises(
        DataError, match="has no column `starz`\nHint: did you mean `stars`. its columns are `id`, `text`, `stars`"
    ):
        read_table(path, ["text", "starz"])
    with pytest.raises(DataError, match="has no column `label`\nHint: its columns are"):
        read_table(path, []).column("label")


def test_numbers_mean_no_header(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tsv", "good\t5\nbad\t1\n")
    assert read_table(path, ["2", "1"]).columns == {"1": ("good", "bad"), "2": ("5", "1")}
    with pytest.raises(DataError, match="has no column `3`\nHint: its columns are `1`, `2`"):
        read_table(path, ["3"])
    years = write(tmp_path / "b.csv", "text,2023\na,7\n")
    assert read_table(years, ["2023"]).column("2023") == ("7",), "a name that is a number is a name"


def test_numbers_of_the_first_row_are_data_unless_they_name_columns(tmp_path: Path) -> None:
    wine = write(tmp_path / "wine.csv", "1,14.23,3,2.43\n2,13.2,1,2.14\n")
    assert read_table(wine, ["1"]).column("1") == ("1", "2") and len(read_table(wine, ["3", "1"])) == 2
    words = write(tmp_path / "words.csv", "1,red,round\n2,blue,long\n")
    assert read_table(words, ["1"]).column("1") == ("1", "2")
    pandas = {"0,1,2\n": ["0", "2"], "1,2,3\n": ["3"], "0,1,label\n": ["0", "1"]}
    for header, wanted in pandas.items():
        table = read_table(write(tmp_path / "pandas.csv", header + "7,8,9\n5,6,4\n"), wanted)
        assert len(table) == 2 and set(wanted) <= set(table.columns), header
    kept = write(tmp_path / "kept.jsonl", '{"2": "a", "3": "b", "1": "c"}\n')
    assert read_table(kept, ["2", "3", "1"]).columns == {"2": ("a",), "3": ("b",), "1": ("c",)}, "a run keeps its parts so"


def test_unnamed_and_repeated_names(tmp_path: Path) -> None:
    pandas = write(tmp_path / "a.csv", ",text\n0,good\n1,bad\n")
    assert read_table(pandas, ["text"]).columns == {"1": ("0", "1"), "text": ("good", "bad")}
    with pytest.raises(DataError, match="more than one column `good` in its first row\nHint: .*by number"):
        read_table(write(tmp_path / "b.csv", "good,good\nbad,bad\n"), ["text"])


def test_bad_rows_are_reported_and_many_are_an_error(tmp_path: Path) -> None:
    good = "a\tb\n"
    table = read_table(write(tmp_path / "a.tsv", "text\tlabel\n" + good + "one\n" + good + "\n" + good), ["text"])
    assert table.lines == (2, 4, 6)
    assert table.problems == (Problem(3, "has 1 cell, expected 2"), Problem(5, "is empty"))
    with pytest.raises(
        DataError, match=r"2 of 3 lines cannot be read: line 3 has 1 cell, expected 2 \(and 1 more lines\)"
    ):
        read_table(write(tmp_path / "b.tsv", "text\tlabel\n" + good + "one\none\n"), ["text"])
    rows = write(tmp_path / "c.jsonl", '{"a": 1, "b": [2]}\n{"a": true}\n{"a": 1.5, "b": {"c": null}}\n')
    found = read_table(rows, ["a"])
    assert found.columns == {"a": ("1", "1.5"), "b": ("[2]", '{"c": null}')}
    assert found.problems == (Problem(2, "has no key `b`; its keys are `a`"),)


def test_keys_that_come_later_are_columns(tmp_path: Path) -> None:
    rows = write(tmp_path / "a.jsonl", '{"a": 1}\n{"a": 2, "b": "x"}\n{"c": 5}\n{"a": 3, "c": null, "b": "y"}\n')
    table = read_table(rows, ["b"])
    assert table.columns == {"a": ("1", "2", "3"), "b": ("", "x", "y"), "c": ("", "", "")}
    assert table.lines == (1, 2, 4) and table.problems == (Problem(3, "has no key `a`; its keys are `c`"),)


def test_values_that_json_has_no_form_of() -> None:
    """As Parquet gives them: a date must be read as one, and a decimal as a number."""
    assert cell_text(Decimal("1.50")) == "1.50" and cell_text(date(2024, 5, 31)) == "2024-05-31"
    moment = datetime(2024, 5, 31, 12, 30, tzinfo=UTC)
    assert to_time(cell_text(moment)) == moment.timestamp() == to_time(cell_text(moment.replace(tzinfo=None)))
    plain = {None: "", "x": "x", True: "true", 3: "3", 0.5: "0.5"}
    assert {value: cell_text(value) for value in plain} == plain
    assert cell_text([1, "ä"]) == '[1, "ä"]' and cell_text({"day": date(2024, 5, 31)}) == '{"day": "2024-05-31"}'


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", "a\tb", "cannot read a table from"),
        ("a.tmx", "<tmx/>", "known are .tsv, .csv, .jsonl, .ndjson, .parquet, each also with .gz"),
        ("a.tsv", "", "is empty"),
        ("a.tsv", "text\tlabel\n", "holds no rows"),
        ("a.jsonl", "[1]\n[2]\n", r"line 1 is a list, expected an object in braces \(and 1 more lines\)"),
    ],
)
def test_what_is_no_table(tmp_path: Path, name: str, content: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_table(write(tmp_path / name, content), [])


def test_rows_are_selected_and_the_fingerprint_knows_names_and_order() -> None:
    table = Table({"a": ("x", "y", "z"), "b": ("1", "2", "3")}, (2, 3, 4), "t")
    assert table.select([2, 0]) == Table({"a": ("z", "x"), "b": ("3", "1")}, (4, 2), "t")
    others = [
        table.select([1, 0, 2]),
        Table({"a": ("xy", "", "z"), "b": ("1", "2", "3")}, (2, 3, 4), "t"),
        Table({"b": ("x", "y", "z"), "a": ("1", "2", "3")}, (2, 3, 4), "t"),
    ]
    assert len({table.fingerprint, *(other.fingerprint for other in others)}) == 4
    assert Table(table.columns, (7, 8, 9), "elsewhere").fingerprint == table.fingerprint


CELL = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n\t\0\ufeff")).map(lambda t: f"x{t}")


@given(st.lists(st.tuples(CELL, CELL, CELL), min_size=1, max_size=6))
def test_written_is_read(tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str, str]]) -> None:
    folder = tmp_path_factory.mktemp("table")
    columns = dict(zip(NAMES, zip(*rows, strict=True), strict=True))
    tsv = write(folder / "a.tsv", "".join("\t".join(row) + "\n" for row in [NAMES, *rows]))
    objects = "".join(json.dumps(dict(zip(NAMES, row, strict=True))) + "\n" for row in rows)
    for path in (tsv, write_csv(folder / "a.csv", [NAMES, *rows]), write(folder / "a.jsonl", objects)):
        assert read_table(path, NAMES).columns == columns
