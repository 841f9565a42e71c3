"""`headway lab probe` on trained runs: the page, JSON, data of one's own, and what goes wrong."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from headway.cli import main
from headway.probe.measure import PROBES
from tests.end_to_end.digit_pictures import digits


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small network of relu on digits, and digits of one's own beside it."""
    root = tmp_path_factory.mktemp("digits")
    images, labels = digits()
    np.savez(root / "digits.npz", images=images[:400], labels=labels[:400])
    np.savez(root / "own.npz", images=images[400:480], labels=labels[400:480])
    small = "--model mlp --model.width 12 --training.optimizer sgd --training.batch 32 --steps 40".split()
    assert main(["train", "images", "--npz", str(root / "digits.npz"), *small, "--quiet", "--out", str(root / "run")]) == 0
    (root / "digits.npz").unlink()  # the run keeps what it is probed on
    return root


def probed(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, object]:
    capsys.readouterr()
    assert main(["lab", "probe", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_classifier(pictures: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = probed(capsys, str(pictures / "run"))
    names = {f["probe"]: f for f in found["findings"]}
    left = {f["probe"]: f["reason"] for f in found["left_out"]}
    assert set(names) | set(left) == set(PROBES) and not set(names) & set(left)
    assert found["examples"] == 40 and names["Linear regions along a path"]["kind"] == "exact"
    assert "20 at which `sgd`" in names["Sharpness"]["reading"] and 0 <= names["Margin"]["numbers"]["wrong"] < 0.9
    assert "no attention" in left["Attention heads"]
    page = (pictures / "run" / "probe.html").read_text(encoding="utf-8")
    assert all(name in page for name in PROBES) and page.count("<figure") >= len(names) and "http" not in page.split("</style>")[1][:200]


def test_the_same_seed_gives_the_same_numbers(pictures: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, two = (probed(capsys, str(pictures / "run"), "--examples", "20", "--seed", "3") for _ in range(2))
    assert one == two and one["examples"] == 20


def test_data_of_ones_own(pictures: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = probed(capsys, str(pictures / "run"), "--data", str(pictures / "own.npz"), "--out", str(tmp_path / "own.html"))
    assert found["examples"] == 80 and "own.npz" in found["data"] and (tmp_path / "own.html").exists()


def test_a_translation(trained: Path, corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = shutil.copytree(trained, tmp_path / "run")
    files = str(corpus / "test.en"), str(corpus / "test.de")
    for words in ((str(run),), (str(run), "--source", files[0], "--target", files[1])):
        found = probed(capsys, *words)
        names = {f["probe"]: f["numbers"] for f in found["findings"]}
        assert not [f for f in found["left_out"] if "could not be computed" in f["reason"]]
        assert {"entropy/encoder.0.mixer", "entropy/decoder.0.cross"} <= set(names["Attention heads"])
        assert "distance/decoder.0.cross" not in names["Attention heads"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere"], "nowhere"),
        (["RUN", "--seed", "1", "another"], "`another` is one argument too many"),
        (["RUN", "--examples", "1"], "`--examples 1` should be at least 2"),
        (["RUN", "--seed", "-1"], "`--seed -1` should not be negative"),
        (["RUN", "--data", "a.npz", "b.npz", "c", "d", "e"], "5 files are too many"),
        (["RUN", "--data", "missing.npz"], "missing.npz"),
    ],
)
def test_mistakes_get_one_sentence(pictures: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str) -> None:
    assert main(["lab", "probe", *(str(pictures / "run") if w == "RUN" else w for w in words)]) == 2
    assert message in capsys.readouterr().err
