"""The docstring of an experiment, in parts: the claim, its equations, and the facts in its last lines.

    A claim of one line.

    More words,

        an equation, indented,

    and the reason.

    Notes: A, C. Source: Author 2016, title, https://...
    Assumes: one assumption; another one.
    Deviates: what is measured in another way than the source does, and why.
    Also: another name of the statement; one more.
"""

import re
from dataclasses import dataclass
from functools import cached_property

KEYS = ("Notes", "Source", "Assumes", "Deviates", "Also")
_SPLIT = re.compile(rf"(?:^|(?<=\s))({'|'.join(KEYS)}): ")


@dataclass(frozen=True)
class Statement:
    claim: str
    body: str  # between the claim and the facts
    facts: dict[str, str]

    @staticmethod
    def of(doc: str) -> "Statement":
        start = re.search(r"^Notes: ", doc, re.MULTILINE)
        text, tail = (doc[: start.start()], doc[start.start() :]) if start else (doc, "")
        claim, _, body = text.strip().partition("\n")
        parts = _SPLIT.split(" ".join(tail.split()))[1:]
        facts = {key: value.strip().removesuffix(".") for key, value in zip(parts[::2], parts[1::2], strict=True)}
        return Statement(claim, body.strip("\n"), facts)

    @property
    def notes(self) -> tuple[str, ...]:
        """Keys of the lecture notes."""
        return tuple(filter(None, self.facts.get("Notes", "").split(", ")))

    @property
    def source(self) -> str:
        return self.facts.get("Source", "")

    @property
    def assumptions(self) -> tuple[str, ...]:
        return _list(self.facts.get("Assumes", ""))

    @property
    def aliases(self) -> tuple[str, ...]:
        return _list(self.facts.get("Also", ""))

    @property
    def deviates(self) -> str:
        return self.facts.get("Deviates", "")

    @cached_property
    def blocks(self) -> list[tuple[bool, str]]:
        """The body as paragraphs; True for an equation, whose lines are kept."""
        found = []
        for block in re.split(r"\n\s*\n", self.body):
            lines = block.split("\n")
            if block.startswith("    "):
                indent = min(len(line) - len(line.lstrip()) for line in lines)
                found.append((True, "\n".join(line[indent:] for line in lines)))
            elif block.strip():
                found.append((False, " ".join(block.split())))
        return found


def _list(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(";") if part.strip())
