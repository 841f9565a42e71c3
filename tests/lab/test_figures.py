"""Figures of the lab: small as SVG, and the same files whether experiments run alone or together."""

from collections.abc import Callable

import numpy as np
import pytest

from headway.cli import main
from headway.lab import style


@pytest.mark.parametrize(
    ("draw", "dense"),
    [
        (lambda panel, n: panel.plot(range(n), **style.MEASURED), True),
        (lambda panel, n: panel.scatter(range(n), range(n)), True),
        (lambda panel, n: panel.pcolormesh(np.arange(2.0 * n).reshape(2, n)[:, : n // 2]), True),
        (lambda panel, n: panel.plot(range(n), **style.CURVE), False),
    ],
    ids=["markers", "scatter", "cells", "curve"],
)
def test_many_marks_are_one_image_and_words_are_text(draw: Callable, dense: bool) -> None:
    for n, images in ((style.DENSE, 0), (style.DENSE + 2, int(dense))):
        made = style.figure(1, lambda axes, n=n: (draw(axes[0], n), axes[0].set(title="a title")), "salt")
        svg = style.image(made, "svg", "salt").decode()
        assert svg.count("<image") == images and (svg.count("<use") < 60 if images else True) and ">a title</text>" in svg


def test_several_write_the_same_files_as_one(tmp_path) -> None:
    """By name, and in processes where there are several; an experiment alone is drawn in this one."""
    for words in (["mp-gates"], ["xor-relu"], ["mp-gates", "xor-relu", "--jobs", "1"]):
        assert main(["lab", "run", *words, "--out", str(tmp_path / str(len(words)))]) == 0
    alone, together = ({path.name: path.read_bytes() for path in (tmp_path / n).iterdir()} for n in ("1", "4"))
    assert alone.keys() == together.keys() == {f"{name}.{kind}" for name in ("mp-gates", "xor-relu") for kind in ("json", "png", "svg")}
    assert all(alone[name] == together[name] for name in alone if not name.endswith("json"))
