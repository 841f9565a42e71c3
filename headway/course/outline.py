"""The outline of each lecture (`lectures.toml`), in the lecture's own order: sections with their concepts, experiments and errata."""

import tomllib
from dataclasses import dataclass
from functools import cache

from headway.core import registry
from headway.core.entries import Entry
from headway.course.syllabus import Concept, concepts
from headway.lab import catalog
from headway.lab.errata import NOTES, Erratum, register

FILE = registry.ROOT / "course" / "lectures.toml"


@cache
def _experiments() -> dict[str, Entry]:
    return {catalog.identity(entry): entry for entry in catalog.every()}


@dataclass(frozen=True)
class Section:
    title: str
    about: str  # one or two sentences
    concepts: tuple[str, ...] = ()  # names of the syllabus
    experiments: tuple[str, ...] = ()  # of the lab; one that is not built yet is left out of the pages
    errata: tuple[str, ...] = ()  # those that no experiment shows; the others stand with their experiment

    def explained(self) -> list[Concept]:
        return [concept for name in self.concepts if not (concept := concepts()[name]).missing]

    def built(self) -> list[Entry]:
        return [_experiments()[name] for name in self.experiments if name in _experiments()]

    def corrections(self, key: str) -> list[Erratum]:
        """Errata of a lecture that stand alone: nothing shows them, or an experiment that is not built yet."""
        waiting = set(self.experiments) - set(_experiments())
        return [
            erratum
            for erratum in register()
            if erratum.id in self.errata or (erratum.id.startswith(key) and waiting & set(erratum.exposed_by))
        ]


@dataclass(frozen=True)
class Lecture:
    key: str
    title: str
    about: str
    sections: tuple[Section, ...]

    @property
    def source(self) -> str:
        """The document that it follows."""
        return NOTES[self.key]


@cache
def lectures() -> tuple[Lecture, ...]:
    table = tomllib.loads(FILE.read_text(encoding="utf-8"))
    return tuple(_lecture(key, row) for key, row in table.items())


def _lecture(key: str, row: dict[str, object]) -> Lecture:
    sections = tuple(_section(section) for section in row["section"])  # type: ignore[attr-defined]
    return Lecture(key, str(row["title"]), str(row["about"]), sections)


def _section(row: dict[str, object]) -> Section:
    return Section(**{name: tuple(value) if isinstance(value, list) else value for name, value in row.items()})  # type: ignore[arg-type]
