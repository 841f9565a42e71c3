"""One clear message for each mistake, exit code 2, nothing lost."""

import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from headway.cli import main
from headway.training.checkpoint import read_header
from tests.end_to_end.conftest import SMALL


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        ("trian demo", "unknown verb `trian`", "did you mean `train`?"),
        ("train demoo --out x", "unknown task `demoo`", "did you mean `demo`?"),
        ("train", "what should be trained?", "train demo"),
        ("train demo", "missing: `--out DIR`", "--out runs/demo"),
        ("train demo --minuts 3 --out x", "unknown option `--minuts`", "did you mean `--minutes`?"),
        ("train demo --out x --model transfromer", "unknown model `transfromer`", "did you mean `transformer`?"),
        ("train demo --out x --model.dept 3", "`--model.dept`", "did you mean `--model.depth`?"),
        ("train demo --out x --model.depth three", "`--model.depth` should be a whole number, not `three`", ""),
        (
            "train demo --out x --model.norm per",
            "`--model.norm` should be one of 'pre', 'post', 'deep', not `per`",
            "did you mean `pre`?",
        ),
        ("train demo --out x --training.rat 3", "unknown option `--training.rat`", "did you mean `--training.rate`?"),
        ("train demo --out x --training.rate fast", "`--training.rate` should be a number", ""),
        ("train demo --out x --training.rate", "`--training.rate` needs a value", ""),
        ("train translation --pairs x --out x --tokens bbe", "`--tokens` should be one of", "did you mean `bpe`?"),
        ("train demo --out x --steps 0", "`--steps 0` is not a budget", "above zero"),
        ("train demo --out x --minutes inf", "`--minutes` should be a number", ""),
        ("train demo --out x --training.accumulate 0", "`training.accumulate` must be at least 1", ""),
        ("train translation --grammar 9 --out x --smoothing 2", "`--smoothing` must be", ""),
        ("train demo --out x --seed.foo 3", "unknown option `--seed.foo`", ""),
        ("train demo --out x --source a.en", "unknown option `--source`", "headway train demo --help"),
        ("train demo --out x --minutes 3 --training.steps 2", "unknown option `--training.steps`", ""),
        ("train translation --text a --out x", "unknown option `--text`", "did you mean"),
        (
            "train language --model transformer --text x --out x",
            "`transformer` reads tokens and gives target tokens",
            "it takes `gpt`",
        ),
        (
            "train translation --model gpt --grammar 9 --out x",
            "this task needs tokens and target tokens",
            "`transformer`",
        ),
        ("train translation --out x", "which data?", "headway train translation --help"),
        ("train translation --grammar 9 --from nowhere --out x", "there is no directory `nowhere`", "headway train"),
        ("train translation --grammar 9 --model.heads 3 --model.width 64 --out x", "must divide", ""),
        ("train translation --grammar 9 --device gpu --out x", "`gpu`", ""),
        ("train translation --pairs nowhere.tsv --out x", "there is no file `nowhere.tsv` (`--pairs`)", "looked in"),
        ("train --resume nowhere", "there is no directory `nowhere`", ""),
        ("train --resume nowhere demo --steps 3", "would change it", "and nothing else"),
        ("translate nowhere hello", "there is no directory `nowhere`", "headway train"),
        ("list modles", "unknown room `modles`", "did you mean `models`?"),
        ("show transfomer", "unknown name `transfomer`", "did you mean `transformer`?"),
        ("find qqqqqq", "unknown name `qqqqqq`", ""),
        ("data chek a b", "unknown action `chek`", "did you mean `check`? `headway data --help` lists them all."),
        ("data check", "which data?", ""),
        ("check nothing_like_it", "unknown", ""),
        ("evaluate nowhere --source a", "there is no directory `nowhere`", ""),
        ("inspect nowhere text --out maps.gif", "should end in .html or .png", ""),
    ],
)
def test_command_lines(
    words: str,
    message: str,
    hint: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(words.split()) == 2
    error = capsys.readouterr().err
    assert error.startswith("headway: error: ") and message in error and hint in error, error
    assert "Traceback" not in error and not list(tmp_path.iterdir()), "nothing is left behind"


def test_command_line_errors_load_nothing_heavy() -> None:
    for words in (
        ["--help"],
        ["train", "demo", "--modle", "x"],
        ["train", "demo", "--model.dept", "3"],
        ["train", "translation", "--help"],
        ["list"],
        ["find", "Bahdanau"],
    ):
        script = (
            "import sys, headway.cli\n"
            f"try: headway.cli.main({words!r})\nexcept SystemExit: pass\n"
            "heavy = {'torch', 'numpy', 'matplotlib', 'tokenizers', 'rich'} & set(sys.modules)\nsys.exit(7 if heavy else 0)"
        )
        assert subprocess.run([sys.executable, "-c", script], capture_output=True).returncode == 0, words


def test_options_that_do_not_fit_leave_nothing_behind(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [
        "--source",
        str(corpus / "a.en"),
        "--target",
        str(corpus / "a.de"),
        "--steps",
        "2",
        "--quiet",
        "--out",
        str(tmp_path / "x"),
    ]
    wrong = {
        "--model.heads 3 --model.width 64": "must divide",
        "--model.dropout 1.5": "between 0 and 0.9",
        "--model.depth 0": "at least 1",
    }
    for options, message in wrong.items():
        assert main(["train", "translation", *files, *options.split()]) == 2
        assert message in capsys.readouterr().err and not (tmp_path / "x").exists()


def test_a_pair_too_long_for_the_positions_is_told_first(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("a.en", "a.de"):
        text = (corpus / name).read_text(encoding="utf-8")
        (tmp_path / name).write_text(text + "straightforwardness " * 100 + "\n", encoding="utf-8")
    words = [
        "--source",
        str(tmp_path / "a.en"),
        "--target",
        str(tmp_path / "a.de"),
        "--tokens",
        "bytes",
        "--model.position",
        "learned",
    ]
    assert main(["train", "translation", *words, "--steps", "2", "--quiet", "--out", str(tmp_path / "x")]) == 2
    assert "learned positions that end at 1024" in capsys.readouterr().err and not (tmp_path / "x").exists()


def test_unwritable_results_are_refused_before_the_work(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for output, message in (
        (tmp_path, "it is a directory"),
        (tmp_path / "no" / "x", "there is no directory"),
        (Path("/"), "directory"),
    ):
        assert main(["translate", str(trained), "hello", "--output", str(output)]) == 2
        assert message in capsys.readouterr().err
    assert main(["translate", "A whole sentence in the place of the run. " * 20, "text"]) == 2
    assert "there is no directory" in capsys.readouterr().err


def bad_files(folder: Path) -> dict[str, tuple[list[str], str]]:
    """Files that cannot be trained on, and what is said of them."""
    (folder / "good.en").write_text("a b c\n" * 50)
    (folder / "empty.de").write_text("")
    (folder / "short.de").write_text("x y z\n" * 49)
    (folder / "binary.de").write_bytes(bytes(range(256)) * 10)
    (folder / "latin.de").write_bytes("Häuser\n".encode("latin-1") * 50)
    (folder / "blank.de").write_text("\n" * 50)
    (folder / "odd.tsv").write_text("one column only\n" * 5)
    (folder / "directory").mkdir()
    pair = lambda name: ["--source", str(folder / "good.en"), "--target", str(folder / name)]  # noqa: E731
    return {
        "empty": (pair("empty.de"), "empty"),
        "short": (pair("short.de"), "49"),
        "binary": (pair("binary.de"), "binary"),
        "latin": (pair("latin.de"), "UTF-8"),
        "blank": (pair("blank.de"), "empty"),
        "columns": (["--pairs", str(folder / "odd.tsv")], "column"),
        "directory": (["--pairs", str(folder / "directory")], "directory"),
    }


@pytest.mark.parametrize("name", ["empty", "short", "binary", "latin", "blank", "columns", "directory"])
def test_bad_data(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words, message = bad_files(tmp_path)[name]
    assert main(["train", "translation", *words, "--steps", "2", "--quiet", "--out", str(tmp_path / "run")]) == 2
    error = capsys.readouterr().err
    assert message in error and "Traceback" not in error, error


def test_output_directory_in_use(
    corpus: Path, trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = ["--source", str(corpus / "a.en"), "--target", str(corpus / "a.de"), "--steps", "2", "--quiet"]
    assert main(["train", "translation", *files, "--out", str(trained)]) == 2
    assert f"headway train --resume {trained}" in capsys.readouterr().err
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "me.png").write_bytes(b"x")
    assert main(["train", "translation", *files, "--out", str(tmp_path / "photos")]) == 2
    assert "not an empty directory" in capsys.readouterr().err
    assert [p.name for p in (tmp_path / "photos").iterdir()] == ["me.png"]
    assert main(["train", "translation", *files, "--out", str(tmp_path / "photos" / "me.png")]) == 2


def test_two_processes_in_one_directory(
    corpus: Path, tmp_path: Path, headway: Callable[..., "subprocess.Popen[str]"]
) -> None:
    out = tmp_path / "run"
    files = ["--source", str(corpus / "a.en"), "--target", str(corpus / "a.de")]
    first = headway("train", "translation", *files, *SMALL, "--steps", "100000", "--out", str(out))
    while not (out / "plan.json").exists():
        assert first.poll() is None
        time.sleep(0.05)
    second = headway("train", "--resume", str(out))
    _, error = second.communicate(timeout=60)
    first.kill()
    first.communicate()
    assert second.returncode == 2 and "in use by another process" in error


def test_out_of_disk_while_saving(corpus: Path, tmp_path: Path) -> None:
    """A real refusal of the operating system: no file may grow beyond 300 kB, and the checkpoint would."""
    out = tmp_path / "run"
    words = ["train", "translation", "--source", str(corpus / "a.en"), "--target", str(corpus / "a.de"), *SMALL]
    words += ["--steps", "20", "--training.validate", "4", "--out", str(out)]
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))  # noqa: E731
    command = [sys.executable, "-m", "headway"]
    done = subprocess.run([*command, *words], capture_output=True, text=True, preexec_fn=limit)
    assert done.returncode == 2 and "no space left on the disk" in done.stderr and "--resume" in done.stderr, (
        done.stderr
    )
    assert "Traceback" not in done.stderr
    assert not list(out.glob("*.part")) and read_header(out / "checkpoint.safetensors")[0].step == 0, (
        "the version before is unharmed"
    )
    again = subprocess.run([*command, "train", "--resume", str(out)], capture_output=True, text=True)
    assert again.returncode == 0, again.stderr
