"""Damaged runs: every file cut at random bytes, every JSON value of a wrong type. One clear error, never a traceback, nothing lost."""

import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import headway
from headway.core.errors import HeadwayError
from headway.inspect.summary import summarise, view_of
from headway.train.progress import Progress
from headway.train.run import Run
from headway.train.session import resume

READ = ("plan.json", "tokenizer.json", "weights.safetensors")
RESUMED = ("recipe.json", "plan.json", "tokenizer.json", "checkpoint.safetensors", "metrics.jsonl")


def use(run: Path) -> None:
    headway.load(str(run)).translate(["The man sleeps."])


def carry_on(run: Path) -> None:
    resume(run, Progress(quiet=True))


@pytest.mark.parametrize("name", READ)
def test_a_truncated_file_is_told_when_the_run_is_used(copy: Path, name: str) -> None:
    whole = (copy / name).read_bytes()
    for cut in sorted(random.Random(name).sample(range(len(whole)), 12)):
        (copy / name).write_bytes(whole[:cut])
        with pytest.raises(HeadwayError) as caught:
            use(copy)
        assert name in caught.value.message, caught.value.message
    (copy / name).write_bytes(whole)
    use(copy)


@pytest.mark.parametrize("name", RESUMED)
def test_a_truncated_file_is_told_when_the_run_is_resumed(copy: Path, name: str) -> None:
    whole = (copy / name).read_bytes()
    for cut in sorted(random.Random(name).sample(range(len(whole)), 8)):
        (copy / name).write_bytes(whole[:cut])
        try:
            carry_on(copy)
        except HeadwayError as problem:
            assert name in problem.message, problem.message
        else:  # a killed process may leave half a line of metrics, and that is mended
            assert name == "metrics.jsonl"


def damaged(value: Any) -> Iterator[tuple[str, Any]]:
    """The same JSON with one value replaced by one of another type, for every value in it."""
    if isinstance(value, dict):
        for key, inner in value.items():
            for path, changed in damaged(inner):
                yield f"{key}.{path}", {**value, key: changed}
            yield key, {**value, key: {"odd": [inner]} if not isinstance(inner, dict) else "odd"}
            yield f"{key} missing", {k: v for k, v in value.items() if k != key}
    elif isinstance(value, list):
        for i, inner in enumerate(value[:2]):
            for path, changed in damaged(inner):
                yield f"{i}.{path}", [*value[:i], changed, *value[i + 1 :]]
    yield "", [value]


@pytest.mark.parametrize("name", ["plan.json", "recipe.json"])
def test_every_json_value_of_a_wrong_type(copy: Path, name: str) -> None:
    value = json.loads((copy / name).read_text())
    for path, changed in damaged(value):
        (copy / name).write_text(json.dumps(changed))
        action = use if name == "plan.json" else carry_on
        try:
            action(copy)
        except HeadwayError:
            continue
        assert path.endswith("missing"), f"`{path}` of a wrong type went unnoticed"  # a default stands in for what is missing


@pytest.mark.parametrize("name", ["alignment.json", "scores.json", "doctor.json", "validation.jsonl", "metrics.jsonl"])
def test_files_that_the_summary_reads(copy: Path, name: str) -> None:
    """Cut anywhere, or with values of other types: what can be made anew is, what cannot is told."""
    whole = (copy / name).read_bytes()
    cuts = [whole[:cut] for cut in sorted(random.Random(name).sample(range(len(whole)), 5))]
    first = whole.split(b"\n")[0] if name.endswith("jsonl") else whole
    changed = [json.dumps(value).encode() + b"\n" for _, value in damaged(json.loads(first))]
    for content in [*cuts, *random.Random(name).sample(changed, min(6, len(changed)))]:
        (copy / name).write_bytes(content)
        for action in (view_of, _summarise):
            try:
                action(Run(copy))
            except HeadwayError as problem:
                assert name in problem.message, problem.message


def _summarise(run: Run) -> None:
    summarise(run.folder)


def test_alignment_of_another_model(copy: Path) -> None:
    (copy / "alignment.json").write_text(json.dumps({"name": "decoder.7.cross", "head": 99, "shift": 0}))
    with pytest.raises(HeadwayError, match="which this model does not have"):
        view_of(Run(copy))


def test_tokenizer_json_of_wrong_types(copy: Path) -> None:
    value = json.loads((copy / "tokenizer.json").read_text())
    value["tokenizer"]["model"]["vocab"] = dict(list(value["tokenizer"]["model"]["vocab"].items())[:5])
    shallow = [changed for path, changed in damaged(value) if path.count(".") < 4]
    for changed in random.Random(0).sample(shallow, min(60, len(shallow))):
        (copy / "tokenizer.json").write_text(json.dumps(changed))
        try:
            use(copy)
        except HeadwayError:
            pass


def test_a_directory_that_is_no_run(tmp_path: Path) -> None:
    for action in (use, carry_on):
        with pytest.raises(HeadwayError, match="not a run"):
            action(tmp_path)
        with pytest.raises(HeadwayError, match="no directory"):
            action(tmp_path / "nowhere")


def test_a_run_without_weights_yet(copy: Path) -> None:
    (copy / "weights.safetensors").unlink()
    with pytest.raises(HeadwayError, match="no trained weights yet"):
        use(copy)


def test_weights_of_another_model(copy: Path, trained: Path) -> None:
    plan = json.loads((copy / "plan.json").read_text())
    plan["recipe"]["model"]["options"]["width"] = 64
    (copy / "plan.json").write_text(json.dumps(plan))
    with pytest.raises(HeadwayError, match="does not hold this model"):
        use(copy)
    shutil.copy(trained / "plan.json", copy)
    use(copy)
