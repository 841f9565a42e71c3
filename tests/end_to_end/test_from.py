"""`--from RUN`: the weights and the vocabulary of another run, a gentler plan, and what is forgotten is told."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
import torch

import headway
from headway.cli import main
from headway.core.files import read_tensors
from headway.data.grammar.corpus import generate
from headway.tasks.task import Base
from headway.training.base_run import keep_base


def test_what_fits_is_taken_and_what_was_known_is_measured_again(
    trained: Path, corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pairs = generate(200, "combinations", 5)
    (tmp_path / "new.tsv").write_text("".join(f"{p.source}\t{p.target}\n" for p in pairs), encoding="utf-8")
    words = [
        "train",
        "translation",
        "--pairs",
        str(tmp_path / "new.tsv"),
        "--from",
        str(trained),
        "--steps",
        "2",
        "--training.rate",
        "1e-9",
    ]
    assert main([*words, "--out", str(tmp_path / "adapted")]) == 0
    text = capsys.readouterr().out
    assert (
        "100% of the weights taken over" in text
        and "on the held-out data of the run it began with (before -> now):" in text
    )
    base, adapted = (json.loads((folder / "plan.json").read_text()) for folder in (trained, tmp_path / "adapted"))
    assert base["model"] == adapted["model"], "the same architecture without being asked"
    assert (trained / "tokenizer.json").read_bytes() == (tmp_path / "adapted" / "tokenizer.json").read_bytes()
    before, after = (read_tensors(folder / "weights.safetensors") for folder in (trained, tmp_path / "adapted"))
    assert all(torch.allclose(after[name], tensor, atol=1e-6) for name, tensor in before.items()), (
        "at no rate nothing changes"
    )
    report = (tmp_path / "adapted" / "report.html").read_text(encoding="utf-8")
    assert "What it remembers" in report
    found = headway.load(tmp_path / "adapted").judge_base()
    assert found is not None and [s.value for s in found[0]] == pytest.approx([s.value for s in found[1]], abs=0.05)


def test_the_plan_is_gentler(trained: Path, corpus: Path, tmp_path: Path) -> None:
    files = {"source": str(corpus / "a.en"), "target": str(corpus / "a.de")}
    run = headway.train("translation", **files, start=trained, steps=10, out=tmp_path / "x", quiet=True)
    assert (
        run.plan.training.rate == pytest.approx(0.2 * 3e-3)
        and run.plan.training.warmup == 2
        and run.plan.start == str(trained)
    )


def test_a_model_that_does_not_fit_is_told(
    trained: Path, corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [
        "train",
        "translation",
        "--source",
        str(corpus / "a.en"),
        "--target",
        str(corpus / "a.de"),
        "--from",
        str(trained),
        "--steps",
        "1",
    ]
    assert main([*words, "--model", "rnn_seq2seq", "--model.width", "24", "--out", str(tmp_path / "x")]) == 2
    assert "no weight of" in capsys.readouterr().err and not (tmp_path / "x").exists()
    assert main([*words, "--model.inner", "96", "--out", str(tmp_path / "y")]) == 0
    assert "new: " in capsys.readouterr().out, "a larger feed-forward network is new, the rest is taken over"


def test_a_language_model_goes_on_with_other_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, word in (("general", "cats"), ("medical", "nurses")):
        (tmp_path / f"{name}.txt").write_text(
            "".join(f"{n} {word} sat on {n + 1} mats.\n" for n in range(900)), encoding="utf-8"
        )
    small = "--model.width 32 --model.depth 1 --context 16 --training.batch 128 --tokens characters --steps 3 --quiet".split()
    assert (
        main(["train", "language", "--text", str(tmp_path / "general.txt"), *small, "--out", str(tmp_path / "base")])
        == 0
    )
    words = [
        "train",
        "language",
        "--text",
        str(tmp_path / "medical.txt"),
        "--from",
        str(tmp_path / "base"),
        "--steps",
        "3",
    ]
    assert main([*words, "--out", str(tmp_path / "medical")]) == 0
    text = capsys.readouterr().out
    assert "100% of the weights taken over" in text and "nats per token (test)" in text
    assert headway.load(tmp_path / "medical").plan.data.context == 16, "the context of the run it began with"  # type: ignore[attr-defined]


def test_what_was_judged_before_is_copied_again_after_a_kill(tmp_path: Path) -> None:
    (tmp_path / "base/held_out").mkdir(parents=True)
    (tmp_path / "base/held_out/test.jsonl").write_text("{}")
    base = cast(Base, SimpleNamespace(folder=tmp_path / "base"))
    for _ in range(2):
        keep_base(base, tmp_path / "run")
    assert (tmp_path / "run/base/held_out/test.jsonl").read_text() == "{}"
