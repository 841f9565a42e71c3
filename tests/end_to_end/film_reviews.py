"""Made film reviews with their classes, as a table."""

import random
from pathlib import Path

SMALL = "--model.width 32 --model.depth 1 --vocabulary 300 --training.batch 16 --training.rate 1e-2".split()
GOOD = "warm funny brilliant moving tender honest graceful lively".split()
BAD = "dull slow hollow clumsy boring lifeless tired noisy".split()
FRAMES = ("a {} film from start to end", "the story is {} and so is the cast", "what a {} evening", "{} in every scene")


def reviews(count: int, seed: int = 1) -> list[tuple[str, str]]:
    """Sentences whose class is decided by their adjectives, each of them different."""
    draw = random.Random(seed)
    rows: dict[str, str] = {}
    while len(rows) < count:
        label = draw.choice(("good", "bad"))
        words = GOOD if label == "good" else BAD
        text = f"{draw.choice(FRAMES).format(draw.choice(words))}, {draw.choice(words)} number {draw.randrange(10**4)}"
        rows[text] = label
    return list(rows.items())


def write_table(path: Path, rows: list[tuple[str, str]], names: tuple[str, str] = ("review", "stars")) -> Path:
    path.write_text("\n".join("\t".join(row) for row in (names, *rows)) + "\n", encoding="utf-8")
    return path


def words(table: Path, out: Path, *more: str, steps: int = 24) -> list[str]:
    columns = ["--text", "review", "--label", "stars"]
    return [
        "train",
        "classification",
        "--table",
        str(table),
        *columns,
        *SMALL,
        "--steps",
        str(steps),
        "--quiet",
        "--out",
        str(out),
        *more,
    ]
