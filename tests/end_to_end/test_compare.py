"""`headway compare`: equal sizes on any task, one table and one page, continued where it stopped, and no orphan when it is killed."""

import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from headway.cli import main
from headway.compare.child import train_and_measure, train_in_child
from headway.compare.outcome import read_outcome
from headway.core.errors import RunError
from headway.tasks.asking import ask
from headway.training.progress import Progress

TINY = "--model.width 16 --model.depth 1 --model.heads 2 --model.inner 128".split()
LANGUAGE = [*TINY, *"--tokens characters --context 16 --training.batch 64 --training.validate 9".split()]


@pytest.fixture(scope="session")
def story(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("text") / "story.txt"
    path.write_text("".join(f"{n} cats sat on {n + 1} mats; the dog did not.\n" for n in range(150)), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def compared(story: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[list[str], Path]:
    """A finished comparison, and the words that made it."""
    out = tmp_path_factory.mktemp("compare") / "c"
    words = [
        "compare",
        "language",
        "--text",
        str(story),
        "--models",
        "gpt,lru",
        "--steps",
        "3",
        "--seeds",
        "2",
        *LANGUAGE,
    ]
    assert main([*words, "--quiet", "--out", str(out)]) == 0
    return words, out


def test_equal_sizes_one_table_and_one_page(compared: tuple[list[str], Path]) -> None:
    _, out = compared
    found = json.loads((out / "comparison.json").read_text())
    assert [(o["model"], o["seed"]) for o in found["runs"]] == [("gpt", 1), ("lru", 1), ("gpt", 2), ("lru", 2)]
    sizes = {o["parameters"] for o in found["runs"]}
    assert len(sizes) == 2 and max(sizes) / min(sizes) < 1.05
    for o in found["runs"]:
        plan = json.loads((out / o["folder"] / "plan.json").read_text())
        assert plan["model"]["options"]["width"] == 16 and plan["data"]["context"] == 16, (
            "what was asked for all holds for all"
        )
        assert o["steps"] == 3 and o["better"] == "lower" and o["scores"][0]["name"] == "nats per token"
        assert o["training_speed"] > 0 and o["flops"] > 0 and o["generation_speed"] > 0 and 50 < o["memory"] < 5000
        assert o["curves"].keys() == {"loss in validation", "loss in training"}
        scores = json.loads((out / o["folder"] / "scores.json").read_text())
        assert o["scores"] == scores, "the run keeps the same scores"
    page = (out / "comparison.html").read_text(encoding="utf-8")
    links = re.findall(r'<a href="([^"]+)"', page)
    assert sorted(links) == sorted(f"{o['folder']}/report.html" for o in found["runs"]) and all(
        (out / link).exists() for link in links
    )
    assert "<svg" in page and "±" in page and "not distinguishable" in page and "https://" not in page
    assert "gpt, seed 2" in page and ' class="c1"' in page and ' class="c2"' not in page, "one colour for each model"


def test_what_is_done_is_not_done_again(
    compared: tuple[list[str], Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    words, before = compared
    out = Path(shutil.copytree(before, tmp_path / "c"))
    monkeypatch.setattr("headway.compare.models.settle", lambda *_: pytest.fail("the sizes are known"))
    monkeypatch.setattr("headway.compare.models.train_in_child", lambda *_: pytest.fail("all runs are done"))
    assert main([*words, "--out", str(out)]) == 0
    text = capsys.readouterr().out
    assert all(len(line) <= 100 for line in text.split("\n")[:-2]) and "tokens/s" in text and "generated/s" in text
    trained: list[object] = []
    monkeypatch.setattr(
        "headway.compare.models.train_in_child", lambda name, recipe, *_: trained.append((name, recipe.seed))
    )
    (out / "lru-2" / "outcome.json").unlink()
    with pytest.raises(RunError, match=r"outcome.json` is missing"):
        main([*words, "--out", str(out), "--debug"])
    assert trained == [("lru", 2)], "only what is missing"


def test_a_run_of_another_comparison_is_refused(
    compared: tuple[list[str], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words, before = compared
    out = Path(shutil.copytree(before, tmp_path / "c"))
    assert main([*words, "--training.rate", "0.5", "--out", str(out)]) == 2
    message = capsys.readouterr().err
    assert (
        "gpt-1` was trained for another comparison: `training.rate`: null -> 0.5" in message
        and "another `--out`" in message
    )


def test_translation_is_compared_as_well(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = ["--source", str(corpus / "a.en"), "--target", str(corpus / "a.de"), "--vocabulary", "300"]
    words = [
        "compare",
        "translation",
        *files,
        *TINY,
        "--models",
        "transformer,rnn_seq2seq",
        "--steps",
        "2",
        "--seeds",
        "1",
    ]
    assert main([*words, "--beam", "1", "--quiet", "--out", str(tmp_path / "c")]) == 0
    text = capsys.readouterr().out
    assert "BLEU" in text and "generated/s" not in text and "repeat with `--seeds 3`" in text
    runs = json.loads((tmp_path / "c" / "comparison.json").read_text())["runs"]
    assert [o["better"] for o in runs] == ["higher", "higher"] and runs[0]["generation_speed"] is None
    assert max(o["parameters"] for o in runs) / min(o["parameters"] for o in runs) < 1.05
    assert runs[0]["curves"].keys() == {"BLEU in validation", "loss in validation", "loss in training"}


def alive(pid: int) -> bool:
    """Whether the process runs; one that ended and waits for its parent to notice does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")
def test_killed_it_leaves_no_orphan(story: Path, tmp_path: Path, headway: Callable[..., subprocess.Popen[str]]) -> None:
    """SIGKILL cannot be handled: the child has to notice by itself that its parent is gone."""
    out = tmp_path / "c"
    words = ["compare", "language", "--text", str(story), "--models", "gpt,lru", "--seeds", "1", *LANGUAGE, "--quiet"]
    killed = headway(*words, "--steps", "3000", "--training.patience", "none", "--out", str(out))
    checkpoint, deadline = out / "gpt-1" / "checkpoint.safetensors", time.monotonic() + 120
    while not checkpoint.exists() and killed.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    child = int((out / "gpt-1" / ".lock").read_text())
    assert child != killed.pid and alive(child)
    os.kill(killed.pid, signal.SIGKILL)
    killed.wait()
    deadline = time.monotonic() + 20
    while alive(child) and time.monotonic() < deadline:
        time.sleep(0.02)
    orphan = alive(child)
    if orphan:
        os.kill(child, signal.SIGKILL)
    assert not orphan, "the child went on without its parent"


def test_a_run_that_is_half_done_is_resumed(
    story: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = {"text": str(story), "tokens": "characters", "context": 16}
    sizes = {"width": 16, "depth": 1, "heads": 2, "inner": 32}
    recipe = ask("language", data, "gpt", sizes, {"steps": 4, "batch": 64, "validate": 8}).recipe()

    def interrupt(self: Progress, step: int, *_: object) -> None:
        if step == 2:
            signal.raise_signal(signal.SIGINT)

    with monkeypatch.context() as patch:
        patch.setattr(Progress, "step", interrupt)
        assert not train_and_measure("gpt", recipe, tmp_path / "gpt-1", False, False)
    assert not (tmp_path / "gpt-1" / "outcome.json").exists() and "continuing" not in capsys.readouterr().out
    assert train_and_measure("gpt", recipe, tmp_path / "gpt-1", False, False)
    assert "continuing at step 2 of 4" in capsys.readouterr().out
    done = read_outcome(tmp_path / "gpt-1")
    assert done.steps == 4 and done.memory is not None
    (tmp_path / "gpt-1" / "outcome.json").unlink()
    assert train_and_measure("gpt", recipe, tmp_path / "gpt-1", False, False), "trained, but not judged yet"
    assert "continuing" not in capsys.readouterr().out
    judged = read_outcome(tmp_path / "gpt-1")
    assert judged.steps == 4 and judged.memory is None, "what training held is not known any more"


def test_a_child_reports_what_a_person_can_mend(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The wish is found impossible only in the child, when the text has been read."""
    short = tmp_path / "short.txt"
    short.write_text("one line\n")
    recipe = ask("language", {"text": str(short), "tokens": "characters"}, "gpt", {}, {"steps": 2}).recipe()
    with pytest.raises(
        RunError, match=r"training `gpt` with seed 1 in `.*` failed: .*too little to set some apart\nHint: bring more"
    ):
        train_in_child("gpt", recipe, tmp_path / "r", True, False)
    assert not (tmp_path / "r").exists() and "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("language --text {story} --models gpt --out {tmp}/c", "two or more models"),
        ("language --text {story} --out {tmp}/c", "two or more models"),
        ("language --models gpt,lstm --out {tmp}/c", "which text? `--text`"),
        ("language --text - --models gpt,lstm --out {tmp}/c", "standard input"),
        ("language --text {story} --models gpt,mambo --out {tmp}/c", "did you mean `mamba`"),
        ("language --text {story} --models gpt,lru,LRU --out {tmp}/c", "named twice"),
        ("language --text {story} --models gpt,lru --model.widht 8 --out {tmp}/c", "did you mean `--model.width`"),
        ("language --text {story} --models gpt,lru --seeds 0 --out {tmp}/c", "`--seeds 0` should be at least 1"),
        ("language --text {story} --models gpt,lru", "missing: `--out DIR`"),
        ("language --text missing.txt --models gpt,lru --out {tmp}/c", "there is no file `missing.txt`"),
        ("langage --models gpt,lru --out {tmp}/c", "did you mean `language`"),
        (
            "translation --models transformer,gpt --pairs {story} --out {tmp}/c",
            "`gpt` reads tokens and gives next token",
        ),
    ],
)
def test_mistakes_are_reported(
    words: str, message: str, story: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", *words.format(story=story, tmp=tmp_path).split()]) == 2
    assert message in capsys.readouterr().err
    assert not [path for path in tmp_path.glob("c/*") if path.name != ".lock"], "nothing was trained"


def test_help_lists_every_task_and_its_options(capsys: pytest.CaptureFixture[str]) -> None:
    for words, expected in (
        (["compare"], "mixers"),
        (["compare", "language"], "--text PATH"),
        (["compare", "mixers"], "--riddles"),
    ):
        with pytest.raises(SystemExit):
            main([*words, "--help"])
        assert expected in capsys.readouterr().out
