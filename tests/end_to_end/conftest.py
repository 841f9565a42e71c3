"""A small corpus and a small trained run, made once for all end-to-end tests."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from headway.cli import main
from headway.data.grammar.corpus import generate

SMALL = "--model.width 32 --model.depth 1 --model.heads 2 --model.inner 64 --training.batch 256 --vocabulary 400".split()


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """a.en, a.de (300 pairs), test.en, test.de (20 pairs), test.gold."""
    folder = tmp_path_factory.mktemp("corpus")
    for name, split, count in (("a", "train", 300), ("test", "test", 20)):
        pairs = generate(count, split, 3)
        (folder / f"{name}.en").write_text("".join(p.source + "\n" for p in pairs), encoding="utf-8")
        (folder / f"{name}.de").write_text("".join(p.target + "\n" for p in pairs), encoding="utf-8")
        gold = (" ".join(f"{s}-{t}" for s, t in p.alignment) + "\n" for p in pairs)
        (folder / f"{name}.gold").write_text("".join(gold), encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def trained(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run; tests that change it work on a copy."""
    out = tmp_path_factory.mktemp("runs") / "small"
    files = ["--source", str(corpus / "a.en"), "--target", str(corpus / "a.de")]
    assert main(["train", "translation", *files, *SMALL, "--steps", "30", "--seed", "7", "--quiet", "--out", str(out)]) == 0
    return out


@pytest.fixture
def copy(trained: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(trained, tmp_path / "copy"))


@pytest.fixture(scope="session")
def headway() -> Callable[..., subprocess.Popen[str]]:
    """Start the command as a process of its own."""

    def start(*words: str, threads: int = 1) -> subprocess.Popen[str]:
        environment = os.environ | {"OMP_NUM_THREADS": str(threads)}
        command = [sys.executable, "-m", "headway", *words]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)

    return start
