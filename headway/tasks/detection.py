import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from headway.core.config import Choice, require
from headway.core.errors import DataError, UsageError
from headway.core.seeds import derive
from headway.data.annotated_batches import AnnotatedBatch, AnnotatedBatches
from headway.data.annotated_files import read_annotated
from headway.data.annotated_pictures import BOXES, AnnotatedPictures
from headway.data.picture_folders import read_header, read_picture
from headway.data.picture_frame import resize_images
from headway.data.shapes import draw
from headway.models.set_predictor import SetPredictor
from headway.tasks.annotated import apart, collect_annotated, read_held_out, write_held_out
from headway.tasks.brought import brought_parts, require_path
from headway.tasks.found_objects import FIGURES, FoundObjects
from headway.tasks.labelled_task import LabelledTask
from headway.tasks.labels import LabelledCorpus
from headway.tasks.matching import set_loss
from headway.tasks.panels import Picture
from headway.tasks.picture_state import PictureState
from headway.tasks.recipe import Proposal, Recipe
from headway.tasks.sizing import sized, usual_rate
from headway.tasks.task import Base, Judgement, Loss, Validation
from headway.tasks.uses import Detected

BATCH = 64  # pictures that are judged at once
WHICH = f"which pictures? `--folder`, with a table `{BOXES}` in it"


@dataclass(frozen=True)
class Data:
    folder: str | None = None  # PNG or JPEG files and a table `boxes.csv`: file,class,left,top,right,bottom in pixels
    kind: Literal["shapes"] | None = None  # or drawn pictures: circles, squares and triangles on noise
    count: int = 6000  # how many pictures are drawn
    validation_folder: str | None = None  # held-out pictures to choose the best weights by (default: a part)
    test_folder: str | None = None  # held-out pictures to judge the end result by (default: a part)
    size: int | None = None  # pictures are brought to this width and height in pixels (default: as most of them are)
    auxiliary: bool = True  # every block of the decoder is trained to find the objects, not the last one only

    def __post_init__(self) -> None:
        require(
            (self.folder is None or self.kind is None, "`--folder` and `--kind` exclude each other"),
            (self.count >= 10, "`--count` must be at least 10"),
            (self.size is None or self.size >= 8, "`--size` must be at least 8"),
        )


class Detection(
    PictureState[Data], LabelledTask[Data, AnnotatedPictures, AnnotatedBatch, SetPredictor, AnnotatedBatches]
):
    """Object detection: a picture in, boxes with classes out.

    loss: each object is matched with one query (Hungarian algorithm), then class, place and overlap of the match; figures:
    average precision at an overlap of 0.5 (AP50) and over all overlaps (AP), and the loss of held-out pictures.
    """

    aliases = ("object detection", "bounding boxes", "localisation")
    reads, gives, model = "pictures", "boxes", "detr"
    unit, loss_unit = "boxes", "loss per box"
    figures = FIGURES
    columns = ("picture", "found", "expected")
    uses = ("detect",)
    files = ("folder", "validation_folder", "test_folder")
    tested = ("folder",)
    at_once = BATCH

    # -- data ----------------------------------------------------------------------------------------------------------

    @classmethod
    def collect(cls, data: Data, seed: int) -> LabelledCorpus[AnnotatedPictures]:
        if data.kind is not None:
            drawn = draw(data.count, derive(seed, "data"), data.size or 48)
            return apart(drawn, {}, (), seed, drawn.origin)
        if data.folder is None:
            hint = "`--kind shapes` draws some; `headway train detection --help` explains both."
            raise UsageError(WHICH, hint)
        brought = brought_parts(data.validation_folder, data.test_folder)
        return collect_annotated(data.folder, brought, data.size, seed)

    @classmethod
    def recognise(cls, paths: Sequence[str]) -> Data | None:
        return Data(folder=paths[0]) if len(paths) == 1 and (Path(paths[0]) / BOXES).exists() else None

    @classmethod
    def propose(
        cls, recipe: Recipe[Data], corpus: LabelledCorpus[AnnotatedPictures], base: Base | None
    ) -> Proposal[Data]:
        """The backbone halves the picture until about 6 to 12 rows are left; twice as many queries as objects, at least 12."""
        t, train = recipe.training, corpus.train
        side, most = max(train.images.shape[1:3]), int(np.bincount(train.owners, minlength=1).max())
        grade = int(len(train) >= 20_000)
        model = sized(
            recipe.model or Choice(cls.model),
            width=(96, 192)[grade],
            depth=(2, 3)[grade],
            inner=2,
            head_width=24,
            dropout=0.0 if recipe.data.kind else 0.1,
            more={
                "filters": (16, 32)[grade],
                "stages": max(1, round(np.log2(side / 6))),
                "kernel": 3,
                "queries": max(12, 2 * most),
            },
        )
        return Proposal(recipe.data, model, t.batch or 80, usual_rate(t, base, len(train)))

    @classmethod
    def fit(cls, data: Data, corpus: LabelledCorpus[AnnotatedPictures], base: Base | None) -> "Detection":
        """Learn the classes and the scale of the channels, or take them over from the run that this one begins with."""
        return cls.of(data, corpus.train.label_names, corpus.train.images, base.task if base else None)

    @property
    def sizes(self) -> dict[str, int]:
        return self.shape | {"outputs": len(self.classes.names)}

    # -- training ------------------------------------------------------------------------------------------------------

    def prepare(
        self, corpus: LabelledCorpus[AnnotatedPictures], folder: Path, batch: int, seed: int
    ) -> AnnotatedBatches:
        for part in corpus.held_out.values():  # a class that training lacks is reported now
            self.classes.numbers(part.label_names, part.origin)
        write_held_out({name: self._fitted(part) for name, part in corpus.held_out.items()}, folder)
        boxes = len(corpus.train.labels) / len(corpus.train)  # of a picture
        return self._batches(corpus.train, max(1, round(batch / boxes)), seed)

    def _fitted(self, part: AnnotatedPictures) -> AnnotatedPictures:
        f = self.frame
        return dataclasses.replace(part, images=resize_images(part.images, f.height, f.width, f.channels))

    def _batches(self, part: AnnotatedPictures, batch: int, seed: int = 0) -> AnnotatedBatches:
        labels = self.classes.numbers(part.label_names, part.origin)
        return AnnotatedBatches(self._fitted(part), labels, rows=batch, seed=seed, frame=self.frame)

    def loss(self, model: SetPredictor, batch: AnnotatedBatch) -> Loss:
        """What is minimised is the sum over the blocks of the decoder; what is reported is the loss of the last one."""
        states = model.states(batch.pictures)
        blocks = states if model.training and self.data.auxiliary else states[-1:]
        losses = [set_loss(model.logits(z), model.boxes(z), batch.objects) for z in blocks]
        return Loss(torch.stack(losses).sum(), losses[-1].detach(), len(batch.objects.labels))

    def validate(self, model: SetPredictor, folder: Path) -> Validation:
        part, batches = self._held_out(folder)["validation"]
        return FoundObjects.of(model, part, batches, self.classes.names).validation()

    def _read_parts(self, folder: Path) -> dict[str, AnnotatedPictures]:
        return read_held_out(folder)

    # -- judging -------------------------------------------------------------------------------------------------------

    def _judgement(
        self, model: SetPredictor, name: str, part: AnnotatedPictures, batches: AnnotatedBatches, sizes: dict[str, int]
    ) -> Judgement:
        return FoundObjects.of(model, part, batches, self.classes.names).judgement(name, sizes)

    def _given(self, data: Data) -> tuple[AnnotatedPictures, tuple[str, ...]]:
        part, report = read_annotated(require_path(data.folder, WHICH, "evaluate"), self.frame.side)
        return part, report.left_out

    def example(self, model: SetPredictor) -> tuple[Callable[[], Tensor], int]:
        picture = torch.zeros(1, *self.shape.values(), device=next(iter(model.parameters())).device)
        return lambda: model.logits(model(picture)), 1

    def commands(self, folder: str, judgement: Judgement) -> list[str]:
        return [f"detect {folder} picture.png --out boxes.png", f"evaluate {folder} --folder test/"]

    # -- using ---------------------------------------------------------------------------------------------------------

    def detect(self, model: SetPredictor, paths: Sequence[str]) -> list[Detected]:
        """The objects on each picture, and the picture as it is with their boxes."""
        if not paths:
            raise DataError("there is no picture to look at", "give the paths of pictures.")
        images, notes = self.frame.read(paths)
        found = []
        for start in range(0, len(images), BATCH):
            device = next(iter(model.parameters())).device
            found += FoundObjects.boxes_of(
                model, self.frame.scale(images[start : start + BATCH]).to(device), self.classes.names
            )
        answers = []
        for path, (boxes, confidence), warnings in zip(paths, found, notes, strict=True):
            whole = read_picture(Path(path), read_header(Path(path))[0], "RGB")
            picture = Picture(whole, Path(path).name, tuple(boxes))
            answers.append(Detected(tuple(boxes), tuple(confidence), picture, warnings))
        return answers
