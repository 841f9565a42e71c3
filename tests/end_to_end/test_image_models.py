"""Every model of pictures from the command line: train, explain, resume, and how well it reads digits."""

from pathlib import Path

import numpy as np
import pytest

import headway as package
from headway.cli import main
from headway.core import registry
from headway.core.files import read_json
from headway.training.loop import Loop
from headway.training.session import resume
from tests.end_to_end.digit_pictures import digits, write_folders

ATTEND = ("vit", "swin", "non_local_net")  # whose attention is drawn over the picture


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    images, labels = digits()
    return write_folders(tmp_path_factory.mktemp("pictures") / "digits", images[:600], labels[:600])


def test_mlp_trains(folder: Path, tmp_path: Path) -> None:
    command = [
        "train",
        "images",
        "--folder",
        str(folder),
        "--model",
        "mlp",
        "--steps",
        "2",
        "--quiet",
        "--out",
        str(tmp_path / "run"),
    ]
    assert main(command) == 0
    assert read_json(tmp_path / "run" / "plan.json")["model"]["name"] == "mlp"


@pytest.mark.parametrize("name", sorted(registry.models_for("pictures", "one vector")))
def test_every_model_trains_explains_and_resumes(
    name: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With every augmentation, interrupted after three steps and resumed: the same bits, statistics of batch norm included."""
    text = "shift=1 rotation=10 crop=0.1 flip noise=0.05 cutout=2 mixup=0.2"
    command = ["train", "images", "--folder", str(folder), "--model", name, "--augment", text, "--steps", "5"]
    command += ["--training.batch", "16", "--training.validate", "2", "--quiet", "--out"]
    assert main([*command, str(tmp_path / "whole")]) == 0
    advance = Loop._advance

    def interrupted(self: Loop[object], progress: object) -> None:
        advance(self, progress)  # type: ignore[arg-type]
        self.interrupted = self.state.step == 3

    monkeypatch.setattr(Loop, "_advance", interrupted)
    assert main([*command, str(tmp_path / "parts")]) == 130
    monkeypatch.setattr(Loop, "_advance", advance)
    assert resume(tmp_path / "parts")
    for file in ("weights.safetensors", "checkpoint.safetensors"):
        assert (tmp_path / "parts" / file).read_bytes() == (tmp_path / "whole" / file).read_bytes()
    page = tmp_path / "page.html"
    assert main(["inspect", str(tmp_path / "whole"), str(next(folder.glob("3/*.png"))), "--out", str(page)]) == 0
    shown = page.read_text(encoding="utf-8")
    assert "SmoothGrad" in shown and "First filters" in shown and ("Attention: where" in shown) == (name in ATTEND)
    assert ('"kind": "encoder"' in shown or '"kind":"encoder"' in shown) == (name in ATTEND)
    report = (tmp_path / "whole" / "report.html").read_text(encoding="utf-8")
    assert "Most confident errors" in report and "→" in report and "Confusion matrix" in report


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(registry.models_for("pictures", "one vector")))
def test_quality_on_digits(name: str, tmp_path: Path) -> None:
    """All 1,797 digits, 600 steps: at most 20 seconds on two cores."""
    write_folders(tmp_path / "digits", *digits())
    command = ["train", "images", "--folder", str(tmp_path / "digits"), "--model", name, "--steps", "600"]
    assert main([*command, "--quiet", "--out", str(tmp_path / "run")]) == 0
    accuracy = next(s for s in package.load(tmp_path / "run").scores if s.name == "accuracy")
    assert accuracy.part == "test" and accuracy.value >= 0.93


@pytest.mark.slow
def test_a_cnn_beats_an_mlp_of_as_many_parameters(tmp_path: Path) -> None:
    """300 digits to learn from and 1,497 to be judged by, about 6,100 parameters each, the mean of three seeds."""
    images, labels = digits()
    np.savez(tmp_path / "d.npz", x_train=images[:300], y_train=labels[:300], x_test=images[300:], y_test=labels[300:])
    sizes = {"cnn": "--model.filters 8 --model.width 64 --model.kernel 3 --model.depth 2".split()}
    sizes["mlp"] = "--model.width 49 --model.depth 2".split()
    found: dict[str, list[float]] = {name: [] for name in sizes}
    counts = {}
    for name, options in sizes.items():
        for seed in ("1", "2", "3"):
            out = tmp_path / f"{name}{seed}"
            command = ["train", "images", "--npz", str(tmp_path / "d.npz"), "--model", name, *options, "--seed", seed]
            assert main([*command, "--steps", "300", "--quiet", "--out", str(out)]) == 0
            run = package.load(out)
            counts[name] = sum(p.numel() for p in run.model.parameters())
            found[name].append(next(s.value for s in run.scores if s.name == "accuracy"))
    assert abs(counts["cnn"] - counts["mlp"]) < 0.03 * counts["mlp"]
    assert np.mean(found["cnn"]) > np.mean(found["mlp"]) + 0.01, found
