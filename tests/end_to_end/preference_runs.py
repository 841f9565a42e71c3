"""A small language model that answers prompts, and a small reward model, for the tests of preferences."""

import json
from pathlib import Path

from headway.cli import main
from headway.data.made_preferences import make_pairs, make_responses

SMALL = "--model.width 24 --model.depth 1 --context 40 --longest 24 --tokens bpe --vocabulary 500 --training.batch 512".split()


def write_rows(path: Path, rows: list[dict[str, str]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def train_chat(folder: Path, steps: int = 30) -> Path:
    table = write_rows(folder / "responses.jsonl", make_responses(600, 1))
    words = ["train", "responses", "--table", str(table), *SMALL, "--steps", str(steps), "--quiet"]
    assert main([*words, "--out", str(folder / "chat")]) == 0
    return folder / "chat"


def train_reward(folder: Path, chat: Path, steps: int = 30) -> Path:
    table = write_rows(folder / "pairs.jsonl", make_pairs(600, 2))
    words = ["train", "reward", "--preferences", str(table), "--from", str(chat), "--steps", str(steps), "--quiet"]
    assert main([*words, "--training.rate", "1e-2", "--out", str(folder / "reward")]) == 0
    return folder / "reward"
