"""What `make demo` promises: three minutes, BLEU of 90, alignment error of 0.35. Run by `make proofs`."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest


@pytest.mark.slow
def test_the_demo_keeps_its_promise(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    command = [sys.executable, "-m", "headway", "train", "demo", "--out", str(tmp_path / "demo")]
    began = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    seconds = time.monotonic() - began
    assert done.returncode == 0, done.stderr
    scores = {(s["part"], s["name"]): s["value"] for s in json.loads((tmp_path / "demo" / "scores.json").read_text())}
    print(f"{seconds:.0f} seconds, {scores}")
    assert scores["test", "BLEU"] >= 90 and scores["test", "AER"] <= 0.35
    assert seconds <= 180
    assert (tmp_path / "demo" / "report.html").exists() and "what to type next" in done.stdout
