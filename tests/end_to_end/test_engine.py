"""CTranslate2 as the engine: the words of our own search, token for token; a copy inside the run; a directory that runs without us."""

import os
import random
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from headway.cli import main
from headway.core.errors import UsageError
from headway.runs.run import Run
from tests.end_to_end.conftest import SMALL

pytest.importorskip("ctranslate2")
WORDS = {"dog": "Hund", "house": "Haus", "man": "Mann", "green": "grün", "old": "alt", "sees": "sieht", "the": "die", "river": "Fluss"}
TEXTS = ["dog", "the old man", "", "x", "green house river old", "the man sees the old dog and the green house near the river"]
MODELS = {
    "pre": ["--model.norm", "pre"],
    "post": ["--model.norm", "post"],
    "learned": ["--model.position", "learned"],
    "apart": ["--joint", "no", "--model.share", "no"],
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Run]:
    """Runs that have learned to end their sentences (word for word), each trained when it is first asked for."""
    folder, rng = tmp_path_factory.mktemp("engine"), random.Random(1)
    rows = [rng.choices(list(WORDS), k=rng.randint(1, 3)) for _ in range(400)]
    pairs = dict.fromkeys((" ".join(row), " ".join(WORDS[word] for word in row)) for row in rows)
    (folder / "pairs.tsv").write_text("".join(f"{source}\t{target}\n" for source, target in pairs), encoding="utf-8")

    @cache
    def trained(name: str) -> Run:
        words = [*SMALL, *MODELS[name], "--steps", "120", "--training.validate", "120", "--quiet"]
        assert main(["train", "translation", "--pairs", str(folder / "pairs.tsv"), *words, "--out", str(folder / name)]) == 0
        return Run(folder / name)

    return trained


@pytest.mark.parametrize("beam", [1, 3, 5])
@pytest.mark.parametrize("model", MODELS)
def test_the_same_words(runs: Callable[[str], Run], model: str, beam: int) -> None:
    run, texts = runs(model), [*TEXTS, *WORDS]
    found = {}
    for engine in ("torch", "ctranslate2"):
        assert run.use_engine(engine) == engine  # type: ignore[arg-type]
        found[engine] = run.translations(texts, beam=beam, best=min(beam, 2))
    for ours, theirs in zip(found["torch"], found["ctranslate2"], strict=True):
        assert [t.text for t in ours] == [t.text for t in theirs]
        assert [t.score for t in ours] == pytest.approx([t.score for t in theirs], abs=1e-4)
        assert ours[0].warnings == theirs[0].warnings
    ids = run.task.source.encode(texts)  # type: ignore[attr-defined]
    answered = run.task.searcher.engine.search(ids, [99] * len(ids), beam, 1.0, 8)  # type: ignore[attr-defined]
    assert sum(answer is not None for answer in answered) > 0.5 * len(texts)  # the engine answered, not our own search


def test_the_copy_follows_the_weights(copy: Path) -> None:
    run = Run(copy)
    assert run.use_engine("auto") == "ctranslate2"
    kept = copy / "ctranslate2" / "float32" / "model.bin"
    first = kept.stat().st_mtime_ns
    assert Run(copy).use_engine("ctranslate2") == "ctranslate2" and kept.stat().st_mtime_ns == first  # not made twice
    weights = copy / "weights.safetensors"
    os.utime(weights, ns=(first, weights.stat().st_mtime_ns + 10**9))
    Run(copy).use_engine("ctranslate2")
    assert kept.stat().st_mtime_ns > first
    kept.with_name("made_from.json").write_text("{")  # damaged: made again
    assert Run(copy).use_engine("ctranslate2") == "ctranslate2"


def test_int8_and_refusals(copy: Path, corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["translate", str(copy), "The man sleeps.", "--int8"]) == 0
    assert main(["translate", str(copy), "The man sleeps.", "--engine", "ctranslate2"]) == 0
    whole, small = ((copy / "ctranslate2" / kind / "model.bin").stat().st_size for kind in ("float32", "int8"))
    assert small < 0.8 * whole
    with pytest.raises(UsageError, match="there is no engine `fast`"):
        Run(copy).use_engine("fast")  # type: ignore[arg-type]
    assert main(["translate", str(copy), "x", "--int8", "--engine", "torch"]) == 2
    rnn = tmp_path / "rnn"
    files = ["--source", str(corpus / "a.en"), "--target", str(corpus / "a.de")]
    words = ["--model", "rnn_seq2seq", "--model.width", "16", "--steps", "2", "--quiet", "--out", str(rnn)]
    assert main(["train", "translation", *files, *words]) == 0
    assert Run(rnn).use_engine("auto") == "torch"
    capsys.readouterr()
    assert main(["translate", str(rnn), "x", "--engine", "ctranslate2"]) == 2
    assert "it runs the model `transformer`, not `rnn_seq2seq`" in capsys.readouterr().err
    assert main(["export", "ctranslate2", str(rnn), "--out", str(tmp_path / "e")]) == 2 and not (tmp_path / "e").exists()
    assert main(["export", "onx", str(rnn), "--out", str(tmp_path / "e")]) == 2


def test_an_exported_directory_runs_without_us(runs: Callable[[str], Run], tmp_path: Path) -> None:
    run, out = runs("pre"), tmp_path / "taken"
    assert main(["export", "ctranslate2", str(run.folder), "--out", str(out)]) == 0
    assert main(["export", "ctranslate2", str(run.folder), "--out", str(out)]) == 2  # nothing is overwritten
    lines = "\n".join(WORDS) + "\n"
    program = "import sys; sys.modules['headway'] = sys.modules['torch'] = None; import runpy; runpy.run_path(sys.argv[1])"
    command = [sys.executable, "-c", program, str(out / "translate.py")]
    found = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
    run.use_engine("torch")
    assert found.stdout.splitlines() == run.translate(lines.splitlines())
