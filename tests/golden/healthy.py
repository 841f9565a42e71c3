"""A healthy corpus, into which the tests of the doctor plant problems."""

import random
from collections.abc import Mapping
from functools import partial

from headway.data import doctor
from headway.data.findings import Finding, Report
from headway.data.pairs import Pairs

WORDS = """the-der a-ein small-kleiner big-große old-alte red-rote green-grüne dog-Hund cat-Katze house-Haus street-Straße
    child-Kind woman-Frau man-Mann sees-sieht finds-findet likes-mag takes-nimmt near-nahe under-unter behind-hinter
    today-heute slowly-langsam"""
ENGLISH, GERMAN = zip(*(pair.split("-") for pair in WORDS.split()), strict=True)

examine = partial(doctor.examine, least=0)  # these corpora are small, and nobody trains on them


def healthy(count: int = 300, seed: int = 0) -> tuple[list[str], list[str]]:
    """A word-for-word language of lines of 4 to 24 words, no two alike."""
    rng = random.Random(seed)
    sources, targets = [], []
    for number in range(count):
        words = [rng.randrange(len(ENGLISH)) for _ in range(rng.randint(4, 24))]
        sources.append(" ".join(ENGLISH[w] for w in words) + f" {number}.")
        targets.append(" ".join(GERMAN[w] for w in words) + f" {number}.")
    return sources, targets


def pairs_of(sources: list[str], targets: list[str], origin: str = "corpus") -> Pairs:
    return Pairs(tuple(sources), tuple(targets), tuple(range(1, len(sources) + 1)), origin)


def planted(changes: Mapping[int, tuple[str | None, str | None]]) -> Pairs:
    """A healthy corpus with the given lines (from 1) replaced; None leaves a side alone."""
    sources, targets = healthy()
    for line, (source, target) in changes.items():
        sources[line - 1] = sources[line - 1] if source is None else source
        targets[line - 1] = targets[line - 1] if target is None else target
    return pairs_of(sources, targets)


def only(report: Report, kind: str) -> Finding:
    """The finding of that kind, which must be the only one that is more than a note."""
    found = [finding for finding in report.findings if finding.kind == kind]
    assert len(found) == 1, report.text()
    assert not [f for f in report.findings if f.severity != "note" and f.kind != kind], report.text()
    return found[0]
