"""metrics.jsonl: one line per record, in the order of the steps. Read by the report; nothing depends on it."""

import json
from pathlib import Path
from typing import Any

from headway.core.errors import RunError
from headway.core.files import disk_errors, write_text


def check(record: Any) -> None:
    """What the report relies on."""
    if not isinstance(record, dict) or type(record.get("step")) is not int:
        raise ValueError("a record without a step")
    figures = record.get("validation", {})
    if not isinstance(figures, dict) or not isinstance(figures.get("samples", []), list):
        raise ValueError("a validation that is none")
    numbers = [record.get(name, 0.0) for name in ("loss", "norm", "tokens", "seconds")]
    numbers += [figures.get(name, 0.0) for name in ("nats", "rank", "bleu", "chrf", "bits_per_byte", "perplexity")]
    if not all(type(number) in (int, float) for number in numbers):
        raise ValueError("a figure that is not a number")
    if any(not isinstance(s, list) or len(s) != 3 or not all(isinstance(t, str) for t in s) for s in figures.get("samples", [])):
        raise ValueError("a sample that is not three texts")


class Metrics:
    def __init__(self, folder: Path) -> None:
        self.path = folder / "metrics.jsonl"

    def add(self, record: dict[str, Any]) -> None:
        with disk_errors(self.path), open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(record, ensure_ascii=False) + "\n")

    def read(self) -> list[dict[str, Any]]:
        """All whole records; a last line that a killed process left half written is passed over."""
        if not self.path.exists():
            return []
        records = []
        lines = self.path.read_bytes().split(b"\n")
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                record = json.loads(line)
                check(record)
                records.append(record)
            except ValueError as problem:
                if number < len(lines):
                    raise RunError(
                        f"`{self.path}` is damaged at line {number}: {problem}", "delete the file; only the curves are lost."
                    ) from problem
        return records

    def forget_after(self, step: int) -> None:
        """Records of steps that will be done again."""
        records = self.read()
        kept = [r for r in records if r["step"] <= step]
        if self.path.exists():
            write_text(self.path, "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in kept))

    def seconds(self) -> float:
        """Training time so far, over all sessions of the run."""
        return max((float(r["seconds"]) for r in self.read() if isinstance(r.get("seconds"), int | float)), default=0.0)
