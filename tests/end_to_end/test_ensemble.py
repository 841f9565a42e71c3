"""Ensembles: one run whose members are runs; its answers are the mean of theirs, for every kind of model; interrupted and resumed."""

import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits

import headway
from headway.cli import main
from headway.core.config import Choice
from headway.core.files import read_json, read_tensors
from headway.core.folds import Split, reading_fold
from headway.decode.beam import beam_search
from headway.models.build import build_model
from headway.models.ensemble import Ensemble
from headway.runs.run import Run
from headway.tasks.images import Data, Images
from headway.tasks.labels import split_by_class
from headway.tasks.recipe import read_recipe
from headway.training.ensemble import copy_shared
from headway.training.loop import Loop

CLASSIFY = ["train", "images", "--model", "mlp", "--model.width", "16", "--steps", "40", "--training.batch", "32", "--quiet"]


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "digits.npz"
    found = load_digits()
    np.savez(path, images=(found.images * 15.9).astype(np.uint8)[:600], labels=found.target[:600])
    return path


@pytest.fixture(scope="module")
def whole(digits: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "three"
    assert main([*CLASSIFY, "--npz", str(digits), "--ensemble", "3", "--out", str(out)]) == 0
    return out


def held_out_logs(run: Run) -> torch.Tensor:
    """log p of every held-out picture."""
    images = torch.from_numpy(load_digits().images[600:700]).float()[:, None] / 16
    return run.model.logits(run.model(images)).log_softmax(-1)


def test_the_run_is_the_mean_of_its_members(whole: Path) -> None:
    run, members = Run(whole), [Run(whole / "members" / str(i)) for i in (1, 2, 3)]
    assert run.members and [m.folder for m in run.members] == [m.folder for m in members]
    logs = torch.stack([held_out_logs(member) for member in members])
    assert (logs[0] - logs[1]).abs().max() > 0.01, "members differ"
    torch.testing.assert_close(held_out_logs(run), logs.exp().mean(0).log())
    assert len({member.plan.seed for member in members}) == 3


def test_what_one_member_validates_by_the_others_learn_from(digits: Path, whole: Path) -> None:
    usual, corpora = Images.collect(Data(npz=str(digits)), 1), []
    for number in (1, 2, 3):
        recipe = read_recipe(read_json(whole / "members" / str(number) / "recipe.json"), Data, "recipe.json")
        assert recipe.split == Split(1, turn=number - 1)
        with reading_fold(recipe.split, "images"):
            corpora.append(Images.collect(recipe.data, recipe.split.seed))
        assert Run(whole / "members" / str(number)).plan.fingerprint == corpora[-1].fingerprint
    assert corpora[0].fingerprint == usual.fingerprint, "the first member holds out what a single run does"
    assert len({corpus.fingerprint["test"] for corpus in corpora}) == 1
    held_out = [{image.tobytes() for image in corpus.held_out["validation"].images} for corpus in corpora]
    for number, corpus in enumerate(corpora):
        learned = {image.tobytes() for image in corpus.train.images}
        assert not learned & held_out[number]
        assert all(other <= learned for place, other in enumerate(held_out) if place != number)
        assert Counter(corpus.held_out["validation"].label_names) == Counter(usual.held_out["validation"].label_names)
    states = [(whole / part / "classes.json").read_bytes() for part in (".", "members/1", "members/2", "members/3")]
    assert len(set(states)) == 1, "one state for all"


def test_turns_come_round_and_leave_copies_and_the_test_part_alone() -> None:
    labels, keys = ["a"] * 30 + ["b"] * 10, [*range(38), 0, 0]
    parts = [split_by_class(labels, keys, ["validation", "test"], 1, "", turn)[1] for turn in range(12)]
    assert parts[0] == {"validation": [1, 18, 27, 33], "test": [5, 7, 19, 34]}, "as without turns"
    assert {str(part["test"]) for part in parts} == {str(parts[0]["test"])}
    assert set().union(*(part["validation"] for part in parts)) == set(range(1, 38)) - {*parts[0]["test"]}
    assert len(set(map(len, (part["validation"] for part in parts)))) == 1


def write_rows(path: Path, count: int, seed: int) -> Path:
    rows = np.random.default_rng(seed).normal(size=(count, 3)).tolist()
    lines = [f"{a!r},{b!r},{2 * a - b + 3 + noise!r}" for a, b, noise in rows]
    path.write_text("\n".join(["a,b,y", *lines]) + "\n", encoding="utf-8")
    return path


def train_two(table: Path, out: Path, *more: str) -> Run:
    command = ["train", "table", "--table", str(table), "--target", "y", "--steps", "30", "--ensemble", "2", "--quiet"]
    assert main([*command, *more, "--out", str(out)]) == 0
    return Run(out)


def test_members_share_the_part_that_judges_them_and_one_that_a_person_brings(tmp_path: Path) -> None:
    """Of few rows no test part is set apart: what the run is judged by must be new to all members."""
    few, own = write_rows(tmp_path / "few.csv", 300, 1), write_rows(tmp_path / "own.csv", 100, 2)
    many = write_rows(tmp_path / "many.csv", 500, 3)
    for run in (
        train_two(few, tmp_path / "few"),
        train_two(many, tmp_path / "own", "--validation-table", str(own)),
    ):
        assert len({str(member.plan.fingerprint) for member in run.members}) == 1
    shared = train_two(few, tmp_path / "tested", "--test-table", str(own))
    assert len({str(member.plan.fingerprint["validation"]) for member in shared.members}) == 2


def test_intervals_come_from_the_member_that_has_not_seen_the_validation_part(tmp_path: Path) -> None:
    table = write_rows(tmp_path / "many.csv", 500, 4)
    run = train_two(table, tmp_path / "run")

    def radius(one: Run) -> float:
        row = one.predict(table=str(table)).rows[0]
        return float(row[-1]) - float(row[-3])

    (first, second), whole = map(radius, run.members), radius(run)
    assert whole == pytest.approx(first, rel=1e-4) and abs(first - second) > 1e-3


def test_an_ensemble_may_begin_with_a_run(tmp_path: Path) -> None:
    table = write_rows(tmp_path / "many.csv", 500, 5)
    command = ["train", "table", "--table", str(table), "--target", "y", "--steps", "20", "--quiet"]
    assert main([*command, "--out", str(tmp_path / "one")]) == 0
    more = write_rows(tmp_path / "more.csv", 500, 6)
    run = train_two(more, tmp_path / "run", "--from", str(tmp_path / "one"))
    states = [(folder / "target.json").read_bytes() for folder in (tmp_path / "one", *(m.folder for m in run.members))]
    assert len(set(states)) == 1, "the scale is that of the run it began with"
    assert len({str(member.plan.fingerprint["validation"]) for member in run.members}) == 2


def test_every_member_and_the_ensemble_are_scored(whole: Path, digits: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scores = [read_json(whole / "members" / str(i) / "scores.json")[0]["value"] for i in (1, 2, 3)]
    together = read_json(whole / "scores.json")[0]["value"]
    page = (whole / "report.html").read_text(encoding="utf-8")
    words = f"accuracy of each member (test): {', '.join(f'{s:.4f}' for s in scores)}; together {together:.4f}"
    assert words in page and "all members together" in page
    assert main(["evaluate", str(whole), "--npz", str(digits)]) == 0 and "accuracy" in capsys.readouterr().out
    assert main(["train", "--resume", str(whole)]) == 0 and "finished: all members are trained" in capsys.readouterr().out
    assert "3 members" in Run(whole).kept()


def test_the_loss_of_the_mean_is_at_most_the_mean_loss(whole: Path) -> None:
    """Jensen's inequality, on pictures that no member has seen."""
    target = torch.from_numpy(load_digits().target[600:700])

    def loss(run: Run) -> float:
        return float(torch.nn.functional.nll_loss(held_out_logs(run), target))

    run = Run(whole)
    assert loss(run) < sum(loss(member) for member in run.members) / 3


def test_an_interrupted_ensemble_goes_on_with_the_unfinished_member(
    digits: Path, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, runs = Loop.run, []

    def stop_in_the_second(self: Loop[object], progress: object = None) -> bool:
        runs.append(self)
        if len(runs) < 2:
            return plain(self, progress)  # type: ignore[arg-type]
        plain(self, progress, lambda step: step == 23)  # type: ignore[arg-type]
        raise KeyboardInterrupt

    monkeypatch.setattr(Loop, "run", stop_in_the_second)
    out = tmp_path / "cut"
    assert main([*CLASSIFY, "--npz", str(digits), "--ensemble", "3", "--out", str(out)]) == 130
    assert not (out / "weights.safetensors").exists() and (out / "members" / "2" / "checkpoint.safetensors").exists()
    with pytest.raises(headway.HeadwayError, match="holds no trained weights yet"):
        Run(out)
    monkeypatch.setattr(Loop, "run", plain)
    first = (out / "members" / "1" / "checkpoint.safetensors").stat().st_mtime_ns
    assert main(["train", "--resume", str(out), "--quiet"]) == 0
    assert (out / "members" / "1" / "checkpoint.safetensors").stat().st_mtime_ns == first, "a finished member is left alone"
    one, other = (read_tensors(folder / "weights.safetensors") for folder in (whole, out))
    assert one.keys() == other.keys() and all(torch.equal(one[n], other[n]) for n in one)


def test_a_run_can_be_used_without_its_members_and_is_no_beginning(whole: Path, digits: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(whole, copy)
    with pytest.raises(headway.HeadwayError, match="is an ensemble"):
        headway.train("images", npz=str(digits), start=copy, steps=1, out=tmp_path / "new", quiet=True)
    shutil.rmtree(copy / "members")
    assert torch.equal(held_out_logs(Run(copy)), held_out_logs(Run(whole)))


@pytest.mark.parametrize("name", ["gpt", "xlnet"])
def test_language_models_average_the_next_token(name: str) -> None:
    torch.manual_seed(1)
    members = [build_model(Choice(name, {"width": 8, "depth": 1, "heads": 2}), {"vocabulary": 5}).eval() for _ in range(3)]
    model, ids = Ensemble(members, "probabilities").eval(), torch.randint(5, (2, 6))
    mean = torch.stack([m.logits(m(ids)).softmax(-1) for m in members]).mean(0)
    torch.testing.assert_close(model.logits(model(ids)).exp(), mean)
    state, stepped = model.start(2), []
    for t in range(6):
        hidden, state = model.step(ids[:, t], state)
        stepped.append(model.logits(hidden).exp())
    torch.testing.assert_close(torch.stack(stepped, 1), mean, rtol=1e-4, atol=1e-5)
    target = torch.randint(5, (12,))
    total, plain = model.output.cross_entropy(model(ids).flatten(0, 1), target)
    expected = torch.nn.functional.nll_loss(mean.flatten(0, 1).log(), target, reduction="sum")
    torch.testing.assert_close(total, expected)
    torch.testing.assert_close(plain, expected)
    smoothed = model.output.cross_entropy(model(ids).flatten(0, 1), target, 0.1)[0]
    log_p = mean.flatten(0, 1).log()
    expected = torch.nn.functional.cross_entropy(log_p, target, reduction="sum", label_smoothing=0.1)
    torch.testing.assert_close(smoothed, expected)


@pytest.mark.parametrize("name", ["transformer", "attention_seq2seq"])
def test_translation_models_average_at_every_step(name: str) -> None:
    torch.manual_seed(1)
    sizes = {"source_vocabulary": 7, "target_vocabulary": 7}
    members = [build_model(Choice(name, {"width": 8, "depth": 1}), sizes).eval() for _ in range(2)]
    model = Ensemble(members, "probabilities").eval()
    source, target = torch.randint(3, 7, (3, 5)), torch.randint(3, 7, (3, 4))
    keep = torch.ones_like(source, dtype=torch.bool)
    mean = torch.stack([m.logits(m(source, keep, target)).softmax(-1) for m in members]).mean(0)
    torch.testing.assert_close(model.logits(model(source, keep, target)).exp(), mean)
    memory, state = model.read(source, keep)
    for t in range(4):
        hidden, state = model.step(target[:, t], state, memory)
        torch.testing.assert_close(model.logits(hidden).exp(), mean[:, t], rtol=1e-4, atol=1e-5)
    found = beam_search(model, source, keep, 1, 2, [4] * 3, beam=3)
    best = found[0][0]
    ids = torch.tensor([[1, *best.ids]])
    log_p = model.logits(model(source[:1], keep[:1], ids)).log_softmax(-1)[0].detach()
    wanted = [*best.ids, 2]
    torch.testing.assert_close(sum(float(log_p[i, w]) for i, w in enumerate(wanted)), best.log_probability, rtol=1e-4, atol=1e-4)


def test_readers_average_at_every_position_and_regressions_their_numbers() -> None:
    torch.manual_seed(1)
    choice = Choice("encoder", {"width": 8, "depth": 1, "heads": 2, "inner": 16})
    members = [build_model(choice, {"vocabulary": 9, "tags": 4, "outputs": 2}).eval() for _ in range(3)]
    ids = torch.randint(9, (2, 5))
    keep = torch.ones_like(ids, dtype=torch.bool)
    model, numbers = Ensemble(members, "probabilities").eval(), Ensemble(members, "numbers").eval()
    tags = torch.stack([m.tag_logits(m.states(ids, keep)).softmax(-1) for m in members]).mean(0)
    torch.testing.assert_close(model.tag_logits(model.states(ids, keep)).exp(), tags)
    expected = torch.stack([m.logits(m(ids, keep)) for m in members]).mean(0)
    torch.testing.assert_close(numbers.logits(numbers(ids, keep)), expected)


def test_a_language_run(tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("the cat sat on the mat and the dog sat on the log. " * 80, encoding="utf-8")
    run = headway.train(
        "language", text=str(text), tokens="characters", model="gpt", options={"width": 16, "depth": 1, "context": 16},
        steps=20, ensemble=2, out=tmp_path / "run", quiet=True,
    )  # fmt: skip
    assert len(run.generate("the ", length=20)) > 0 and run.evaluate(text=str(text)).scores[0].value > 0
    bits = [member.scores[0].value for member in run.members]
    assert run.scores[0].value < sum(bits) / 2, "Jensen's inequality"


def test_wrong_numbers(digits: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*CLASSIFY, "--npz", str(digits), "--ensemble", "0", "--out", str(tmp_path / "x")]) == 2
    assert "`--ensemble 0` should be at least 1" in capsys.readouterr().err


def test_numbers_are_averaged_as_numbers(tmp_path: Path) -> None:
    """Of a regression the mean of the members' predictions, not of what a softmax makes of them."""
    random = np.random.default_rng(5)
    rows = random.normal(size=(200, 2))
    lines = [f"{a!r},{b!r},{2 * a - b + 3!r}" for a, b in rows.tolist()]
    table = tmp_path / "table.csv"
    table.write_text("\n".join(["a,b,y", *lines]) + "\n", encoding="utf-8")
    command = ["train", "table", "--table", str(table), "--target", "y", "--steps", "20", "--ensemble", "2", "--quiet"]
    assert main([*command, "--out", str(tmp_path / "run")]) == 0
    runs = [Run(tmp_path / "run"), *(Run(tmp_path / "run" / "members" / str(i)) for i in (1, 2))]
    whole, first, second = ([float(row[3]) for row in run.predict(table=str(table)).rows] for run in runs)
    np.testing.assert_allclose(whole, (np.array(first) + second) / 2, rtol=1e-4, atol=1e-4)
    assert np.abs(np.array(first) - second).max() > 0.01


def test_members_train_as_the_first_does(tmp_path: Path) -> None:
    """What the task proposed for the first (its schedule is not the usual one) holds for the others."""
    words = ["--grammar", "200", "--model.width", "16", "--model.depth", "1", "--steps", "3", "--training.batch", "200", "--quiet"]
    assert main(["train", "translation", *words, "--ensemble", "2", "--out", str(tmp_path / "two")]) == 0
    first, second = (read_json(tmp_path / f"two/members/{n}/plan.json") for n in (1, 2))
    assert first["training"]["schedule"] == "trapezoid" and first["training"] == second["training"]
    assert first["precision"] == second["precision"] and first["data"] == second["data"]


def test_what_members_share_is_copied_with_its_subfolders(tmp_path: Path) -> None:
    """The reference of `preferences` and the base of `--from` have files of the same names as the member's own."""
    for name in ("plan.json", "seen.json", "reference/plan.json", "reference/weights.safetensors", "base/scores.json"):
        (tmp_path / "members/1" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "members/1" / name).write_text("")
    copy_shared(tmp_path / "members/1", tmp_path / "out")
    found = {str(p.relative_to(tmp_path / "out")) for p in (tmp_path / "out").rglob("*") if p.is_file()}
    assert found == {"seen.json", "reference/plan.json", "reference/weights.safetensors", "base/scores.json"}
