"""Reward models from the command line: train on pairs, predict, evaluate, resume, the doctor, and what goes wrong."""

import json
from pathlib import Path

import numpy as np
import pytest

import headway as package
from headway.cli import main
from headway.data.made_preferences import make_pairs, make_responses
from headway.training.session import resume

from .preference_runs import train_chat, train_reward, write_rows


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reward")
    train_reward(folder, train_chat(folder), steps=60)
    return folder


def test_predict_and_evaluate_agree(runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = make_pairs(60, 7)
    table = write_rows(tmp_path / "pairs.jsonl", rows)
    run = package.load(runs / "reward")
    found = run.predict(preferences=str(table))
    assert found.columns == ("prompt", "rating of chosen", "rating of rejected") and len(found.rows) == 60
    margins = np.array([float(a) - float(b) for _, a, b in found.rows])
    assert main(["evaluate", str(runs / "reward"), "--preferences", str(table), "--json"]) == 0
    scores = {s["name"]: s for s in json.loads(capsys.readouterr().out)["scores"]}
    assert scores["accuracy"]["value"] == pytest.approx(np.mean(margins > 0))
    assert scores["accuracy"]["low"] < scores["accuracy"]["value"] < scores["accuracy"]["high"]
    assert scores["nats per pair"]["value"] == pytest.approx(np.log1p(np.exp(-margins)).mean(), abs=1e-3)
    turned = write_rows(
        tmp_path / "turned.jsonl", [r | {"chosen": r["rejected"], "rejected": r["chosen"]} for r in rows]
    )
    back = run.predict(preferences=str(turned))
    assert [(b, a) for _, a, b in back.rows] == [(a, b) for _, a, b in found.rows], (
        "a rating does not depend on its rival"
    )


def test_the_report_shows_calibration(runs: Path) -> None:
    report = (runs / "reward" / "report.html").read_text(encoding="utf-8")
    assert "Calibration of the margins" in report and "correlation of the rating" in report


def test_resumed_it_ends_the_same(runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["train", "reward", "--preferences", str(runs / "pairs.jsonl"), "--from", str(runs / "chat"), "--steps", "8",
             "--training.validate", "4", "--quiet"]  # fmt: skip
    assert main([*words, "--out", str(tmp_path / "whole")]) == 0
    stop_after(monkeypatch, 5)
    with pytest.raises(Stopped):
        main([*words, "--out", str(tmp_path / "cut")])
    monkeypatch.undo()
    assert resume(tmp_path / "cut")
    for name in ("weights.safetensors", "checkpoint.safetensors"):
        assert (tmp_path / "cut" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


class Stopped(BaseException):
    """No handler of errors catches it."""


def stop_after(monkeypatch: pytest.MonkeyPatch, steps: int) -> None:
    """Training breaks off when it has done so many steps, as if the machine had lost power."""
    from headway.training.loop import Loop

    gradients = Loop.gradients

    def stopped(self: Loop[object], step: int) -> tuple[float, int]:
        if step >= steps:
            raise Stopped
        return gradients(self, step)

    monkeypatch.setattr(Loop, "gradients", stopped)


PAIR = {"prompt": "a", "chosen": "b c", "rejected": "d"}


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{"prompt": "a", "choosen": "b", "rejected": "c"}], "did you mean `choosen`"),
        ([PAIR | {"chosen": "d"}] * 9, "whose chosen and rejected responses are equal"),
        ([], "is empty"),
    ],
)
def test_errors_are_told(
    runs: Path, rows: list[dict[str, str]], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = write_rows(tmp_path / "t.jsonl", rows)
    words = ["train", "reward", "--preferences", str(table), "--from", str(runs / "chat"), "--steps", "1", "--quiet"]
    assert main([*words, "--out", str(tmp_path / "x")]) == 2
    assert said in capsys.readouterr().err and not (tmp_path / "x").exists()


def test_a_reward_model_begins_with_a_run(runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [
        "train",
        "reward",
        "--preferences",
        str(runs / "pairs.jsonl"),
        "--steps",
        "1",
        "--quiet",
        "--out",
        str(tmp_path / "x"),
    ]
    assert main(words) == 2
    assert "which run to begin with? `--from`" in capsys.readouterr().err
    assert main(["train", "reward", "--out", str(tmp_path / "x")]) == 2
    assert "which pairs? `--preferences`" in capsys.readouterr().err
    assert main([*words, "--from", str(runs / "chat"), "--context", "500"]) == 2
    assert "reads 40 tokens at once, not 500" in capsys.readouterr().err
    assert main(["classify", str(runs / "reward"), "x"]) == 2
    assert "was trained for reward" in capsys.readouterr().err


def test_the_doctor_finds_what_would_be_learned_instead(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [PAIR | {"prompt": f"p{n}", "chosen": "b c " * (n % 3 + 1)} for n in range(300)]
    rows += [
        rows[0],
        PAIR | {"prompt": "p1", "chosen": "d", "rejected": rows[1]["chosen"]},
        PAIR | {"chosen": "d"},
        PAIR | {"rejected": ""},
    ]
    table = write_rows(tmp_path / "pairs.jsonl", rows)
    assert main(["data", "check", str(table)]) == 0
    said = capsys.readouterr().out
    assert "as data for reward" in said and "the longer response was chosen in 100% of 302 pairs" in said
    assert "1 row seen before" in said and "1 row whose chosen and rejected responses are equal" in said
    assert "2 rows that also come with the opposite choice" in said and "with nothing in column `rejected`" in said
    write_rows(tmp_path / "chat.jsonl", make_responses(300, 1))
    assert main(["data", "check", str(tmp_path / "chat.jsonl")]) == 0
    assert "as data for responses" in capsys.readouterr().out
