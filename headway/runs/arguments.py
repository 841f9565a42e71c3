"""The arguments of a run's methods, checked before anything is computed."""

from collections.abc import Iterable

from headway.core.errors import UsageError


def require_texts(texts: Iterable[str]) -> list[str]:
    """A list of texts, or a sentence about what is none."""
    if isinstance(texts, bytes) or not isinstance(texts, Iterable):
        raise UsageError(f"expected a text or several, not {type(texts).__name__}")
    found = list(texts)
    wrong = [type(text).__name__ for text in found if not isinstance(text, str)]
    if wrong:
        raise UsageError(f"expected texts, not {wrong[0]}", "pass strings.")
    return found


def require_positive(**numbers: int) -> None:
    for name, value in numbers.items():
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise UsageError(f"`--{name.replace('_', '-')} {value}` should be a whole number of at least 1")
