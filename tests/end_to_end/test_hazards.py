"""What would hurt a person in silence: divergence, lost input, dropped text, spoilt data, outputs that were cut, machines too small."""

import dataclasses
import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import headway as package
from headway.cli import main
from headway.data.grammar.corpus import generate
from headway.report.summary import run_facts
from headway.runs.run import Run
from headway.tasks.search import Seen
from headway.tasks.task import Judgement
from tests.end_to_end.conftest import SMALL

Start = Callable[..., "subprocess.Popen[str]"]


def files(corpus: Path) -> list[str]:
    return ["--source", str(corpus / "a.en"), "--target", str(corpus / "a.de")]


@pytest.mark.parametrize("rate", ["1e9", "1e30"])
def test_divergence_is_called_divergence(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], rate: str
) -> None:
    words = [
        "train",
        "translation",
        *files(corpus),
        *SMALL,
        "--steps",
        "40",
        "--training.rate",
        rate,
        "--out",
        str(tmp_path / "x"),
    ]
    assert main(words) == 2
    captured = capsys.readouterr()
    assert (
        "training diverged 7 times" in captured.err
        and "smaller `--training.rate`" in captured.err
        and "damaged" not in captured.err
    )
    assert captured.out.count("of the learning rate") == 6 and not (tmp_path / "x").exists(), "the same --out is free"


def test_a_high_rate_recovers_and_ends_with_good_weights(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [
        "train",
        "translation",
        *files(corpus),
        *SMALL,
        "--steps",
        "24",
        "--training.rate",
        "300",
        "--training.validate",
        "8",
    ]
    assert main([*words, "--training.warmup", "1", "--out", str(tmp_path / "x")]) == 0
    assert "diverged at step" in capsys.readouterr().out
    assert package.load(tmp_path / "x").translate("The man sleeps.") is not None


def test_no_output_replaces_its_input(trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "same.txt"
    path.write_text("The man sleeps.\n")
    (tmp_path / "link").symlink_to(path)
    for output in (path, tmp_path / "link"):
        assert main(["translate", str(trained), "--input", str(path), "--output", str(output)]) == 2
        assert (
            "is the input itself; its text would be lost" in capsys.readouterr().err
            and path.read_text() == "The man sleeps.\n"
        )


def test_several_sentences_are_all_translated(trained: Path) -> None:
    run = package.load(trained)
    one, two = run.translate("The man sleeps."), run.translate("The dog sees the cat.")
    assert run.translate("The man sleeps. The dog sees the cat.") == f"{one} {two}"


def test_what_training_never_showed_is_reported(trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    long = "the man and " * 60
    assert main(["translate", str(trained), "The man 你 Ω sleeps.", long, "The man sleeps.", "--beam", "1"]) == 0
    captured = capsys.readouterr()
    assert "line 1: characters never seen in training: Ω 你" in captured.err and "line 2: a sentence of" in captured.err
    assert (
        "longer than any in training" in captured.err
        and "line 3: characters" not in captured.err
        and len(captured.out.splitlines()) == 3
    )


def test_shifted_data_stops_unless_told_otherwise(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pairs = generate(400, "train", 3)
    (tmp_path / "a.en").write_text("".join(p.source + "\n" for p in pairs), encoding="utf-8")
    (tmp_path / "a.de").write_text("".join(p.target + "\n" for p in (*pairs[1:], pairs[0])), encoding="utf-8")
    words = ["train", "translation", *files(tmp_path), *SMALL, "--steps", "1", "--out", str(tmp_path / "x")]
    assert main(["data", "check", str(tmp_path / "a.en"), str(tmp_path / "a.de")]) == 1
    assert "these errors would spoil a model" in capsys.readouterr().out
    assert main(words) == 2
    error = capsys.readouterr().err
    assert (
        "do not seem to be translations of each other" in error
        and "--anyway" in error
        and not (tmp_path / "x").exists()
    )
    assert main([*words, "--anyway", "--quiet"]) == 0


def test_the_end_says_which_weights_on_how_much_data_and_what_it_means(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [
        "train",
        "translation",
        *files(corpus),
        *SMALL,
        "--steps",
        "6",
        "--training.validate",
        "2",
        "--out",
        str(tmp_path / "x"),
    ]
    assert main(words) == 0
    text = capsys.readouterr().out
    assert "weights kept: step " in text and " of 6, the best of 3 validations" in text
    assert "learning from 285 pairs; held out: 15 for validation" in text
    assert "validation part (15 pairs, which the weights were chosen by):" in text and "verdict: it has learned" in text
    assert "uniform guess costs ln" in text
    report = (tmp_path / "x" / "report.html").read_text(encoding="utf-8")
    assert "Weights kept: step" in report and "it has learned" in report and "15 for validation" in report


@pytest.mark.parametrize("penalty", ["nan", "inf", "-5"])
def test_a_penalty_that_is_none_is_refused(trained: Path, capsys: pytest.CaptureFixture[str], penalty: str) -> None:
    assert main(["translate", str(trained), "The man sleeps.", f"--penalty={penalty}"]) == 2
    assert "should be a number of at least 0" in capsys.readouterr().err


def test_a_model_larger_than_the_memory_is_refused_before_it_is_built(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [
        "train",
        "translation",
        *files(corpus),
        "--model.width",
        "1000000",
        "--model.heads",
        "1",
        "--steps",
        "1",
        "--out",
        str(tmp_path / "x"),
    ]
    began = time.monotonic()
    assert main(words) == 2
    error = capsys.readouterr().err
    assert (
        "GB of memory" in error
        and "--model.width" in error
        and not (tmp_path / "x").exists()
        and time.monotonic() - began < 60
    )


def test_output_that_cannot_be_encoded_and_streams_that_are_closed(trained: Path) -> None:
    command = [sys.executable, "-m", "headway"]
    for encoding, words in (
        ("cp1252", ["lab", "list"]),
        ("ascii", ["lab", "show", "telgarsky-32"]),
        ("ascii", ["show", "transformer"]),
    ):
        done = subprocess.run([*command, *words], capture_output=True, env=os.environ | {"PYTHONIOENCODING": encoding})
        assert done.returncode == 0 and b"Traceback" not in done.stderr, done.stderr
    done = subprocess.run(f"{sys.executable} -m headway list >&-", shell=True, capture_output=True)
    assert done.returncode == 0 and not done.stderr, done.stderr


def test_a_training_whose_output_nobody_reads_is_judged(corpus: Path, tmp_path: Path, headway: Start) -> None:
    """`headway train ... | head -1`"""
    out = tmp_path / "run"
    process = headway("train", "translation", *files(corpus), *SMALL, "--steps", "6", "--out", str(out))
    assert process.stdout and process.stderr
    process.stdout.readline()
    process.stdout.close()
    errors = process.stderr.read()
    assert process.wait(timeout=300) == 0 and "Traceback" not in errors, errors
    assert (out / "scores.json").exists() and (out / "report.html").exists()


def test_the_report_names_the_steps_that_were_done(trained: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer or more than planned, if the machine was slower or faster than measured."""
    run = Run(trained)
    kept = run.state()
    assert kept
    judgement = Judgement((), (), "", {}, "pairs")
    assert run_facts(run, judgement)["budget"] == "30 steps"
    monkeypatch.setattr(run, "state", lambda: dataclasses.replace(kept, total=41))
    assert run_facts(run, judgement)["budget"] == "41 steps"


def test_a_model_without_attention_has_no_page_of_it(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [
        "train",
        "translation",
        *files(corpus),
        "--model",
        "rnn_seq2seq",
        "--model.width",
        "16",
        "--steps",
        "1",
        "--quiet",
    ]
    assert main([*words, "--out", str(tmp_path / "x")]) == 0
    for verb in (
        ["inspect", str(tmp_path / "x"), "The man.", "--out", str(tmp_path / "m.html")],
        ["align", str(tmp_path / "x"), *files(corpus)],
    ):
        assert main(verb) == 2
        assert "no attention" in capsys.readouterr().err
    assert not (tmp_path / "m.html").exists()


def test_an_interrupt_before_the_first_step_leaves_nothing(corpus: Path, tmp_path: Path, headway: Start) -> None:
    out = tmp_path / "x"
    process = headway("train", "translation", "--grammar", "60000", "--steps", "9", "--out", str(out))
    while not (out / "recipe.json").exists():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    text, errors = process.communicate(timeout=60)
    assert process.returncode == 130 and "headway: interrupted" in errors and "Traceback" not in errors
    assert "stopped before the first step" in text and not out.exists()


def test_the_limit_of_an_output_follows_from_the_lengths_of_training(tmp_path: Path) -> None:
    """Targets of up to twelve times the source: with a limit of 2 s + 10 nothing long could ever be written."""
    sources, targets = [[1] * 4] * 999 + [[1] * 4], [[1] * 6] * 980 + [[1] * 48] * 20
    seen = Seen.of(["ab"], sources, targets)
    assert seen.limit(4) >= 1.4 * 48 and seen.limit(8) > seen.limit(4)
    seen.save(tmp_path)
    assert Seen.load(tmp_path) == seen and seen.characters == "ab"


def test_a_conversation_in_a_terminal(
    trained: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr("sys.stdin", Terminal("The man sleeps.\n\n"))
    assert main(["translate", str(trained)]) == 0
    captured = capsys.readouterr()
    assert "Ctrl-D ends" in captured.err and captured.out.count("> ") == 3


def test_two_runs_are_compared_on_the_same_sentences(
    trained: Path, corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [
        "evaluate",
        str(trained),
        "--source",
        str(corpus / "test.en"),
        "--target",
        str(corpus / "test.de"),
        "--against",
        str(trained),
    ]
    assert main(words) == 0
    assert "BLEU +0.0, p = 1.000 (paired bootstrap): not distinguishable from chance" in capsys.readouterr().out
