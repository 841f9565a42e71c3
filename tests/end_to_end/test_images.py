"""Image classification from the command line: train, classify, evaluate, resume, and what goes wrong."""

import json
import re
import shutil
import struct
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import headway as package
from headway.cli import main
from headway.core.errors import DataError, RunError
from headway.core.files import read_json, read_tensors
from headway.data.picture_files import read_pictures
from headway.data.picture_frame import Frame
from headway.report.summary import summarise
from headway.tasks.images import Data
from headway.training.loop import Loop
from headway.training.session import resume
from tests.end_to_end.digit_pictures import SMALL, digits, words, write_folders


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    images, labels = digits()
    return write_folders(tmp_path_factory.mktemp("pictures") / "digits", images[:600], labels[:600])


@pytest.fixture(scope="module")
def trained(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose pictures have moved away."""
    root = tmp_path_factory.mktemp("runs")
    own = shutil.copytree(folder, root / "own")
    assert main(words(root / "digits", "--folder", str(own), steps=150)) == 0
    shutil.rmtree(own)
    return root / "digits"


def test_the_run_keeps_what_it_needs(trained: Path) -> None:
    frame = read_json(trained / "frame.json")
    assert (frame["height"], frame["width"]) == (8, 8)
    values = digits()[0][:600] / 255
    assert frame["mean"] == pytest.approx([values.mean()], abs=0.01) and frame["deviation"] == pytest.approx(
        [values.std()], abs=0.01
    )
    parts = {p.stem: read_tensors(p) for p in (trained / "held_out").iterdir()}
    assert {name: len(part["images"]) for name, part in parts.items()} == {"validation": 60, "test": 60}
    assert all(np.bincount(part["labels"], minlength=10).tolist() == [6] * 10 for part in parts.values()), (
        "the split is stratified"
    )
    report = (trained / "report.html").read_text(encoding="utf-8")
    assert "macro F1" in report and ".png" in report and "most frequent confusions" in report


def test_the_frame_is_mean_and_deviation() -> None:
    images = np.random.default_rng(1).integers(0, 256, (1500, 3, 5, 3), dtype=np.uint8)
    frame, values = Frame.of(images), images / 255
    np.testing.assert_allclose(frame.mean, values.mean((0, 1, 2)), rtol=1e-10)
    np.testing.assert_allclose(frame.deviation, values.std((0, 1, 2)), rtol=1e-10)
    scaled = frame.scale(images)
    assert scaled.shape == (1500, 3, 3, 5)
    np.testing.assert_allclose(scaled.mean((0, 2, 3)), 0, atol=1e-5)
    np.testing.assert_allclose(scaled.std((0, 2, 3), correction=0), 1, atol=1e-5)
    expected = (values[7, 2, 1, 0] - values[..., 0].mean()) / values[..., 0].std()
    assert float(scaled[7, 0, 2, 1]) == pytest.approx(expected, abs=1e-5), "rows stay rows"


def test_classify_a_picture(trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    images, labels = digits()
    for i in range(600, 640):
        Image.fromarray(images[i]).save(tmp_path / f"{i}.png")
    run = package.load(trained)
    found = run.classify([str(tmp_path / f"{i}.png") for i in range(600, 640)])
    assert np.mean([f.label == str(labels[i]) for i, f in zip(range(600, 640), found, strict=True)]) > 0.7
    values = list(found[0].probabilities.values())
    assert values == sorted(values, reverse=True) and sum(values) == pytest.approx(1) and found[0].warnings == ()
    Image.fromarray(images[600]).resize((20, 16)).convert("RGB").save(tmp_path / "large.png")
    assert main(["classify", str(trained), str(tmp_path / "large.png")]) == 0
    text = capsys.readouterr().out
    assert "the picture is 20 x 16 pixels and was made 8 x 8" in text and "was made grey" in text
    (tmp_path / "broken.png").write_bytes(b"not a picture")
    assert main(["classify", str(trained), str(tmp_path / "broken.png"), str(tmp_path / "none.png")]) == 2
    message = capsys.readouterr().err
    assert (
        "broken.png` cannot identify image file" in message
        and "there is no file" in message
        and "Traceback" not in message
    )


def test_evaluate_reads_every_format(trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    images, labels = digits()
    images, labels = images[600:700], labels[600:700]
    write_folders(tmp_path / "folder", images, labels)
    np.savez(tmp_path / "digits.npz", x_train=images[:1], y_train=labels[:1], x_test=images, y_test=labels)
    (tmp_path / "p.idx").write_bytes(b"\0\0\x08\x03" + struct.pack(">3I", *images.shape) + images.tobytes())
    (tmp_path / "l.idx").write_bytes(
        b"\0\0\x08\x01" + struct.pack(">I", len(labels)) + labels.astype(np.uint8).tobytes()
    )
    found = []
    for source in (["--folder", "folder"], ["--npz", "digits.npz"], ["--idx", "p.idx", "--labels", "l.idx"]):
        given = [word if word.startswith("--") else str(tmp_path / word) for word in source]
        assert main(["evaluate", str(trained), *given, "--json"]) == 0
        value = json.loads(capsys.readouterr().out)
        found.append((value["sizes"], value["scores"]))
    assert found[0] == found[1] == found[2] and found[0][0] == {"given": 100}
    predicted = package.load(trained).classify([str(p) for p in sorted((tmp_path / "folder").glob("*/*.png"))])
    right = np.mean(
        [
            f.label == p.parent.name
            for f, p in zip(predicted, sorted((tmp_path / "folder").glob("*/*.png")), strict=True)
        ]
    )
    assert found[0][1][0]["value"] == pytest.approx(right)


def test_evaluate_reads_pictures_in_the_size_of_the_run(trained: Path, tmp_path: Path) -> None:
    """Each is resized once, as those that are classified."""
    images, labels = digits()
    sizes = [(20, 16)] * 15 + [(40, 40)] * 5
    for i, size in enumerate(sizes):
        (tmp_path / str(labels[i])).mkdir(exist_ok=True)
        Image.fromarray(images[i]).resize(size).save(tmp_path / str(labels[i]) / f"{i}.png")
    task = package.load(trained).task
    part, _ = task._given(Data(folder=str(tmp_path)))
    assert part.images.shape == (20, 8, 8, 1)
    assert (part.images == task.frame.read([str(tmp_path / name) for name in part.names])[0]).all()


@pytest.mark.parametrize("suffix", ["images-idx3-ubyte", "train-images-idx3-ubyte"])
def test_idx_and_npz_are_trained_on(tmp_path: Path, suffix: str, capsys: pytest.CaptureFixture[str]) -> None:
    images, labels = (part[:200] for part in digits())
    path = tmp_path / suffix
    path.write_bytes(b"\0\0\x08\x03" + struct.pack(">3I", *images.shape) + images.tobytes())
    beside = tmp_path / suffix.replace("images-idx3", "labels-idx1")
    beside.write_bytes(b"\0\0\x08\x01" + struct.pack(">I", 200) + labels.astype(np.uint8).tobytes())
    assert main(words(tmp_path / "run", "--idx", str(path), "--model.depth", "1", steps=1)) == 0
    beside.write_bytes(beside.read_bytes()[:-7])
    assert main(words(tmp_path / "damaged", "--idx", str(path), steps=1)) == 2
    assert "announces 200 values and holds 193" in capsys.readouterr().err
    beside.unlink()
    assert main(words(tmp_path / "missing", "--idx", str(path), steps=1)) == 2
    assert "there are no labels" in capsys.readouterr().err


def test_parts_and_sizes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The test part of an archive is the test; pictures are brought to the size that is asked for."""
    images, labels = digits()
    np.savez(
        tmp_path / "d.npz", x_train=images[:200], y_train=labels[:200], x_test=images[200:260], y_test=labels[200:260]
    )
    command = [
        "train",
        "images",
        "--npz",
        str(tmp_path / "d.npz"),
        "--size",
        "12",
        *SMALL,
        "--steps",
        "1",
        "--out",
        str(tmp_path / "run"),
    ]
    assert main(command) == 0
    text = capsys.readouterr().out
    assert "held out: 20 for validation, 60 for test" in text and "pictures of 12 x 12 in grey, 10 classes" in text
    assert read_tensors(tmp_path / "run" / "held_out" / "test.safetensors")["images"].shape == (60, 12, 12, 1)
    write_folders(tmp_path / "own", images[300:340], labels[300:340])
    assert read_pictures(str(tmp_path / "own"), side=5).images.shape == (40, 5, 5, 1), (
        "read in that size, not made so later"
    )
    command = words(
        tmp_path / "second", "--npz", str(tmp_path / "d.npz"), "--validation-folder", str(tmp_path / "own"), steps=1
    )
    assert main(command) == 0
    assert len(read_tensors(tmp_path / "second" / "held_out" / "validation.safetensors")["images"]) == 40


def test_an_interrupted_run_ends_with_the_same_bits(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(words(tmp_path / "whole", "--folder", str(folder))) == 0
    advance = Loop._advance

    def interrupted(self: Loop[object], progress: object) -> None:
        advance(self, progress)  # type: ignore[arg-type]
        self.interrupted = self.state.step == 13

    monkeypatch.setattr(Loop, "_advance", interrupted)
    assert main(words(tmp_path / "parts", "--folder", str(folder))) == 130
    monkeypatch.setattr(Loop, "_advance", advance)
    assert resume(tmp_path / "parts")
    for name in ("weights.safetensors", "checkpoint.safetensors"):
        assert (tmp_path / "parts" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_a_run_begins_with_another(trained: Path, folder: Path, tmp_path: Path) -> None:
    """Scale, classes and weights are taken over; larger pictures are brought to the size of the first run."""
    images, labels = digits()
    large = np.stack([np.asarray(Image.fromarray(image).resize((16, 16))) for image in images[600:700]])
    write_folders(tmp_path / "large", large, labels[600:700])
    more = ("--folder", str(tmp_path / "large"), "--from", str(trained), "--training.rate", "1e-9")
    assert main(["train", "images", *more, "--steps", "1", "--quiet", "--out", str(tmp_path / "on")]) == 0
    assert read_json(tmp_path / "on" / "frame.json") == read_json(trained / "frame.json")
    before, now = (read_tensors(run / "weights.safetensors") for run in (trained, tmp_path / "on"))
    assert all(np.allclose(now[name], tensor, atol=1e-6) for name, tensor in before.items())


def test_augmentation_is_planned_and_checked(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Small pictures are left as they are, larger ones shifted and turned; nothing is mirrored unless asked for."""
    for side, expected in ((8, "none"), (28, "shift=2 rotation=10")):
        out = tmp_path / str(side)
        assert main(words(out, "--folder", str(folder), "--size", str(side), steps=1)) == 0
        assert read_json(out / "plan.json")["data"]["augment"] == expected
    assert main(words(tmp_path / "x", "--folder", str(folder), "--augment", "rotate=5", steps=1)) == 2
    message = capsys.readouterr().err
    assert "did you mean `rotation`?" in message and "--augment none" in message


def test_pictures_that_are_also_held_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    images, labels = digits()
    test = np.concatenate((images[300:340], images[10:13]))
    answers = np.concatenate((labels[300:340], labels[10:13]))
    np.savez(tmp_path / "d.npz", x_train=images[:300], y_train=labels[:300], x_test=test, y_test=answers)
    command = [
        "train",
        "images",
        "--npz",
        str(tmp_path / "d.npz"),
        *SMALL,
        "--steps",
        "1",
        "--out",
        str(tmp_path / "r"),
    ]
    assert main(command) == 0
    text = capsys.readouterr().out
    assert "3 pictures also among the held-out pictures (pictures 11, 12, 13): will be dropped" in text
    assert "learning from 267 pictures; held out: 30 for validation, 43 for test" in text


def test_recognised_by_data_check(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.savez(tmp_path / "digits.npz", images=digits()[0], labels=digits()[1])
    for path in (folder, tmp_path / "digits.npz"):
        assert main(["data", "check", str(path)]) == 0
        assert "as data for images" in (text := capsys.readouterr().out) and "10 classes" in text


def test_wrong_pictures_are_explained(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = tmp_path / "one"
    shutil.copytree(folder / "3", one / "3")
    assert main(words(tmp_path / "x", "--folder", str(one), steps=1)) == 2
    assert (
        "every picture has the label `3`: nothing to learn" in capsys.readouterr().err and not (tmp_path / "x").exists()
    )
    mixed = Path(shutil.copytree(folder, tmp_path / "mixed"))
    (mixed / "3" / "broken.png").write_bytes(b"no")
    assert main(["train", "images", "--folder", str(mixed), *SMALL, "--steps", "1", "--out", str(tmp_path / "y")]) == 0
    assert (
        "1 file that cannot be read" in (text := capsys.readouterr().out) and "`3/broken.png` cannot identify" in text
    )
    assert main(words(tmp_path / "z", "--folder", str(folder), "--npz", str(folder), steps=1)) == 2
    assert "exclude each other" in capsys.readouterr().err
    assert main(words(tmp_path / "z", steps=1)) == 2
    assert "which pictures?" in capsys.readouterr().err


def test_labels_that_training_lacks(trained: Path, folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(folder / "3", other / "3"), shutil.copytree(folder / "4", other / "four")
    with pytest.raises(DataError, match="labels that training does not have: `four`"):
        package.load(trained).evaluate(folder=str(other))


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("classes.json", b'{"names": ["0", "0"], "counts": [3, 4]}', "every class needs one name and one count"),
        ("frame.json", b'{"height": 8}', "`width` is missing"),
        ("held_out/test.safetensors", b"xx", "is damaged"),
    ],
)
def test_damage_is_reported(trained: Path, tmp_path: Path, name: str, content: bytes, expected: str) -> None:
    copy = Path(shutil.copytree(trained, tmp_path / "copy"))
    (copy / name).write_bytes(content)
    with pytest.raises(RunError, match=re.escape(expected)) as raised:
        summarise(package.load(copy))
    assert name in raised.value.message
