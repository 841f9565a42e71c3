"""Supervised fine-tuning from the command line: train on prompts with responses, generate, evaluate, and what goes wrong."""

import json
import shutil
from pathlib import Path

import pytest

import headway as package
from headway.cli import main
from headway.core.errors import RunError
from headway.data.made_preferences import make_responses

from .preference_runs import SMALL, train_chat, write_rows


@pytest.fixture(scope="module")
def chat(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose table has moved away."""
    folder = tmp_path_factory.mktemp("responses")
    run = train_chat(folder, steps=60)
    (folder / "responses.jsonl").unlink()
    return run


def test_no_prompt_is_both_learned_from_and_judged_by(chat: Path) -> None:
    parts = {p.stem: [json.loads(line) for line in p.read_text().splitlines()] for p in (chat / "held_out").iterdir()}
    held_out = {row["prompt"] for rows in parts.values() for row in rows}
    rows = make_responses(600, 1)
    count = sum(row["prompt"] in held_out for row in rows)
    assert count == sum(map(len, parts.values())), "all rows of a prompt that is held out are held out"
    assert 0.03 * len(rows) < count < 0.4 * len(rows)


def test_a_response_ends_and_only_it_is_learned(chat: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = package.load(chat)
    batches = run.task.prompting.batches(["The king"], ["sleeps."], 100)
    ids, start = batches.ids[0], int(batches.labels[0])
    assert (
        ids[0] == run.task.tokenizer.bos
        and ids[start - 1] == run.task.tokenizer.separator
        and ids[-1] == run.task.tokenizer.eos
    )
    assert run.task.loss(run.model, batches[0]).count == len(ids) - start, "the tokens of the response and its end mark"
    assert main(["generate", str(chat), "--prompt", "The king", "--seed", "3"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("The king\n") and len(printed) < 500, "the response stands on a line of its own"
    assert (
        run.generate("The king", seed=3) == printed.split("\n", 1)[1].rstrip("\n") == run.generate("The king", seed=3)
    )
    assert "�" not in run.generate("Grüße ☃", seed=2)


def test_evaluate_is_the_mean_over_the_tokens_of_responses(
    chat: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = write_rows(tmp_path / "test.jsonl", [{"q": r["prompt"], "a": r["response"]} for r in make_responses(40, 9)])
    assert main(["evaluate", str(chat), "--table", str(table), "--prompt", "q", "--response", "a", "--json"]) == 0
    scores = {s["name"]: s for s in json.loads(capsys.readouterr().out)["scores"]}
    run = package.load(chat)
    total, count = 0.0, 0
    for row in make_responses(40, 9):
        loss = run.task.loss(run.model, run.task.prompting.batches([row["prompt"]], [row["response"]], 100)[0])
        total, count = total + float(loss.plain), count + loss.count
    assert scores["nats per token"]["value"] == pytest.approx(total / count, rel=1e-4)
    assert scores["nats per token"]["low"] < total / count < scores["nats per token"]["high"]


def test_long_prompts_keep_their_end_and_are_told(chat: Path, tmp_path: Path) -> None:
    run = package.load(chat)
    prompting = run.task.prompting
    long, short = prompting.prompts(["king " * 300 + "the old queen", "the old queen"])
    assert len(long) == prompting.room + 2 and long[-4:] == short[-4:]
    table = write_rows(tmp_path / "long.jsonl", [{"prompt": "king " * 300, "response": "queen " * 300}])
    notes = run.evaluate(table=str(table)).notes
    assert "1 prompts are longer" in notes[0] and "1 responses are longer" in notes[1]


@pytest.mark.parametrize(
    ("rows", "more", "said"),
    [
        (None, [], "which prompts? `--table`"),
        ([{"promt": "a", "response": "b"}], [], "did you mean `promt`"),
        ([{"prompt": "a", "response": " "}], [], "nothing is left"),
        ([], [], "is empty"),
        ([{"prompt": "a", "response": "b"}], ["--prompt", "response"], "cannot be both the prompt and the response"),
        ([{"prompt": str(n), "response": "b"} for n in range(99)], ["--context", "20"], "leaves no room for a prompt"),
    ],
)  # fmt: skip
def test_errors_are_told(
    rows: list[dict[str, str]] | None, more: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = [] if rows is None else ["--table", str(write_rows(tmp_path / "t.jsonl", rows))]
    assert (
        main(["train", "responses", *table, *SMALL, *more, "--steps", "1", "--quiet", "--out", str(tmp_path / "x")])
        == 2
    )
    assert said in capsys.readouterr().err and not (tmp_path / "x").exists()


def test_a_damaged_run_is_told(chat: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(chat, tmp_path / "copy"))
    (copy / "held_out" / "validation.jsonl").write_text('{"prompt": "a"\n', encoding="utf-8")
    with pytest.raises(RunError, match=r"validation.jsonl` is damaged"):
        package.load(copy).judge()
