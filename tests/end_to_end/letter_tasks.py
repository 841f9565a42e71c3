"""Tasks on letters as text: reverse, sort, upper case; one file each."""

import random
from collections.abc import Callable
from pathlib import Path

TASKS: dict[str, Callable[[list[str]], list[str]]] = {
    "reverse": lambda letters: letters[::-1],
    "sort": sorted,
    "upper_case": lambda letters: [letter.upper() for letter in letters],
}


def write_tasks(folder: Path, count: int, seed: int = 1) -> Path:
    """`count` different inputs of two to four letters for each task."""
    folder.mkdir()
    for name, task in TASKS.items():
        draw, inputs = random.Random(f"{name} {seed}"), dict[tuple[str, ...], None]()
        while len(inputs) < count:
            inputs[tuple(draw.choices("abcdefgh", k=draw.randint(2, 4)))] = None
        rows = "".join(f"{' '.join(letters)}\t{' '.join(task(list(letters)))}\n" for letters in inputs)
        (folder / f"{name}.tsv").write_text("input\toutput\n" + rows, encoding="utf-8")
    return folder
