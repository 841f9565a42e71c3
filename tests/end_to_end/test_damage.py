"""Damaged runs: every file cut at random bytes, every JSON value of a wrong type. One clear error, never a traceback, nothing lost."""

import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

import headway
from headway.core.errors import HeadwayError
from headway.core.files import read_tensors, write_tensors
from headway.report.summary import summarise
from headway.runs.run import Run
from headway.training.progress import Progress
from headway.training.session import resume

READ = ("plan.json", "tokenizer.json", "seen.json", "weights.safetensors")
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


@pytest.mark.parametrize("name", ["alignment.json", "scores.json", "doctor.json", "held_out/validation.jsonl", "metrics.jsonl"])
def test_files_that_the_summary_reads(copy: Path, name: str) -> None:
    """Cut anywhere, or with values of other types: what can be made anew is, what cannot is told."""
    whole = (copy / name).read_bytes()
    cuts = [whole[:cut] for cut in sorted(random.Random(name).sample(range(len(whole)), 5))]
    first = whole.split(b"\n")[0] if name.endswith("jsonl") else whole
    changed = [json.dumps(value).encode() + b"\n" for _, value in damaged(json.loads(first))]
    for content in [*cuts, *random.Random(name).sample(changed, min(6, len(changed)))]:
        (copy / name).write_bytes(content)
        for action in (_align, summarise):
            try:
                action(Run(copy))
            except HeadwayError as problem:
                assert name in problem.message, problem.message


def _align(run: Run) -> None:
    run.align(["The man sleeps."], ["Der Mann schläft."])


def test_alignment_of_another_model(copy: Path) -> None:
    (copy / "alignment.json").write_text(json.dumps({"name": "decoder.7.cross", "head": 99, "shift": 0}))
    with pytest.raises(HeadwayError, match="which this model does not have"):
        _align(Run(copy))


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


def test_a_run_of_an_older_version_gets_one_clear_sentence(copy: Path) -> None:
    value = json.loads((copy / "recipe.json").read_text())
    (copy / "recipe.json").write_text(json.dumps(value | {"tokens": {"kind": "bpe"}}))
    for action in (use, carry_on):
        with pytest.raises(HeadwayError, match=r"`.*recipe.json` is not a recipe of this version\nHint: it was made by an older version"):
            action(copy)


def test_a_run_without_its_checkpoint_can_be_used_and_is_not_trained_anew(copy: Path) -> None:
    (copy / "checkpoint.safetensors").unlink()
    before = (copy / "weights.safetensors").read_bytes()
    use(copy)
    with pytest.raises(HeadwayError, match="checkpoint.safetensors` is missing, so the run cannot be continued"):
        carry_on(copy)
    assert (copy / "weights.safetensors").read_bytes() == before


def test_a_run_needs_nothing_but_its_directory(trained: Path, corpus: Path, tmp_path: Path) -> None:
    """Data that moved away breaks neither report nor use."""
    data = Path(shutil.copytree(corpus, tmp_path / "data"))
    small = {"width": 16, "depth": 1, "heads": 2, "inner": 16}
    files = {"source": str(data / "a.en"), "target": str(data / "a.de")}
    run = headway.train("translation", **files, vocabulary=400, options=small, steps=2, out=tmp_path / "first", quiet=True)
    shutil.rmtree(data)
    moved = Path(shutil.move(tmp_path / "first", tmp_path / "second"))
    run = Run(moved)
    assert summarise(run).judgement.scores and run.translate("The man sleeps.") is not None


def test_a_run_without_weights_yet(copy: Path) -> None:
    (copy / "weights.safetensors").unlink()
    with pytest.raises(HeadwayError, match="no trained weights yet"):
        use(copy)


@pytest.mark.parametrize("value, told", [(float("nan"), "holds numbers that are not finite"), (3e38, "gives no probabilities")])
def test_weights_that_are_no_weights(copy: Path, value: float, told: str) -> None:
    """A block of a disk that came back as noise: beam search found nothing, and an IndexError was all that was said."""
    path = copy / "weights.safetensors"
    write_tensors(path, {name: torch.full_like(tensor, value) for name, tensor in read_tensors(path).items()})
    with pytest.raises(HeadwayError, match=told):
        use(copy)


def test_weights_of_another_model(copy: Path, trained: Path) -> None:
    plan = json.loads((copy / "plan.json").read_text())
    plan["model"]["options"]["width"] = 64
    (copy / "plan.json").write_text(json.dumps(plan))
    with pytest.raises(HeadwayError, match="does not hold this model"):
        use(copy)
    shutil.copy(trained / "plan.json", copy)
    use(copy)
