"""The register of errata of the lecture notes (`errata.toml`): what is printed, what is right, and the run that shows it."""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

NOTES = {
    "A": "UW slides on attention and approximation theory",
    "B": "Oxford C6.5, Theories of Deep Learning, lecture 4",
    "C": "ETH Deep Learning notes",
    "D": "Lecture 10, neural network fundamentals",
    "E": "CS229br, foundations of deep learning",
}


@dataclass(frozen=True)
class Erratum:
    id: str  # the key of the notes and a number
    printed: str
    correct: str
    exposed_by: tuple[str, ...]  # experiments; none for a slip that no run can show
    source: str = ""


@cache
def register() -> tuple[Erratum, ...]:
    """Every erratum of the five lectures, in the order of their pages."""
    table = tomllib.loads(files("headway.lab").joinpath("errata.toml").read_text(encoding="utf-8"))
    return tuple(Erratum(id=key, **row | {"exposed_by": tuple(row["exposed_by"])}) for key, row in table.items())


def of(ids: tuple[str, ...]) -> list[Erratum]:
    return [erratum for erratum in register() if erratum.id in ids]
