import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float, UInt8
from torch import Tensor

from headway.core.config import Choice, require
from headway.data.augmentation import NONE, Augmentation
from headway.data.findings import unread
from headway.data.labelled_batches import LabelledBatch, PictureBatches
from headway.data.picture_arrays import IDX_IMAGES
from headway.data.picture_folders import SUFFIXES
from headway.data.pictures import Pictures
from headway.models.classifier import Classifier
from headway.tasks.answers import FIGURES, Predictions, label_loss
from headway.tasks.brought import brought_parts, require_path
from headway.tasks.labelled_pictures import collect_pictures, read_evaluated, read_held_out, write_held_out
from headway.tasks.labelled_task import LabelledTask
from headway.tasks.labels import LabelledCorpus
from headway.tasks.panels import Panel
from headway.tasks.picture_maps import drawn_maps, picture_maps
from headway.tasks.picture_models import sized_for_pictures
from headway.tasks.picture_panels import WORST, explain_picture, worst_errors
from headway.tasks.picture_state import PictureState
from headway.tasks.recipe import Proposal, Recipe
from headway.tasks.sizing import usual_rate
from headway.tasks.task import Base, Judgement, Loss, Validation
from headway.tasks.uses import Classified, Map

BATCH = 128  # pictures that are judged or classified at once
WHICH = "which pictures? `--folder`, `--npz` or `--idx`"


@dataclass(frozen=True)
class Data:
    folder: str | None = None  # one folder of PNG or JPEG files per class; or such folders in `train` and `test`
    npz: str | None = None  # or arrays of numpy: x_train, y_train (x_test, y_test); images, labels
    idx: str | None = None  # or an idx file of pictures, the format of MNIST
    labels: str | None = None  # the idx file of their labels (default: found beside the pictures)
    validation_folder: str | None = None  # held-out pictures to choose the best weights by (default: a part)
    test_folder: str | None = None  # held-out pictures to judge the end result by (default: a part)
    size: int | None = None  # pictures are brought to this width and height in pixels (default: as most of them are)
    augment: str | None = (
        None  # changes of training pictures: shift=2 rotation=10 crop=0.2 flip noise=0.1 cutout=8 mixup=0.2; none (default: by size)
    )
    smoothing: float = 0.0  # label smoothing

    def __post_init__(self) -> None:
        if self.augment is not None:
            Augmentation.parse(self.augment)
        given = [path is not None for path in (self.folder, self.npz, self.idx)]
        require(
            (sum(given) <= 1, "`--folder`, `--npz` and `--idx` exclude each other"),
            (self.labels is None or self.idx is not None, "`--labels` comes with `--idx`"),
            (self.size is None or self.size >= 1, "`--size` must be at least 1"),
            (0 <= self.smoothing < 1, f"`--smoothing` must be at least 0 and less than 1, not {self.smoothing}"),
        )


class Images(PictureState[Data], LabelledTask[Data, Pictures, LabelledBatch, Classifier, PictureBatches]):
    """Image classification: a picture in, the probability of each class out.

    loss: cross-entropy of the class; figures: accuracy, macro F1 and loss of held-out pictures.
    """

    aliases = ("image classification", "picture classification", "image recognition", "digit recognition")
    reads, gives, model = "pictures", "one vector", "cnn"
    unit, loss_unit = "examples", "nats per example"
    figures = FIGURES
    columns = ("input", "predicted", "true", "confidence")
    uses = ("classify", "inspect")
    files = ("folder", "npz", "idx", "labels", "validation_folder", "test_folder")
    tested = ("folder", "npz", "idx", "labels")
    at_once = BATCH

    # -- data ----------------------------------------------------------------------------------------------------------

    @classmethod
    def collect(cls, data: Data, seed: int) -> LabelledCorpus[Pictures]:
        path = require_path(data.folder or data.npz or data.idx, WHICH, "train images")
        brought = brought_parts(data.validation_folder, data.test_folder)
        return collect_pictures(path, data.labels, brought, data.size, seed)

    @classmethod
    def recognise(cls, paths: Sequence[str]) -> Data | None:
        path = Path(paths[0])
        if len(paths) != 1:
            return None
        if path.is_dir():
            pictures = any(file.suffix.lower() in SUFFIXES for file in path.glob("*/**/*"))
            return Data(folder=paths[0]) if pictures or any(path.glob(f"*{IDX_IMAGES}*")) else None
        if IDX_IMAGES in path.name:
            return Data(idx=paths[0])
        return Data(npz=paths[0]) if path.suffix == ".npz" else None

    @classmethod
    def propose(cls, recipe: Recipe[Data], corpus: LabelledCorpus[Pictures], base: Base | None) -> Proposal[Data]:
        t, count = recipe.training, len(corpus.train)
        height, width = corpus.train.images.shape[1:3]
        side, grade = max(height, width), (count >= 5000) + (count >= 50_000)
        model = sized_for_pictures(recipe.model or Choice(cls.model), count, side, t.minutes)
        data = recipe.data
        if (
            data.augment is None
        ):  # on smaller pictures a shift moves too much; whether a mirror image is the same is not known
            data = replace(data, augment=f"shift={round(side / 14)} rotation=10" if min(height, width) >= 16 else NONE)
        return Proposal(data, model, t.batch or (32, 64, 128)[grade], usual_rate(t, base, count))

    @classmethod
    def fit(cls, data: Data, corpus: LabelledCorpus[Pictures], base: Base | None) -> "Images":
        """Learn the classes and the scale of the channels, or take them over from the run that this one begins with."""
        return cls.of(data, corpus.train.label_names, corpus.train.images, base.task if base else None)

    @property
    def sizes(self) -> dict[str, int]:
        return self.shape | {"features": math.prod(self.shape.values()), "outputs": len(self.classes.names)}

    # -- training ------------------------------------------------------------------------------------------------------

    def prepare(self, corpus: LabelledCorpus[Pictures], folder: Path, batch: int, seed: int) -> PictureBatches:
        for part in corpus.held_out.values():  # a label that training lacks is reported now
            self.classes.numbers(part.label_names, part.origin)
        held_out = {name: self.frame.fit(part) for name, part in corpus.held_out.items()}
        write_held_out(held_out, folder)
        return self._batches(corpus.train, batch, seed, Augmentation.parse(self.data.augment or NONE))

    def _batches(
        self, part: Pictures, batch: int, seed: int = 0, augmentation: Augmentation | None = None
    ) -> PictureBatches:
        images, labels = self.frame.fit(part).images, self.classes.numbers(part.label_names, part.origin)
        return PictureBatches(images, labels, rows=batch, seed=seed, frame=self.frame, augmentation=augmentation)

    def loss(self, model: Classifier, batch: LabelledBatch) -> Loss:
        return label_loss(model, batch, self.data.smoothing)

    def validate(self, model: Classifier, folder: Path) -> Validation:
        part, batches = self._held_out(folder)["validation"]
        return Predictions.of(model, batches, self.classes.names).validation(lambda i: part.names[i])

    def _read_parts(self, folder: Path) -> dict[str, Pictures]:
        return read_held_out(folder)

    # -- judging -------------------------------------------------------------------------------------------------------

    def _judgement(
        self, model: Classifier, name: str, part: Pictures, batches: PictureBatches, sizes: dict[str, int]
    ) -> Judgement:
        found, majority = Predictions.of(model, batches, self.classes.names), self.classes.majority
        judgement = found.judgement(name, majority, lambda i: part.names[i], sizes, "pictures", [])
        rows, captions = found.worst(WORST)
        errors = batches.at(rows).inputs[0].to(next(iter(model.parameters())).device)
        return replace(
            judgement, panels=(*judgement.panels, *worst_errors(model, batches.images[rows], errors, captions))
        )

    def _given(self, data: Data) -> tuple[Pictures, tuple[str, ...]]:
        path = require_path(data.folder or data.npz or data.idx, WHICH, "evaluate")
        part = read_evaluated(path, data.labels, self.frame.side)
        return part, unread(part.problems, "file")

    def example(self, model: Classifier) -> tuple[Callable[[], Tensor], int]:
        picture = torch.zeros(1, *self.shape.values(), device=next(iter(model.parameters())).device)
        return lambda: model.logits(model(picture)), 1

    def commands(self, folder: str, judgement: Judgement) -> list[str]:
        return [f"classify {folder} picture.png", f"inspect {folder} picture.png", f"evaluate {folder} --folder test/"]

    # -- using ---------------------------------------------------------------------------------------------------------

    def classify(self, model: Classifier, inputs: Sequence[str]) -> list[Classified]:
        """The classes of pictures, by their paths."""
        images, notes = self.frame.read(inputs)
        return self.classify_pictures(model, images, notes)

    def classify_pictures(
        self, model: Classifier, images: UInt8[np.ndarray, "n y x c"], notes: Sequence[tuple[str, ...]] = ()
    ) -> list[Classified]:
        """The classes of pictures of the right size."""
        unknown = np.zeros(len(images), dtype=np.int64)  # the true classes are not known, and not asked for
        batches = PictureBatches(images, unknown, rows=BATCH, seed=0, frame=self.frame)
        return Predictions.of(model, batches, self.classes.names).classified(notes or [()] * len(images))

    def explain(self, model: Classifier, given: str) -> list[Panel]:
        """Which pixels of a picture count, what the model attends to, its first filters and their answers."""
        pixels, scaled = self._read(model, given)
        (found,) = self.classify(model, [given])
        likely = list(found.probabilities.items())[:3]
        return explain_picture(model, pixels, scaled, ", ".join(f"{name} {p:.2f}" for name, p in likely))

    def attention(self, model: Classifier, text: str, target: str | None = None) -> tuple[list[Map], str]:
        """Maps of every layer and head for the picture of this path, none if the model does not attend; and its class."""
        _, scaled = self._read(model, text)
        return drawn_maps(picture_maps(model, scaled)), self.classify(model, [text])[0].label

    def _read(self, model: Classifier, path: str) -> tuple[UInt8[np.ndarray, "y x c"], Float[Tensor, "1 c y x"]]:
        """The pixels of a picture, and what the model reads of it."""
        (pixels,), _ = self.frame.read([path])
        return pixels, self.frame.scale(pixels[None]).to(next(iter(model.parameters())).device)
