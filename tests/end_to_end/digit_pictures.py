"""The digits of scikit-learn as a person would bring them: pictures in folders."""

from pathlib import Path

import numpy as np
from PIL import Image
from sklearn.datasets import load_digits

SMALL = "--model.filters 4 --model.width 16 --training.batch 16 --training.rate 1e-2".split()


def digits() -> tuple[np.ndarray, np.ndarray]:
    """Pictures of 8 x 8 with 17 shades, as bytes, and their classes."""
    found = load_digits()
    return (found.images * 15.9375).astype(np.uint8), found.target


def write_folders(root: Path, images: np.ndarray, labels: np.ndarray) -> Path:
    for i, (image, label) in enumerate(zip(images, labels, strict=True)):
        (root / str(label)).mkdir(parents=True, exist_ok=True)
        Image.fromarray(image).save(root / str(label) / f"{i:04d}.png")
    return root


def words(out: Path, *more: str, steps: int = 24) -> list[str]:
    return ["train", "images", *more, *SMALL, "--steps", str(steps), "--quiet", "--out", str(out)]
