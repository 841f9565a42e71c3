"""`headway compare mixers`: a small table, continued where it stopped; and the proof (`make proofs`) that Elman forgets."""

import dataclasses
import json
import signal
from pathlib import Path

import pytest

from headway.cli import main
from headway.compare import riddles
from headway.compare.mixers import read_cells, table
from headway.compare.riddles import SIZES, Cell, train
from headway.core.errors import RunError

TINY = "--model.width 16 --model.heads 2 --model.inner 16 --model.depth 1".split()


def test_the_command_makes_a_table_and_continues_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sizes = ["--lengths", "2,1", "--steps", "4", "--seeds", "1", *TINY]
    words = ["compare", "mixers", "--riddles", "memory", "--out", str(tmp_path / "o"), *sizes]
    assert main([*words, "--mixers", "elman"]) == 0
    first = (tmp_path / "o" / "cells.jsonl").read_text()
    assert main([*words, "--mixers", "elman,LRU"]) == 0
    said = capsys.readouterr().out
    cells = [json.loads(line) for line in (tmp_path / "o" / "cells.jsonl").read_text().splitlines()]
    assert [(c["mixer"], c["length"]) for c in cells] == [("elman", 1), ("lru", 1)], "nothing twice, and no longer length after a failure"
    assert (tmp_path / "o" / "cells.jsonl").read_text().startswith(first) and said.count("not solved") == 2
    assert all(c["taken"] == 4 and 0 <= c["accuracy"] < 0.9 and c["seed"] == 1 and c["options"]["width"] == "16" for c in cells)
    assert [c["solved"] for c in json.loads((tmp_path / "o" / "table.json").read_text())] == [False, False]
    written = (tmp_path / "o" / "table.md").read_text()
    assert written.splitlines()[:4] == ["| mixer | memory |", "| --- | --- |", "| elman | - |", "| lru | - |"]
    assert "4 steps" in written and written in said


GOOD = json.dumps(dataclasses.asdict(Cell("memory", "elman", 1, 1, 4, SIZES, 4, 0.1, 0.1, 9, 0.1)))
BAD = [
    (GOOD[:40], "is not JSON"),
    ("", "is not JSON"),
    ("[1]", "should be an object"),
    (GOOD.replace("seed", "sead"), "`seed` is missing"),
    (GOOD.replace('"seed": 1', '"seed": "one"'), "`seed` should be a whole number"),
    (GOOD.replace("}, ", '}, "loss": 0.5, '), "unknown field `loss`"),
    (GOOD.replace('"accuracy": 0.1, ', ""), "`accuracy` missing"),
    (GOOD.replace('"blind": 0.1', '"blind": 1.0'), "should lie between 0 and 1"),
    (GOOD.replace("elman", "älman").encode("latin-1"), "is not JSON"),
]


@pytest.mark.parametrize(("line", "message"), BAD)
def test_a_line_that_cannot_be_read_is_reported(
    line: str | bytes, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept, line = tmp_path / "cells.jsonl", line if isinstance(line, bytes) else line.encode()
    kept.write_bytes(GOOD.encode() + b"\n" + line + b"\n" + GOOD.encode() + b"\n")
    before = kept.read_bytes()
    assert main(["compare", "mixers", "--riddles", "memory", "--mixers", "elman", "--steps", "4", "--out", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert message in said and f"`{kept}` has 1 line that cannot be read: `cells.jsonl:2`" in said
    assert f"Hint: delete line 2 of `{kept}`; what stood there is trained again." in said and "Traceback" not in said
    assert kept.read_bytes() == before


def test_all_lines_that_cannot_be_read_are_reported_at_once(tmp_path: Path) -> None:
    kept = tmp_path / "cells.jsonl"
    kept.write_text("\n".join([GOOD, "{", GOOD, "[]"]))
    with pytest.raises(RunError, match=r"has 2 lines(.|\n)*cells.jsonl:2`(.|\n)*cells.jsonl:4`(.|\n)*delete lines 2, 4 of"):
        read_cells(kept)
    kept.write_text(GOOD)
    assert [json.dumps(dataclasses.asdict(cell)) for cell in read_cells(kept)] == [GOOD]
    assert read_cells(tmp_path / "none.jsonl") == []


def test_the_table_says_what_was_solved() -> None:
    def cell(mixer: str, length: int, seed: int, accuracy: float) -> Cell:
        return Cell("copy", mixer, length, seed, 9, SIZES, accuracy=accuracy, blind=0.1)

    cells = [cell("lstm", 8, 1, 1.0), cell("lstm", 16, 1, 0.954), cell("lstm", 8, 2, 0.2)]
    cells += [cell("lru", n, s, 0.956) for n in (8, 16) for s in (1, 2)]
    assert table(cells, 16).splitlines()[2:4] == ["| lstm | - to 8 |", "| lru | 16+ |"]


def test_a_cell_is_a_function_of_its_seed() -> None:
    tiny = {"width": "16", "heads": "2", "inner": "16", "depth": "1"}
    once, again, other = (train(Cell("parity", "min_gru", 3, seed, 3, tiny)) for seed in (1, 1, 2))
    assert once.accuracy == again.accuracy and other.accuracy != once.accuracy


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--riddles copi", "did you mean `copy`"),
        ("--mixers elmann", "did you mean `elman`"),
        ("--mixers elman --model.widht 8", "did you mean `--model.width`"),
        ("--lengths 8,x", "whole numbers"),
        ("--minutes 3", "unknown option `--minutes`"),
        ("--lengths 0", "at least 1"),
        ("--steps 0", "at least 1"),
        ("--riddles recall --lengths 200", "expected 1 to 64"),
    ],
)
def test_what_is_misspelt_is_reported(words: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "mixers", "--out", str(tmp_path / "o"), *words.split()]) == 2
    assert message in capsys.readouterr().err and not (tmp_path / "o").exists()


def test_a_training_that_diverges_does_not_solve_the_riddle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(riddles, "RATE", 1e4)
    found = train(Cell("copy", "multihead", 4, 1, 60, SIZES | {"width": "16", "heads": "2", "inner": "16", "depth": "2"}))
    assert found.taken < 60 and not found.solved, found.line()


def test_a_training_that_is_interrupted_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The loop ends quietly when a person interrupts it; the cell must be trained again, not counted as a failure."""

    looks: list[float] = []

    def interrupt(*_: object) -> float:
        looks.append(0.0)
        if len(looks) == 1:
            signal.raise_signal(signal.SIGINT)
        return looks[-1]

    monkeypatch.setattr(riddles, "LOOK", 1)
    monkeypatch.setattr(riddles, "judge", interrupt)
    words = ["compare", "mixers", "--riddles", "memory", "--mixers", "elman", "--lengths", "1", "--steps", "4", "--seeds", "1"]
    assert main([*words, *TINY, "--out", str(tmp_path / "o")]) == 130
    assert not (tmp_path / "o" / "cells.jsonl").exists()


@pytest.mark.slow
def test_elman_forgets_where_the_others_do_not() -> None:
    """A digit, 32 times filler, the digit again: chance is 1/10. Elman stays there for 1,000 steps, the others need 200 at most."""
    found = {mixer: train(Cell("memory", mixer, 32, 1, 400, SIZES)) for mixer in ("elman", "lstm", "lru", "multihead")}
    for cell in found.values():
        print(cell.line())
    assert found.pop("elman").accuracy < 0.5
    assert all(cell.solved for cell in found.values())
