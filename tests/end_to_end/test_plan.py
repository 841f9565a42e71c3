"""`headway plan` says what `headway train` would do, and explains what it cannot read."""

import json
import sys
from pathlib import Path

import pytest

from headway.cli import main
from headway.inspect import probe
from headway.runs.run import Run

DEVICES = ["--devices", "2 x 24GB@100TFLOPS@300W"]
OPTIONS = ["--tokens", "characters", "--context", "32", "--model.width", "16", "--steps", "2", "--training.batch", "64"]


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("data") / "text.txt"
    path.write_text("".join(f"{n} times {n} is {n * n}.\n" for n in range(600)), encoding="utf-8")
    return str(path)


@pytest.fixture(scope="module")
def run(text: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "run"
    assert main(["train", "language", "--text", text, *OPTIONS, "--out", str(out), "--quiet"]) == 0
    return out


def planned(capsys: pytest.CaptureFixture[str], *words: str) -> dict:
    assert main(["plan", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_plan_is_what_the_run_did(run: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    done, kept = Run(run), json.loads((run / "plan.json").read_text())
    asked = planned(capsys, "language", "--text", text, *OPTIONS, *DEVICES)
    for found in (asked, planned(capsys, str(run), *DEVICES), planned(capsys, str(run / "recipe.json"), *DEVICES)):
        assert found["parameters"] == done.parameters == sum(found["parts"].values())
        assert found["training"] == kept["training"]
        assert found["model"] == kept["model"]
        assert found["units"] == 2 * 64
        assert found["flops_6nd"] == 6 * done.parameters * 2 * 64
        assert set(found["memory"]) == {"one process", "data parallel", "sharded"}
        assert found["energy"] == pytest.approx(found["seconds"] * 2 * 300)


def test_this_machine_is_measured(
    run: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe, "SECONDS", 0.05)
    monkeypatch.setattr(probe, "STEPS", 0.05)
    assert main(["plan", str(run)]) == 0
    out = capsys.readouterr().out
    assert "this machine" in out and "measured with a copy" in out and "one process" in out
    assert sys.platform != "linux" or "The process as a whole: about " in out
    assert max(map(len, out.splitlines())) <= 100


def test_a_published_size_in_a_table_of_100_columns(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "gpt3-small", "--tokens", "10B", "--devices", "8 x 80GB@989TFLOPS@700W"]) == 0
    out = capsys.readouterr().out
    assert "125,226,240" in out and "10 B tokens" in out and "kWh" in out and "sharded, 8" in out
    assert max(map(len, out.splitlines())) <= 100


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["gpt3-175"], "did you mean `gpt3-175b`?"),
        (["gpt3-small", "--devices", "eight"], "`--devices eight` is not understood"),
        (["gpt3-small", "--tokens", "lots"], "`--tokens lots` is not a number of tokens"),
        (["gpt3-small", "--utilisation", "0.5"], "`--utilisation` is of other devices"),
        (["language", "--text", "nowhere.txt"], "there is no file `nowhere.txt`"),
        (["nowhere/run"], "there is no directory `nowhere/run`"),
        ([], "what should be planned?"),
    ],
)
def test_mistakes_are_answered(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", *words]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("content", ['{"model": 1}', "[1]", "not JSON"])
def test_a_file_that_is_no_recipe_is_refused(content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "recipe.json").write_text(content)
    for words in (str(tmp_path / "recipe.json"), str(tmp_path)):
        assert main(["plan", words]) == 2
        assert "recipe.json" in capsys.readouterr().err
