"""`headway data prepare` and training from what it makes, from the command line."""

import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from headway.cli import main
from headway.core.files import read_json
from headway.data import doctor_text
from headway.data.input_file import InputFile, split_lines

SMALL = "--model.width 32 --model.depth 1 --context 16 --training.batch 128 --steps 6 --training.validate 6 --seed 7 --quiet".split()
TRAIN = ["train", "language", "--text", "{shards}"]


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("text") / "story.txt"
    path.write_text("".join(f"{n} cats sat on {n + 1} mats; the dog did not.\n" for n in range(600)), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def shards(story: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("prepared") / "shards"
    assert main(["data", "prepare", "--text", str(story), "--out", str(out), "--workers", "2"]) == 0
    return out


def test_training_from_shards_is_training_from_the_text(story: Path, shards: Path, tmp_path: Path) -> None:
    """The same tokens in the same order: the same weights and scores, to the bit."""
    for name, text in (("text", story), ("shards", shards)):
        assert main(["train", "language", "--text", str(text), *SMALL, "--out", str(tmp_path / name)]) == 0
    for file in ("weights.safetensors", "scores.json", "tokenizer.json", "held_out/test.tokens"):
        assert (tmp_path / "text" / file).read_bytes() == (tmp_path / "shards" / file).read_bytes(), file
    assert read_json(tmp_path / "shards" / "plan.json")["data"]["tokens"] == "bpe"
    assert not (tmp_path / "shards" / "cache").exists(), "the tokens to learn from are not copied"


def test_a_run_from_shards_is_resumed_and_used_by_another(
    story: Path, shards: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    assert main(["train", "language", "--text", str(shards), *SMALL, "--out", str(out)]) == 0
    assert main(["train", "--resume", str(out), "--quiet"]) == 0
    assert main(["data", "prepare", "--text", str(story), "--from", str(out), "--out", str(tmp_path / "again"), "--workers", "1"]) == 0
    for file in ("train-00000.tokens", "tokenizer.json"):
        assert (tmp_path / "again" / file).read_bytes() == (shards / file).read_bytes()
    words = ["data", "prepare", "--text", str(story), "--tokens", "characters", "--out", str(tmp_path / "other"), "--workers", "1"]
    assert main(words) == 0
    capsys.readouterr()
    assert main(["train", "language", "--text", str(tmp_path / "other"), "--from", str(out), *SMALL, "--out", str(tmp_path / "x")]) == 2
    assert "was tokenized with another vocabulary than that of" in capsys.readouterr().err


def test_killed_and_started_again_it_ends_the_same(tmp_path: Path, headway: Callable[..., subprocess.Popen[str]]) -> None:
    """Killed as soon as the index names the first shard; its children end with it, and the second process keeps the shard."""
    text = tmp_path / "numbers.txt"
    text.write_text("".join(f"{n * n % 9973} " for n in range(2_000_000)))
    words = ["data", "prepare", "--text", str(text), "--tokens", "bytes", "--workers", "2"]
    killed = headway(*words, "--out", str(tmp_path / "killed"))
    first = tmp_path / "killed" / "train-00000.tokens"
    index = tmp_path / "killed" / "index.json"
    while not (index.exists() and first.name in index.read_text()) and killed.poll() is None:
        time.sleep(0.01)
    children = [Path("/proc") / child for child in Path(f"/proc/{killed.pid}/task/{killed.pid}/children").read_text().split()]
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    for _ in range(1000):
        if not any(child.exists() for child in children):
            break
        time.sleep(0.02)
    assert children and not any(child.exists() for child in children), "no process waits for a parent that is gone"
    made = first.stat().st_mtime_ns
    assert headway(*words, "--out", str(tmp_path / "killed")).wait(120) == 0
    assert headway(*words, "--out", str(tmp_path / "whole")).wait(120) == 0
    assert first.stat().st_mtime_ns == made
    names = [path.name for path in sorted((tmp_path / "whole").iterdir()) if path.name != ".lock"]
    assert len(names) >= 6
    for name in names:
        assert (tmp_path / "killed" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_help_has_options_and_examples(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["data", "prepare", "--help"])
    said = capsys.readouterr().out
    assert "--workers N" in said and "headway data prepare --text corpus/ --out shards/" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["data", "prepare", "--out", "x"], "which text, and where to? `--text` and `--out`"),
        (["data", "prepare", "--text", "missing.txt", "--out", "x"], "there is no file `missing.txt`"),
        (["data", "prepare", "--text", "{tmp}/empty", "--out", "{tmp}/x"], "holds no text"),
        (["data", "prepare", "--text", "{tmp}/binary.txt", "--out", "{tmp}/x"], "is a binary file (a NUL byte in line 2)"),
        (["data", "prepare", "--text", "{tmp}/latin.txt", "--out", "{tmp}/x"], "is not UTF-8: byte 0xf6 in line 1"),
        (["data", "prepare", "--text", "{tmp}/latin.txt", "--tokens", "bpa", "--out", "{tmp}/x"], "did you mean `bpe`"),
        (["data", "prepare", "--text", "{story}", "--workers", "0", "--out", "{tmp}/x"], "`--workers 0` should be at least 1"),
        (["data", "prepare", "--text", "{story}", "--from", "x", "--tokens", "bpe", "--out", "{tmp}/x"], "`--from` brings a vocabulary"),
        ([*TRAIN, "--vocabulary", "900", "--out", "{tmp}/x"], "was tokenized with `--tokens bpe --vocabulary"),
        ([*TRAIN, "--test-text", "{story}", "--out", "{tmp}/x"], "has its own held-out parts"),
        (["train", "masked", "--text", "{shards}", "--out", "{tmp}/x"], "holds tokens that `headway data prepare` made, not text"),
    ],
)  # fmt: skip
def test_errors_are_told(
    words: list[str], said: str, story: Path, shards: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "binary.txt").write_bytes(b"one\n\0\x01\x02")
    (tmp_path / "latin.txt").write_bytes(b"k\xf6nig\n")
    places = {"tmp": tmp_path, "story": story, "shards": shards}
    assert main([word.format(**places) for word in words]) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "x" / "index.json").exists()


@pytest.mark.parametrize("text", ["ab\u00ad" * 40, "a" * 90 + "\n" + "b" * 70 + "\r\nend", "cafe\u0301 " * 30 + "\n", ""])
@pytest.mark.parametrize("piece", [7, 1000])
def test_a_line_is_examined_in_pieces(text: str, piece: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A text without line ends may be larger than the memory; what is found is the same, but for how often."""
    monkeypatch.setattr(doctor_text, "LONG_LINE", 60)
    found = []
    for most in (20, 10**9):
        monkeypatch.setattr(doctor_text, "MOST_HELD", most)
        doctor = doctor_text.TextDoctor()
        for at in range(0, len(text), piece):
            doctor.read(text[at : at + piece])
            assert sum(map(len, doctor._held)) <= 20 + piece or most > 20
        doctor.end_document()
        found.append((doctor.lines, doctor.longest, doctor.characters, {k: [line for line, *_ in v][:1] for k, v in doctor._found.items()}))
    assert found[0] == found[1]


@pytest.mark.parametrize("text", ["", "a", "a\n", "\n\nb", "x" * 200_000 + "\r\ny\n" + "z" * 100_000])
def test_lines_of_any_length_are_numbered(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.txt").write_bytes(text.encode())
    lines = list(InputFile(str(tmp_path / "a.txt")).numbered_lines())
    assert lines == list(enumerate(split_lines(text), 1))


def test_one_huge_line(tmp_path: Path) -> None:
    (tmp_path / "line.txt").write_text("never a break " * 20_000 + "x" * 200_000)
    words = ["data", "prepare", "--text", str(tmp_path / "line.txt"), "--out", str(tmp_path / "out"), "--workers", "1"]
    assert main(words) == 0
