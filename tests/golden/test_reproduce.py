"""Published tables: what is arithmetic holds here; how a table is measured, kept and judged is shown on one of its own."""

from pathlib import Path

import pytest

from headway.cli import main
from headway.core import registry
from headway.core.errors import DataError
from headway.reproduce import imdb, pretraining
from headway.reproduce.table import Bench, Measured, Row, Table, measure


def test_every_table_says_how_long_it_takes_and_what_it_needs(capsys: pytest.CaptureFixture[str]) -> None:
    named = {entry.load()().name for entry in registry.entries("datasets").values()}
    for entry in registry.entries("tables").values():
        assert entry.facts["minutes"] > 0 and set(entry.facts.get("needs") or ()) <= named, entry.name
    assert main(["reproduce", "--list"]) == 0
    assert "gpt3-parameters" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["gpt3-parameters", "bleu-flops"])
def test_arithmetic_is_reproduced(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", name, "--out", str(tmp_path / "x")]) == 0
    out = capsys.readouterr().out
    assert "This takes seconds on two cores." in out and "NOT" not in out


@pytest.mark.parametrize(
    ("should", "tolerance", "values", "holds"),
    [
        ("equal", 0.1, (1.05,), True),
        ("equal", 0.1, (1.2,), False),
        ("at most", 0.0, (0.9, 1.4, 0.8), True),  # the median decides
        ("at most", 0.0, (1.1,), False),
        ("at least", 0.0, (1.1,), True),
        ("at least", 0.05, (0.9,), False),
    ],
)
def test_verdicts(should: str, tolerance: float, values: tuple[float, ...], holds: bool) -> None:
    row = Row("x", 1.0, lambda seed: 0.0, should, tolerance)  # type: ignore[arg-type]
    assert Measured(row, values).verdict == ("reproduced" if holds else "NOT reproduced")
    shown = ("" if should == "equal" else should, f"± {tolerance:g}" if tolerance else "")
    assert Measured(row, values).cells()[2] == " ".join(filter(None, shown)), "what is allowed is shown"


class Counted(Table):
    """A table that counts how often it is measured."""

    minutes = 1.0

    def __init__(self, broken: bool = False) -> None:
        self.calls: list[int] = []
        self.broken = broken

    def rows(self, bench: Bench) -> list[Row]:
        def measured(seed: int) -> float:
            if self.broken and seed == 2:
                raise KeyboardInterrupt
            self.calls.append(seed)
            return float(seed)

        return [Row("random", 2.0, measured), Row("fixed", 1.0, measured, random=False)]


def test_what_was_measured_is_kept(tmp_path: Path) -> None:
    bench = Bench(tmp_path, tmp_path, seeds=3, say=lambda words: None)
    with pytest.raises(KeyboardInterrupt):
        measure(Counted(broken=True), bench)
    again = Counted()
    found = measure(again, Bench(tmp_path, tmp_path, seeds=3, say=lambda words: None))
    assert again.calls == [2, 3, 1], "seed 1 was known, and a figure without randomness is measured once"
    assert [m.values for m in found] == [(1.0, 2.0, 3.0), (1.0,)] and found[0].cells()[4] == "1.000 to 3.000"


def test_a_row_may_be_an_ensemble(tmp_path: Path) -> None:
    bench, data = Bench(tmp_path, tmp_path, quiet=True, say=lambda words: None), {"kind": "max", "sets": 60}
    options, training = {"width": 8}, {"steps": 2}
    run = bench.trained("x", 1, "sets", data, "deep_sets", options, training, ensemble=2, precision="bfloat16")
    assert run.plan.ensemble == 2 and run.plan.precision == "bfloat16" and bench.score(run, "RMSE") > 0
    again = bench.trained("x", 1, "sets", data, "deep_sets", options, training, ensemble=2)
    assert again.folder == run.folder and again.scores == run.scores, "it is read, not trained again"


def test_data_that_is_not_there_is_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(DataError, match="needs the data `mnist`.*\nHint: `headway data get mnist --out"):
        Bench(tmp_path, tmp_path / "data").dataset("mnist")
    assert main(["reproduce", "mnist-errors", "--data", str(tmp_path), "--out", str(tmp_path / "x")]) == 2
    assert not (tmp_path / "x").exists()
    assert main(["reproduce", "mnist-erors"]) == 2
    assert "did you mean `mnist_errors`" in capsys.readouterr().err


def test_reviews_without_signs_and_runs_together(tmp_path: Path) -> None:
    rows = [("It's GOOD, <really>!", "positive"), ("Bad.\u0097 Zero stars", "negative"), ("so-so", "positive")]
    for name in ("train.tsv", "test.tsv"):
        (tmp_path / name).write_text("text\tlabel\n" + "".join(f"{text}\t{label}\n" for text, label in rows))
    imdb.write_words(tmp_path, tmp_path / "words")
    texts, labels = imdb.read(tmp_path / "words" / "test.tsv")
    assert texts == ["it's good really", "bad zero stars", "so so"] and labels == [label for _, label in rows]
    assert imdb.accuracy([[0.9, 0.4, 0.1], [0.3, 0.2, 0.6]], tmp_path) == 2 / 3, "0.6 and 0.3 are right, 0.35 is not"


def test_a_few_labelled_reviews_are_whole_rows(tmp_path: Path) -> None:
    rows = [f"film {i}\u2028and\x85more\t{'good' if i % 2 else 'bad'}" for i in range(1500)]
    (tmp_path / "train.tsv").write_text("\n".join(["text\tlabel", *rows]) + "\n", encoding="utf-8")
    written = pretraining.few(tmp_path, tmp_path, 1).read_text(encoding="utf-8").split("\n")
    assert written == ["text\tlabel", *rows[1::3], ""]
