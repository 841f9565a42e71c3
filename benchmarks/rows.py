"""What a benchmark found beside a peer: rows of one table, which `performance.py` collects into docs/performance.md."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class Row:
    what: str  # is measured
    peer: str  # that it is compared with
    ratio: float  # larger is better, unless `most` is given
    least: float | None = None  # the aim: at least this ratio
    most: float | None = None  # or at most this

    @property
    def holds(self) -> bool | None:
        """Whether the aim is reached; None if there is none."""
        if self.least is None and self.most is None:
            return None
        return (self.least is None or self.ratio >= self.least) and (self.most is None or self.ratio <= self.most)


def append_rows(path: str | None, rows: list[Row]) -> None:
    """One JSON object for each line, behind those that other benchmarks have written."""
    if path:
        with open(path, "a") as file:
            file.writelines(json.dumps(asdict(row)) + "\n" for row in rows)


def read_rows(path: Path) -> list[Row]:
    return [Row(**json.loads(line)) for line in path.read_text().splitlines()]
