"""Language models from the command line: train, generate, evaluate, inspect, resume, and what goes wrong."""

import io
import json
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import headway as package
from headway.cli import main
from headway.core.files import read_tensors

SMALL = "--model.width 32 --model.depth 1 --context 16 --training.batch 128 --tokens characters".split()


TEXT = ["train", "language", "--text", "{story}"]
PAIRS = ["train", "translation", "--source", "{story}", "--target", "{story}"]


@pytest.fixture(scope="session")
def story(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("text") / "story.txt"
    path.write_text("".join(f"{n} cats sat on {n + 1} mats; the dog did not.\n" for n in range(150)), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def written(story: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "text"
    assert main(["train", "language", "--text", str(story), *SMALL, "--steps", "40", "--seed", "7", "--quiet", "--out", str(out)]) == 0
    return out


def test_generate_is_a_function_of_the_seed(written: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["generate", str(written), "--prompt", "7 cats", "--length", "30", "--temperature", "0.8", "--top-p", "0.95"]
    texts = []
    for more in (["--seed", "3"], ["--seed", "3"], ["--seed", "4"], ["--count", "2", "--seed", "3"]):
        assert main(words + more) == 0
        texts.append(capsys.readouterr().out)
    assert texts[0] == texts[1] != texts[2] and texts[0].startswith("7 cats") and len(texts[0]) >= 30
    assert texts[3].startswith(texts[0].rstrip("\n")) and "-" * 20 in texts[3]


def test_evaluate_and_inspect(written: Path, story: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", str(written), "--text", str(story), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    scores = {score["name"]: score["value"] for score in found["scores"]}
    assert found["sizes"]["given"] == story.stat().st_size
    assert 0 < scores["bits per byte"] < 8 and scores["perplexity"] == pytest.approx(2.718281828 ** scores["nats per token"], rel=1e-6)
    assert scores["bits per byte"] == pytest.approx(scores["nats per token"] / 0.6931471806), "a character of this text is one byte"
    assert main(["inspect", str(written), "5 cats", "--out", str(tmp_path / "maps.html")]) == 0
    assert "cats" in (tmp_path / "maps.html").read_text(encoding="utf-8")
    report = (written / "report.html").read_text(encoding="utf-8")
    assert "bits per byte" in report and "continuation" in report


def test_a_run_in_python(written: Path) -> None:
    run = package.load(written)
    assert len(run.generate("1 cat", length=5, temperature=0.0)) == 5 and len(list(run.stream("1 cat", length=3))) <= 3
    with pytest.raises(package.HeadwayError, match="trained for language"):
        run.translate(["x"])


@pytest.mark.parametrize("model", ["lstm", "mamba", "xlnet", "transformer_xl", "performer"])
def test_any_mixer_trains(story: Path, tmp_path: Path, model: str) -> None:
    words = ["train", "language", "--text", str(story), "--model", model, *SMALL, "--steps", "2", "--quiet", "--out", str(tmp_path / "r")]
    assert main(words) == 0
    assert (tmp_path / "r" / "report.html").exists()


def test_text_from_a_pipe_and_a_folder(story: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(story.read_bytes()), encoding="utf-8"))
    (tmp_path / "folder").mkdir()
    shutil.copy(story, tmp_path / "folder" / "a.txt")
    for number, source in enumerate(("-", str(tmp_path / "folder"))):
        out = tmp_path / f"run{number}"
        assert main(["train", "language", "--text", source, *SMALL, "--steps", "2", "--quiet", "--out", str(out)]) == 0
    assert (tmp_path / "run0" / "standard_input").read_bytes() == story.read_bytes(), "what came through the pipe is kept"
    weights = [read_tensors(tmp_path / f"run{n}" / "weights.safetensors") for n in (0, 1)]
    assert all(bool((a == weights[1][name]).all()) for name, a in weights[0].items()), "the same text gives the same model"


def test_killed_and_resumed_it_ends_the_same(story: Path, tmp_path: Path, headway: Callable[..., subprocess.Popen[str]]) -> None:
    """Performer, whose random features must come back as well."""
    words = ["language", "--text", str(story), "--model", "performer", *SMALL, "--steps", "30", "--seed", "5", "--quiet"]
    assert headway("train", *words, "--out", str(tmp_path / "whole")).wait(120) == 0
    killed = headway("train", *words, "--out", str(tmp_path / "killed"))
    while not (tmp_path / "killed" / "checkpoint.safetensors").exists() and killed.poll() is None:
        time.sleep(0.01)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    assert headway("train", "--resume", str(tmp_path / "killed"), "--quiet").wait(120) == 0
    for name in ("weights.safetensors", "checkpoint.safetensors"):
        assert (tmp_path / "killed" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["train", "language", "--out", "{tmp}/x"], "which text? `--text`"),
        (["train", "language", "--text", "missing.txt", "--out", "x"], "there is no file `missing.txt`"),
        ([*TEXT, "--model", "mambo", "--out", "x"], "did you mean `mamba`"),
        ([*TEXT, "--model", "transformer", "--out", "x"], "`transformer` reads tokens and gives target tokens"),
        ([*TEXT, "--model", "mamba", "--model.state", "3", "--out", "x"], "did you mean `--model.states`"),
        ([*TEXT, "--model", "linformer", "--steps", "1", "--quiet", "--out", "{tmp}/x"], "performer"),
        ([*PAIRS, "--model", "gpt", "--out", "x"], "`gpt` reads tokens and gives next token"),
        (["generate", "{run}", "--top-p", "2"], "`top_p` is 2.0"),
        (["generate", "{run}", "--temperature", "nan"], "`temperature` is nan"),
        (["align", "{run}", "--source", "{story}", "--target", "{story}"], "same file"),
        (["generate", "{tmp}"], "is not a run"),
        (["translate", "{run}", "hello"], "was trained for language"),
    ],
)  # fmt: skip
def test_errors_are_told(
    words: list[str], said: str, story: Path, written: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([w.format(story=story, run=written, tmp=tmp_path) for w in words]) == 2
    assert said in capsys.readouterr().err
