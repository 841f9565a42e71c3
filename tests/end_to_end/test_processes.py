"""Several processes train one model: the same losses as one process, files and progress once, also after a kill."""

import json
from pathlib import Path

import numpy as np
import pytest

from headway.cli import main
from tests.end_to_end.conftest import SMALL
from tests.end_to_end.digit_pictures import digits, write_folders
from tests.end_to_end.forked import run_together

STEPS = 50


def losses(run: Path) -> np.ndarray:
    records = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    found = [(r["step"], r["loss"], r["count"]) for r in records if "loss" in r]
    assert [step for step, _, _ in found] == list(range(1, len(found) + 1)), "each step is recorded once"
    return np.array(found)


def trained(words: list[str], out: Path, count: int) -> Path:
    """A run that so many processes trained."""
    words = [*words, "--training.validate", "20", "--out", str(out)]
    if count == 1:
        assert main([*words, "--quiet"]) == 0
        return out
    codes, texts, errors = run_together(count, words, out.with_name(out.name + "-texts"))
    assert codes == [0] * count, errors
    assert texts[1:] == [""] * (count - 1) and texts[0].count(f"step {STEPS}/{STEPS}") == 1, "process 0 alone reports"
    return out


@pytest.fixture(scope="module")
def commands(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    folder = tmp_path_factory.mktemp("inputs")
    images, labels = digits()
    write_folders(folder / "digits", images[:120], labels[:120])
    (folder / "text.txt").write_text((corpus / "a.en").read_text() * 2)
    files = ["--source", str(corpus / "a.en"), "--target", str(corpus / "a.de")]
    text = ["--text", str(folder / "text.txt"), "--model.width", "16", "--model.depth", "1", "--model.dropout", "0"]
    pictures = ["--folder", str(folder / "digits"), "--model.dropout", "0"]
    return {
        "translation": ["translation", *files, *SMALL, "--model.dropout", "0"],
        "language": ["language", *text, "--tokens", "characters", "--context", "24", "--training.batch", "200"],
        "images": ["images", *pictures, "--model", "lenet", "--training.batch", "16", "--augment", "shift=1"],
    }


@pytest.mark.parametrize("task, count, accumulate", [("translation", 2, 1), ("translation", 3, 2), ("language", 3, 1), ("language", 2, 2), ("images", 2, 1), ("images", 3, 2)])  # fmt: skip
def test_losses_equal_those_of_one_process(commands: dict[str, list[str]], tmp_path: Path, task: str, count: int, accumulate: int) -> None:
    words = ["train", *commands[task], "--steps", str(STEPS), "--training.accumulate", str(accumulate)]
    one, many = (losses(trained(words, tmp_path / str(n), n)) for n in (1, count))
    assert len(one) == STEPS and (one[:, 2] == many[:, 2]).all(), "the same tokens or examples in each step"
    np.testing.assert_allclose(many[:, 1], one[:, 1], rtol=2e-5)
