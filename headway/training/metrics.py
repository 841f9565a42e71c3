"""metrics.jsonl: one line per record, in the order of the steps. Read by the report; nothing depends on it.

{"step": 40, "seconds": 3.1, "loss": 5.2, "norm": 1.1, "count": 2000}                     every few steps
{"step": 80, "seconds": 6.4, "validation": {"figures": {"BLEU": 3.1}, "samples": [[...]]}}  at a validation
"""

import json
import math
from dataclasses import asdict, dataclass, field
from pathlib import Path

from headway.core.config import from_json
from headway.core.errors import ConfigError, RunError
from headway.core.files import disk_errors, parse_json, write_text


@dataclass(frozen=True)
class Validated:
    figures: dict[str, float]
    score: float
    samples: list[list[str]] = field(default_factory=list)


@dataclass(frozen=True)
class Record:
    step: int
    seconds: float  # of training, over all sessions of the run
    loss: float | None = None
    norm: float | None = None  # of the gradient, before clipping
    count: int | None = None  # tokens, examples ... of the step
    validation: Validated | None = None


class Metrics:
    def __init__(self, folder: Path) -> None:
        self.path = folder / "metrics.jsonl"

    def add(self, record: Record) -> None:
        kept = {key: value for key, value in asdict(record).items() if value is not None}
        with disk_errors(self.path), open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(kept, ensure_ascii=False) + "\n")

    def read(self) -> list[Record]:
        """All whole records; a last line that a killed process left half written is passed over."""
        if not self.path.exists():
            return []
        records = []
        lines = self.path.read_bytes().split(b"\n")
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                records.append(from_json(Record, parse_json(line), f"line {number}"))
            except (ValueError, RecursionError, ConfigError) as problem:
                if number < len(lines):
                    hint = "delete the file; only the curves are lost."
                    raise RunError(f"`{self.path}` is damaged at line {number}: {problem}", hint) from problem
        return records

    def forget_after(self, step: int) -> None:
        """Drop the records of steps that will be done again."""
        if self.path.exists():
            kept = [{k: v for k, v in asdict(r).items() if v is not None} for r in self.read() if r.step <= step]
            write_text(self.path, "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in kept))

    def seconds(self) -> float:
        """Training time so far, over all sessions of the run."""
        return max((r.seconds for r in self.read() if math.isfinite(r.seconds)), default=0.0)
