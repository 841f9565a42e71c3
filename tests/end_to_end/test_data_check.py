"""`headway data check FILE`: which task a table is recognised as, and what is proposed where that cannot be told."""

from pathlib import Path

import pytest

from headway.cli import main

DAYS = [f"2024-{month:02d}-{day:02d}" for month in range(1, 7) for day in range(1, 29)]


def write(path: Path, header: str, rows: list[str]) -> str:
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("header", "rows", "task"),
    [
        ("rooms,area,target", [f"{i},{i * 7 % 90},{i * 3 % 50 + 0.5}" for i in range(200)], "table"),
        ("rooms,city,Label", [f"{i},{'Rome' if i % 3 else 'Oslo'},{'yes' if i % 2 else 'no'}" for i in range(200)], "table"),
        ("day,load", [f"{day},{i * 7 % 50}" for i, day in enumerate(DAYS)], "forecasting"),
        ("source,target", [f"the house {i},das Haus {i}" for i in range(60)], "translation"),
        ("text,label", [f"a film of {i},{'good' if i % 2 else 'bad'}" for i in range(60)], "classification"),
    ],
)
def test_what_is_beyond_doubt(
    header: str, rows: list[str], task: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["data", "check", write(tmp_path / "data.csv", header, rows)])
    assert f"as data for {task}:" in capsys.readouterr().out


def test_what_could_be_several_things_is_answered_with_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [f"{day},{i},{i * 7 % 90},flat {i} in the old town" for i, day in enumerate(DAYS)]
    table = write(tmp_path / "flats.csv", "day,rooms,monthly rent,about", rows)
    assert main(["data", "check", table]) == 2
    shown = capsys.readouterr().err
    assert "its columns: `day` (dates), `rooms` (numbers), `monthly rent` (numbers), `about` (words)" in shown
    commands = [line.strip() for line in shown.splitlines() if line.startswith("  headway data check --task ")]
    assert commands == [
        f"headway data check --task classification --table {table} --text about --label 'monthly rent'",
        f"headway data check --task forecasting --table {table} --target 'monthly rent'",
        f"headway data check --task table --table {table} --target about",
    ]
    asked = ["data", "check", "--task", "forecasting", "--table", table, "--target", "monthly rent"]
    assert main(asked) == 0 and "as data for forecasting" in capsys.readouterr().out


def test_sets_are_proposed_if_rows_of_one_name_share_a_value(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [f"b{i // 3},{i % 5}.5,{(i // 3) * 1.5}" for i in range(30)]
    (tmp_path / "baskets.csv").write_text("\n".join(["basket,price,total", *rows]), encoding="utf-8")
    assert main(["data", "check", str(tmp_path / "baskets.csv")]) == 2
    assert "--task sets --table" in (err := capsys.readouterr().err) and "--set basket --target total" in err
    loose = [f"b{i // 3},{i % 5}.5,{i * 1.5}" for i in range(30)]
    (tmp_path / "baskets.csv").write_text("\n".join(["basket,price,total", *loose]), encoding="utf-8")
    assert main(["data", "check", str(tmp_path / "baskets.csv")]) == 2 and "--task sets" not in capsys.readouterr().err


def test_pairs_among_other_columns_are_proposed_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = write(tmp_path / "all.csv", "id,left,right", [f"{i},the house {i},das Haus {i}" for i in range(60)])
    assert main(["data", "check", table]) == 2
    assert f"--task translation --pairs {table} --languages left,right" in capsys.readouterr().err


def test_two_columns_of_numbers_are_no_sentences(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = write(tmp_path / "two.csv", "height,weight", [f"{i * 7 % 90},{i * 3}" for i in range(60)])
    assert main(["data", "check", table]) == 2
    shown = capsys.readouterr().err
    assert "--task table --table" in shown and "--task translation" not in shown


def test_what_is_no_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty.csv").write_text("")
    assert main(["data", "check", str(tmp_path / "empty.csv")]) == 2 and "is empty" in capsys.readouterr().err
    (tmp_path / "a.bin").write_bytes(b"\x00\x01")
    assert main(["data", "check", str(tmp_path / "a.bin")]) == 2
    shown = capsys.readouterr().err
    assert "cannot tell which task" in shown and "name it with `--task`: classification, " in shown
    two = [write(tmp_path / name, "a,b", ["1,2"]) for name in ("one.csv", "two.csv")]
    assert main(["data", "check", *two]) == 2 and "one.csv` and 1 other file should be data for" in capsys.readouterr().err
    assert main(["data", "check", "nothing.csv"]) == 2 and "there is no file `nothing.csv`\n" in capsys.readouterr().err
