"""Reading pictures: a folder with one folder per class, an `.npz` of arrays, or the idx files of MNIST.

    flowers/daisy/1.jpg  flowers/rose/2.jpg              one part, `train`
    flowers/train/daisy/1.jpg  flowers/test/daisy/9.jpg  two parts
    mnist.npz                   x_train, y_train, x_test, y_test; train_images, train_labels ...; images, labels
    train-images-idx3-ubyte.gz  with train-labels-idx1-ubyte.gz beside it; or the folder of both

All parts share one list of classes, so that label 3 means the same in training and in the test.
"""

from collections.abc import Callable
from pathlib import Path

from headway.core.errors import DataError
from headway.data.messages import display_name, list_names
from headway.data.picture_arrays import IDX_IMAGES, find_idx, find_npz
from headway.data.picture_folders import find_folders
from headway.data.pictures import Pictures

Parts = dict[str, Callable[[], Pictures]]


def picture_parts(path: str) -> tuple[str, ...]:
    """Which of `train`, `validation` and `test` there are."""
    return tuple(find_parts(path))


def read_pictures(path: str, part: str = "train", side: int | None = None) -> Pictures:
    """The pictures of one part; those of a folder are read `side` pixels wide and high, if that is given."""
    parts = find_parts(path, side)
    if part not in parts:
        raise DataError(f"{display_name(path)} has no part `{part}`", f"its parts are {list_names(parts)}.")
    return parts[part]()


def find_parts(path: str, side: int | None = None) -> Parts:
    """Part -> what reads it; no picture is read yet."""
    root = Path(path)
    if not root.exists():
        hint = f"looked in `{root.resolve().parent}`."
        raise DataError(f"there is no file or folder `{path}`", hint)
    if root.is_dir():
        idx = sorted(file for file in root.iterdir() if IDX_IMAGES in file.name)
        return find_idx(idx, path) if idx else find_folders(root, side)
    if root.suffix == ".npz":
        return find_npz(root)
    if IDX_IMAGES in root.name:
        return find_idx([root], path)
    hint = "give a folder with one folder per class, an `.npz` with images and labels, or an `idx3-ubyte` file."
    raise DataError(f"cannot read pictures from `{path}`", hint)
