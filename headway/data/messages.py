"""How messages name files, texts, columns and numbers."""

from collections.abc import Iterable


def display_name(path: str) -> str:
    """A path in backticks; "-" is standard input."""
    return "standard input" if path == "-" else f"`{path}`"


def excerpt(text: str, width: int = 80) -> str:
    """A text short and safe enough for a message: what is invisible or steers a terminal is written as a code."""
    short = text if len(text) <= width else text[: width - 3] + "..."
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in short)


def list_names(names: Iterable[str]) -> str:
    """Names in backticks, with commas."""
    return ", ".join(f"`{excerpt(name, 30)}`" for name in names)


def count_noun(count: int, noun: str) -> str:
    """`1 pair`, `2,000 pairs`, `2 classes`."""
    plural = noun + ("es" if noun.endswith("s") else "s")
    return f"{count:,} {noun if count == 1 else plural}"
