"""What a person's text holds: a part to learn from, parts that are held out."""

from dataclasses import dataclass
from functools import cached_property

from headway.core.errors import DataError
from headway.data.findings import Report
from headway.data.text import Text
from headway.data.token_files import Part

SHARE = 0.1  # of the text is held out
ENOUGH = 20_000  # characters from which on half of that is a test part


@dataclass(frozen=True)
class TextCorpus:
    """The text to learn from and the texts to be judged by."""

    train: Part
    held_out: dict[str, Part]

    @property
    def fingerprint(self) -> dict[str, str]:
        parts = {"train": self.train, **self.held_out}
        return {n: f"characters {p.start:,} to {p.stop:,}, sha256 {p.text.size.sha256[:16]}" for n, p in parts.items()}

    @property
    def characters(self) -> int:
        return self.train.stop - self.train.start

    @cached_property
    def reports(self) -> tuple[Report, ...]:
        return (self.train.text.report,)

    def describe(self) -> str:
        text = self.train.text
        lines = [*(report.text() for report in self.reports)]
        lines += [f"  left out: `{name}` is {why}" for name, why in list(text.skipped.items())[:10]]
        parts = ", ".join(f"{p.stop - p.start:,} for {name}" for name, p in self.held_out.items())
        return "\n".join([*lines, f"learning from {self.characters:,} characters; held out: {parts}"])


def collect_text(path: str, validation: str | None, test: str | None) -> TextCorpus:
    """The last tenth is held out, unless a person brings other text: half of it to choose by, half of it to judge by."""
    text = Text(path)
    given = {name: Text(other) for name, other in (("validation", validation), ("test", test)) if other is not None}
    held_out = {name: Part(other, 0, other.size.characters) for name, other in given.items()}
    size = text.size.characters
    if "validation" in held_out:
        return TextCorpus(Part(text, 0, size), held_out)
    if size < 20:
        raise DataError(f"`{path}` holds {size} characters: too little to set some apart", "bring more text.")
    cut = int((1 - SHARE) * size)
    if "test" in held_out or size < ENOUGH:
        return TextCorpus(Part(text, 0, cut), {"validation": Part(text, cut, size)} | held_out)
    middle = (cut + size) // 2
    return TextCorpus(Part(text, 0, cut), {"validation": Part(text, cut, middle), "test": Part(text, middle, size)})
