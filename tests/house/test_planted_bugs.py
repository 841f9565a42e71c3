"""docs/contracts.md: every file that it names exists, and so does every test. A contract is a test, too: `headway/contracts`."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "contracts.md").read_text(encoding="utf-8")
ROOTS = [ROOT, ROOT / "headway", ROOT / "tests"]


def functions(folder: str) -> set[str]:
    """The names of all functions of a folder."""
    return {name for path in (ROOT / folder).rglob("*.py") for name in re.findall(r"def (\w+)\(", path.read_text(encoding="utf-8"))}


def test_every_file_exists() -> None:
    named = set(re.findall(r"`([^`\s]+\.(?:py|toml|md))`", PAGE))
    assert len(named) > 100
    assert sorted(name for name in named if not any((root / name).is_file() for root in ROOTS)) == []


def test_every_test_exists() -> None:
    known = functions("tests") | {f"test_{name}" for name in functions("headway/contracts")}
    named = set(re.findall(r"\btest_\w+\b(?!\.py)", PAGE))
    assert len(named) > 100
    assert sorted(named - known) == []


def test_every_test_is_in_the_file_that_is_named_with_it() -> None:
    contracts = {f"test_{name}" for name in functions("headway/contracts")}
    pairs = [(file, name) for file, name in re.findall(r"`([\w/]+\.py)`: `(test_\w+)`", PAGE) if name not in contracts]
    assert len(pairs) > 100
    assert [(f, name) for f, name in pairs if f"def {name}(" not in (ROOT / "tests" / f).read_text(encoding="utf-8")] == []
