"""Detection from the command line: train, detect, evaluate, resume, what the doctor finds, and what goes wrong."""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import headway as package
from headway.cli import main
from headway.core.errors import DataError, RunError
from headway.core.files import read_json, read_tensors
from headway.data import shapes
from headway.data.annotated_batches import AnnotatedBatches
from headway.data.annotated_files import read_annotated
from headway.data.picture_frame import Frame
from headway.report.summary import summarise
from headway.tasks.annotated import collect_annotated
from headway.tasks.detection import Data
from headway.tasks.found_objects import SURE, FoundObjects
from headway.training.loop import Loop
from headway.training.session import resume

SMALL = (
    "--model.filters 4 --model.stages 2 --model.width 16 --model.depth 1 --model.heads 2 --training.batch 40".split()
)


def words(out: Path, *more: str, steps: int = 12) -> list[str]:
    return ["train", "detection", *more, *SMALL, "--steps", str(steps), "--quiet", "--out", str(out)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("pictures") / "shapes"
    shapes.write(made, 60, seed=3, side=24)
    return made


@pytest.fixture(scope="module")
def trained(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose pictures have moved away."""
    root = tmp_path_factory.mktemp("runs")
    own = shutil.copytree(folder, root / "own")
    assert main(words(root / "shapes", "--folder", str(own))) == 0
    shutil.rmtree(own)
    return root / "shapes"


def test_drawn_pictures_show_their_boxes() -> None:
    """Inside a box there is colour, close to all four edges; outside of all boxes there is grey noise only."""
    drawn, again = shapes.draw(20, seed=1), shapes.draw(20, seed=1)
    assert drawn.fingerprint == again.fingerprint != shapes.draw(20, seed=2).fingerprint
    assert (drawn.images[:3] == shapes.draw(3, seed=1).images).all(), "picture i is a function of (seed, i)"
    for i in range(20):
        image = drawn.images[i].astype(int)
        coloured = image.max(2) - image.min(2) > 40
        outside = np.ones((48, 48), dtype=bool)
        boxes = np.rint(drawn.boxes[drawn.of(i)] * 48).astype(int)
        assert 1 <= len(boxes) <= 4
        for left, top, right, bottom in boxes:
            part = coloured[top:bottom, left:right]
            assert part[-2:].any() and part[:2].any() and part[:, :2].any() and part[:, -2:].any()
            outside[top:bottom, left:right] = False
        assert not (coloured & outside).any()
    assert set(drawn.label_names) == {"circle", "square", "triangle"}


def test_a_written_folder_is_what_was_drawn(folder: Path) -> None:
    drawn = shapes.draw(60, seed=3, side=24)
    found, report = read_annotated(str(folder))
    assert (
        (found.images == drawn.images).all() and found.names == drawn.names and found.label_names == drawn.label_names
    )
    np.testing.assert_allclose(found.boxes, drawn.boxes, atol=1e-12)
    assert (found.owners == drawn.owners).all() and [f.kind for f in report.findings] == ["little-data"]
    some = found.select([5, 2])
    assert some.names == ("00005.png", "00002.png") and (some.boxes[some.of(1)] == found.boxes[found.of(2)]).all()


def test_batches_hold_every_picture_with_its_own_boxes(folder: Path) -> None:
    found, _ = read_annotated(str(folder))
    batches = AnnotatedBatches(found, found.labels, rows=7, seed=1, frame=Frame.of(found.images))
    one, two = batches[4], AnnotatedBatches(found, found.labels, rows=7, seed=1, frame=batches.frame)[4]
    assert (one.pictures == two.pictures).all() and (one.objects.boxes == two.objects.boxes).all()
    for rows, batch in batches.in_order():
        for k, row in enumerate(rows):
            mine = batch.objects.owners == k
            corners = found.boxes[found.of(int(row))]
            np.testing.assert_allclose(
                batch.objects.boxes[mine][:, :2], (corners[:, :2] + corners[:, 2:]) / 2, atol=1e-6
            )
            assert batch.objects.labels[mine].tolist() == found.labels[found.of(int(row))].tolist()
    drawn = [b for n in range(len(batches)) for b in batches[n].objects.labels.tolist()]
    assert len(drawn) == len(found.labels)


def test_the_run_keeps_what_it_needs(trained: Path) -> None:
    assert read_json(trained / "frame.json")["height"] == 24
    assert len(read_tensors(trained / "held_out" / "validation.safetensors")["images"]) == 6
    run = package.load(trained)
    assert [s.name for s in run.scores] == ["AP50", "AP", "loss"]
    judged = run.judge()
    assert next(p.title for p in judged.panels) == "Found and expected"
    assert any(box.expected for box in judged.panels[0].pictures[0].boxes)
    assert "Average precision" in (trained / "report.html").read_text("utf-8")


def test_detect(trained: Path, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Image.open(folder / "00001.png").resize((60, 48)).save(tmp_path / "large.png")
    run = package.load(trained)
    with_nothing_unsure = run.detect([str(folder / "00000.png"), str(tmp_path / "large.png")])
    assert with_nothing_unsure[1].picture.image.shape == (48, 60, 3), "the picture is shown as it is"
    assert "was made 24 x 24" in with_nothing_unsure[1].warnings[0]
    for d in with_nothing_unsure:
        assert list(d.confidence) == sorted(d.confidence, reverse=True) and all(c >= 0.5 for c in d.confidence)
        assert all(0 <= b.left <= b.right <= 1 and b.name in ("circle", "square", "triangle") for b in d.boxes)
    pictures = [str(folder / "00000.png"), str(tmp_path / "large.png")]
    assert main(["detect", str(trained), *pictures, "--out", str(tmp_path / "found.html")]) == 0
    assert "00000.png" in capsys.readouterr().out and "large.png" in (tmp_path / "found.html").read_text("utf-8")
    assert main(["detect", str(trained), pictures[0], "--out", str(tmp_path / "boxes.png")]) == 0
    assert Image.open(tmp_path / "boxes.png").size == (480, 480), "a small picture is enlarged"
    capsys.readouterr()
    assert main(["detect", str(trained), *pictures, "--json"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert [v["picture"] for v in value] == pictures


def test_boxes_are_given_in_pixels_of_the_picture(
    trained: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from headway.tasks import found_objects

    monkeypatch.setattr(found_objects, "SURE", 0.0)  # every query is shown
    Image.open(folder / "00001.png").resize((60, 48)).save(tmp_path / "large.png")
    found = package.load(trained).detect(str(tmp_path / "large.png"))[0]
    assert len(found.boxes) == 12
    assert main(["detect", str(trained), str(tmp_path / "large.png"), "--json"]) == 0
    first = json.loads(capsys.readouterr().out)[0]["objects"][0]
    assert first["right"] == pytest.approx(found.boxes[0].right * 60, abs=0.06)
    assert (
        first["bottom"] == pytest.approx(found.boxes[0].bottom * 48, abs=0.06) and first["class"] == found.boxes[0].name
    )
    assert main(["detect", str(trained), str(tmp_path / "large.png"), "--out", str(tmp_path / "b.png")]) == 0
    assert "12 objects" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (["none.png"], "there is no file"),
        (["broken.png"], "cannot identify image file"),
        (["good.png", "--out", "boxes.txt"], "should end in .html or .png"),
        (["good.png", "good.png", "--out", "b.png"], "is one picture, and 2 were given"),
        (["good.png", "--out", "good.png"], "is the picture itself"),
    ],
)
def test_wrong_pictures_to_detect_on(
    trained: Path, folder: Path, tmp_path: Path, more: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(folder / "00000.png", tmp_path / "good.png")
    (tmp_path / "broken.png").write_bytes(b"no")
    given = [str(tmp_path / word) if "." in word else word for word in more]
    assert main(["detect", str(trained), *given]) == 2
    message = capsys.readouterr().err
    assert expected in message and "Traceback" not in message


def test_evaluate(trained: Path, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", str(trained), "--folder", str(folder), "--json"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert value["sizes"] == {"given": 60} and [s["name"] for s in value["scores"]] == ["AP50", "AP", "loss"]
    other = Path(shutil.copytree(folder, tmp_path / "other"))
    table = (other / "boxes.csv").read_text()
    (other / "boxes.csv").write_text(table.replace("circle", "disc"))
    with pytest.raises(DataError, match="labels that training does not have: `disc`"):
        package.load(trained).evaluate(folder=str(other))


def test_evaluate_reads_pictures_in_the_size_of_the_run(trained: Path, tmp_path: Path) -> None:
    shapes.write(tmp_path / "large", 12, seed=4, side=48)
    part, _ = package.load(trained).task._given(Data(folder=str(tmp_path / "large")))
    assert part.images.shape == (12, 24, 24, 3)
    np.testing.assert_allclose(part.boxes, shapes.draw(12, seed=4, side=48).boxes, atol=1e-12)


def test_pictures_that_are_also_held_out(folder: Path, tmp_path: Path) -> None:
    test = tmp_path / "test"
    shapes.write(test, 10, seed=5, side=24)
    shutil.copy(folder / "00003.png", test / "x.png")
    shutil.copy(folder / "00007.png", test / "y.png")
    corpus = collect_annotated(str(folder), {"test": str(test)}, None, 1)
    assert "2 pictures also among the held-out pictures (pictures 4, 8): will be dropped" in corpus.describe()
    names = {*corpus.train.names, *corpus.held_out["validation"].names}
    assert len(names) == 58 and not {"00003.png", "00007.png"} & names and len(corpus.held_out["test"]) == 12
    found = read_annotated(str(folder))[0]
    assert corpus.reports[0].kept == len(found.labels) - len(found.select([3, 7]).labels)
    with pytest.raises(DataError, match="every picture is also held out"):
        collect_annotated(str(folder), {"test": str(folder)}, None, 1)


def test_an_interrupted_run_ends_with_the_same_bits(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(words(tmp_path / "whole", "--folder", str(folder))) == 0
    advance = Loop._advance

    def interrupted(self: Loop[object], progress: object) -> None:
        advance(self, progress)  # type: ignore[arg-type]
        self.interrupted = self.state.step == 7

    monkeypatch.setattr(Loop, "_advance", interrupted)
    assert main(words(tmp_path / "parts", "--folder", str(folder))) == 130
    monkeypatch.setattr(Loop, "_advance", advance)
    assert resume(tmp_path / "parts")
    for name in ("weights.safetensors", "checkpoint.safetensors"):
        assert (tmp_path / "parts" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_drawn_shapes_train_and_a_run_begins_with_another(trained: Path, tmp_path: Path) -> None:
    more = ("--kind", "shapes", "--count", "30", "--size", "24", "--auxiliary", "no")
    assert main(words(tmp_path / "drawn", *more, steps=1)) == 0
    more = ("--kind", "shapes", "--count", "30", "--from", str(trained), "--training.rate", "1e-9")
    assert main(["train", "detection", *more, "--steps", "1", "--quiet", "--out", str(tmp_path / "on")]) == 0
    assert read_json(tmp_path / "on" / "frame.json") == read_json(trained / "frame.json")
    before, now = (read_tensors(run / "weights.safetensors") for run in (trained, tmp_path / "on"))
    assert all(np.allclose(now[name], tensor, atol=1e-6) for name, tensor in before.items())


# -- the doctor --------------------------------------------------------------------------------------------------------


def test_the_doctor_reads_boxes(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = Path(shutil.copytree(folder, tmp_path / "own"))
    (own / "broken.png").write_bytes(b"no")
    Image.fromarray(np.zeros((24, 24, 3), np.uint8)).save(own / "bare.png")
    shutil.copy(own / "00000.png", own / "copy.png")
    more = [
        "00000.png,circle,20,20,30,23",  # reaches beyond the right edge
        "00000.png,circle,30,30,40,40",  # wholly outside
        "00000.png,circle,5,5,5,9",  # no width
        "00001.png,circle,a,5,7,9",
        "00001.png,,1,5,7,9",
        "none.png,circle,1,5,7,9",
        "00002.png,square,3,3,9,9",
        "00002.png,square,3,3,9,9",
    ]
    with open(own / "boxes.csv", "a") as file:
        file.write("\n".join(more) + "\n")
    found, report = read_annotated(str(own))
    kinds = {f.kind: (f.count, f.action) for f in report.findings}
    dropped = dict.fromkeys(("outside", "empty", "no-number", "no-class", "no-picture", "duplicate", "unreadable"), 1)
    assert {kind: kinds[kind] for kind in dropped} == dict.fromkeys(dropped, (1, "dropped"))
    assert kinds["cut"] == (1, "kept") and kinds["no-box"] == (2, "kept") and kinds["copied-picture"] == (1, "kept")
    assert len(found.labels) == len(read_annotated(str(folder))[0].labels) + 2
    assert found.boxes[found.of(0)].max() == 1.0 and len(found) == 62
    assert main(["data", "check", str(own)]) == 0
    text = capsys.readouterr().out
    assert "as data for detection" in text and "1 object cut at the edge of the picture" in text
    assert "1 file that cannot be read" in text and "2 pictures without a box" in text


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (None, "there is no table `boxes.csv`"),
        ("", "is empty"),
        ("file,class,left,top,right,bottom\n", "holds no rows"),
        ("file,klass,left,top,right,bottom\n00000.png,a,1,1,5,5\n", "has no column `class`"),
        ("file,class,left,top,right,bottom\n00000.png,a,5,5,1,1\n", "holds no usable box"),
    ],
)
def test_wrong_folders_are_explained(
    folder: Path, tmp_path: Path, table: str | None, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    own = tmp_path / "own"
    own.mkdir()
    shutil.copy(folder / "00000.png", own)
    if table is not None:
        (own / "boxes.csv").write_text(table)
    assert main(words(tmp_path / "run", "--folder", str(own), steps=1)) == 2
    message = capsys.readouterr().err
    assert expected in message and "Traceback" not in message and not (tmp_path / "run").exists()
    if "klass" in (table or ""):
        assert "did you mean `klass`?" in message


def test_wrong_options_are_explained(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words(tmp_path / "x", steps=1)) == 2
    assert "which pictures?" in capsys.readouterr().err
    assert main(words(tmp_path / "x", "--folder", str(folder), "--kind", "shapes", steps=1)) == 2
    assert "exclude each other" in capsys.readouterr().err
    assert main(words(tmp_path / "x", "--folder", str(folder), "--model.queries", "2", steps=1)) == 2
    assert "the model has 2 queries" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("frame.json", b'{"height": 8}', "`width` is missing"),
        ("classes.json", b'{"names": ["a", "a"], "counts": [3, 4]}', "every class needs one name and one count"),
        ("held_out/validation.safetensors", b"xx", "is damaged"),
    ],
)
def test_damage_is_reported(trained: Path, tmp_path: Path, name: str, content: bytes, expected: str) -> None:
    copy = Path(shutil.copytree(trained, tmp_path / "copy"))
    (copy / name).write_bytes(content)
    with pytest.raises(RunError, match=re.escape(expected)) as raised:
        summarise(package.load(copy))
    assert name in raised.value.message


@pytest.mark.slow
def test_quality_on_shapes(tmp_path: Path) -> None:
    """Pictures of 48 x 48 with one to four shapes; a shape is shown once, not several times."""
    more = ["--kind", "shapes", "--steps", "600", "--quiet", "--out", str(tmp_path / "run")]
    assert main(["train", "detection", *more]) == 0
    run = package.load(tmp_path / "run")
    precise = next(s for s in run.scores if s.name == "AP50")
    assert precise.part == "test" and precise.value >= 0.8
    part, batches = run.task._held_out(tmp_path / "run")["test"]  # type: ignore[attr-defined]
    every = FoundObjects.of(run.model.eval(), part, batches, run.task.classes.names)  # type: ignore
    shown, right = every.confidence >= SURE, every.found.right[:, 0].astype(bool)
    assert (shown & right).sum() >= 0.8 * shown.sum() and (shown & right).sum() >= 0.75 * len(part.labels)
