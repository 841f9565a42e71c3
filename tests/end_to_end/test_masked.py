"""Masked words from the command line: train BERT, fill in words, inspect, resume, and go on with another task."""

import json
import random
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

import headway as package
from headway.cli import main
from headway.core.errors import RunError, UsageError
from headway.core.files import read_json, read_tensors
from headway.data.grammar.corpus import generate
from headway.report.summary import summarise
from headway.training.session import resume

SMALL = "--model.width 32 --model.depth 1 --model.heads 2 --context 32 --tokens words --training.batch 16".split()


def write_text(path: Path, count: int = 600) -> Path:
    """Sentences of the grammar, a blank line after every six."""
    rows = [pair.source + "\n" * (1 + (k % 6 == 5)) for k, pair in enumerate(generate(count, "train", 3))]
    path.write_text("".join(rows), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_text(tmp_path_factory.mktemp("text") / "text.txt")


def words(text: Path, out: Path, *more: str, steps: int = 20) -> list[str]:
    return ["train", "masked", "--text", str(text), *SMALL, "--steps", str(steps), "--quiet", "--out", str(out), *more]


@pytest.fixture(scope="module")
def bert(text: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose text has moved away."""
    folder = tmp_path_factory.mktemp("runs")
    own = Path(shutil.copy(text, folder / "own.txt"))
    assert main(words(own, folder / "bert", steps=60)) == 0
    own.unlink()
    return folder / "bert"


def test_the_run_keeps_what_it_needs(bert: Path) -> None:
    plan = read_json(bert / "plan.json")
    assert plan["model"]["name"] == "bert" and plan["model"]["options"]["context"] == plan["data"]["context"] == 32
    run = package.load(bert)
    scores = {s.name: s for s in run.scores}
    assert list(scores) == ["masked accuracy", "masked loss", "next-sentence accuracy"]
    assert all(s.low < s.value < s.high for s in scores.values() if s.low is not None and s.high is not None)
    again = {s.name: s.value for s in run.judge().scores}
    assert again == {name: s.value for name, s in scores.items()}, "the same masks each time"
    report = (bert / "report.html").read_text(encoding="utf-8")
    assert "next-sentence accuracy" in report and "[MASK]" in report


def test_the_figures_are_those_of_torch(bert: Path) -> None:
    """Computed again, one text at a time, without padding."""
    run = package.load(bert)
    batches = run.task._open(bert / "held_out" / "test.sentences")  # type: ignore[attr-defined]
    nats, right, follows = [], [], []
    for n in range(len(batches)):
        b = batches[n]
        for ids, keep, segments, wanted, elsewhere in zip(
            b.ids, b.keep, b.segments, b.wanted, b.elsewhere, strict=True
        ):
            real = int(keep.sum())
            states = run.model.states(ids[None, :real], keep[None, :real], segments[None, :real])  # type: ignore[operator]
            asked = wanted[:real] >= 0
            logs = run.model.word_logits(states[0, asked]).log_softmax(-1)  # type: ignore[operator]
            nats += (-logs[torch.arange(len(logs)), wanted[:real][asked]]).tolist()
            right += (logs.argmax(-1) == wanted[:real][asked]).tolist()
            follows.append(bool(run.model.next_logits(run.model.pool(states)).argmax() == elsewhere))  # type: ignore[operator]
    found = {s.name: s.value for s in run.scores}
    assert found["masked loss"] == pytest.approx(np.mean(nats), abs=1e-5)
    assert found["masked accuracy"] == pytest.approx(np.mean(right))
    assert found["next-sentence accuracy"] == pytest.approx(np.mean(follows))


def test_the_loss_is_that_of_both_lessons(bert: Path) -> None:
    run = package.load(bert)
    batch = run.task._open(bert / "held_out" / "validation.sentences")[0]  # type: ignore[attr-defined]
    loss = run.task.loss(run.model, batch)
    states = run.model.states(batch.ids, batch.keep, batch.segments)  # type: ignore[operator]
    every = run.model.word_logits(states).transpose(1, 2)  # type: ignore[operator]
    masked = torch.nn.functional.cross_entropy(every, batch.wanted)
    follows = torch.nn.functional.cross_entropy(run.model.next_logits(run.model.pool(states)), batch.elsewhere)  # type: ignore[operator]
    assert float(loss.total) / loss.count == pytest.approx(float(masked + follows), abs=1e-5)
    assert loss.count == len(batch.ids)


def test_words_are_filled_in(bert: Path, tmp_path: Path) -> None:
    run = package.load(bert)
    (tmp_path / "blanks.txt").write_text("The man [MASK] a [MASK].\nNothing is hidden.\n", encoding="utf-8")
    found = run.predict(text=str(tmp_path / "blanks.txt"))
    assert found.columns == ("text", "word", "probability") and len(found.rows) == 2 and not found.warnings
    assert all(row[0] == "The man [MASK] a [MASK]." and 0 < float(row[2]) <= 1 for row in found.rows)
    (tmp_path / "long.txt").write_text("The [MASK] " + "man " * 40 + "[MASK]", encoding="utf-8")
    found = run.predict(text=str(tmp_path / "long.txt"))
    assert len(found.rows) == 1 and "line 1 is longer than 32 tokens: 1 " in found.warnings[0]
    (tmp_path / "none.txt").write_text("Nothing is hidden.\n", encoding="utf-8")
    with pytest.raises(package.HeadwayError, match=r"no line of .* has a `\[MASK\]`"):
        run.predict(text=str(tmp_path / "none.txt"))


def test_a_word_that_is_known_is_filled_in(tmp_path: Path) -> None:
    """A language in which the first word decides the third."""
    draw, pairs = random.Random(1), {"cats": "milk", "dogs": "bones", "birds": "seeds", "cows": "grass"}
    rows = [f"{who} like {pairs[who]} {draw.choice(('today', 'now', 'here'))}" for who in draw.choices(list(pairs), k=400)]
    (tmp_path / "text.txt").write_text("\n".join(rows), encoding="utf-8")
    more = ["--pairs", "false", "--training.rate", "1e-2", "--model.dropout", "0.0", "--training.validate", "150"]
    assert main(words(tmp_path / "text.txt", tmp_path / "run", *more, "--training.batch", "64", steps=300)) == 0
    run = package.load(tmp_path / "run")
    for who, what in pairs.items():
        assert run.task.fill(run.model, f"{who} like [MASK] now")[0][0] == what  # type: ignore[attr-defined]
        assert run.task.fill(run.model, f"[MASK] like {what} now")[0][0] == who  # type: ignore[attr-defined]
    assert "next-sentence accuracy" not in {s.name for s in run.scores}


def test_attention_maps(bert: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    maps, written = package.load(bert).attention("The man [MASK] a book.")
    assert len(maps) == 1 and maps[0].weights.shape == (2, 8, 8) and "[MASK]" not in written
    assert maps[0].rows[0] == "⟨cls⟩" and maps[0].rows[3] == "⟨mask⟩" and maps[0].rows[-1] == "⟨sep⟩"
    assert np.allclose(maps[0].weights.sum(-1), 1, atol=1e-5)
    assert main(["inspect", str(bert), "The man [MASK] a book.", "--out", str(tmp_path / "maps.html")]) == 0
    assert "2 maps of 1 attention layer" in capsys.readouterr().out


def test_evaluate(bert: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = write_text(tmp_path / "other.txt", 90)
    assert main(["evaluate", str(bert), "--text", str(other), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [s["name"] for s in found["scores"]] == ["masked accuracy", "masked loss", "next-sentence accuracy"]
    assert found["sizes"]["given"] >= 15
    (tmp_path / "one.txt").write_text("One sentence alone.\n")
    assert main(["evaluate", str(bert), "--text", str(tmp_path / "one.txt")]) == 2
    assert "0 passages of two or more sentences" in capsys.readouterr().err


def test_an_interrupted_run_ends_with_the_same_bits(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from headway.training.loop import Loop

    assert main(words(text, tmp_path / "whole")) == 0
    advance = Loop._advance

    def interrupted(self: Loop[object], progress: object) -> None:
        advance(self, progress)  # type: ignore[arg-type]
        self.interrupted = self.state.step == 13

    monkeypatch.setattr(Loop, "_advance", interrupted)
    assert main(words(text, tmp_path / "parts")) == 130
    monkeypatch.setattr(Loop, "_advance", advance)
    assert resume(tmp_path / "parts")
    for name in ("weights.safetensors", "checkpoint.safetensors"):
        assert (tmp_path / "parts" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


# -- what it is a beginning for ----------------------------------------------------------------------------------------


def write_table(path: Path, count: int = 60, classes: int = 2) -> Path:
    """Questions, statements, and (of three classes) statements about one person."""
    rows = [(p.source, "question" if p.source.endswith("?") else "statement") for p in generate(count, "train", 5)]
    rows = [(t, "about him" if classes == 3 and t.startswith("He ") else c) for t, c in rows]
    path.write_text("text\tlabel\n" + "".join(f"{t}\t{c}\n" for t, c in rows), encoding="utf-8")
    return path


def test_classification_begins_with_it(bert: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without being told: the model, the tokenizer, the weights; the head is new, also with as many classes as before."""
    table = write_table(tmp_path / "table.tsv", 80)
    command = ["train", "classification", "--table", str(table), "--from", str(bert), "--out", str(tmp_path / "on")]
    assert main([*command, "--steps", "1", "--training.rate", "1e-9"]) == 0
    told = capsys.readouterr().out
    assert "of the weights taken over; new: `head.weight`, `head.bias`" in told
    plan = read_json(tmp_path / "on" / "plan.json")
    assert plan["model"]["name"] == "bert" and plan["data"]["longest"] == 30
    assert (tmp_path / "on" / "tokenizer.json").read_bytes() == (bert / "tokenizer.json").read_bytes()
    before, now = (read_tensors(run / "weights.safetensors") for run in (bert, tmp_path / "on"))
    assert set(before) - set(now) == {
        *(f"next_head.{part}" for part in ("weight", "bias")),
        *(f"word_head.{part}" for part in ("bias", "dense.weight", "dense.bias", "norm.weight", "norm.bias")),
    }
    assert all(np.allclose(now[name], tensor, atol=1e-6) for name, tensor in before.items() if name in now)
    found = package.load(tmp_path / "on").classify("The man " + "reads " * 40)
    assert "of which the first 30 were read" in found.warnings[0]


def test_the_rate_is_gentle_and_the_context_holds(bert: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = write_table(tmp_path / "table.tsv")
    command = ["train", "classification", "--table", str(table), "--steps", "1", "--quiet"]
    assert main([*command, "--from", str(bert), "--out", str(tmp_path / "on")]) == 0
    assert main([*command, "--model", "bert", "--out", str(tmp_path / "new")]) == 0
    on, new = (read_json(tmp_path / run / "plan.json") for run in ("on", "new"))
    assert on["training"]["rate"] < 0.5 * new["training"]["rate"]
    assert new["model"]["options"]["context"] == 514 and new["data"]["longest"] == 512
    longer = [*command, "--from", str(bert), "--longest", "64", "--out", str(tmp_path / "long")]
    assert main(longer) == 2
    assert "`--longest 64` is more than the 30 tokens that the model can read" in capsys.readouterr().err


def test_it_begins_with_itself(bert: Path, text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["train", "masked", "--text", str(text), "--from", str(bert), "--steps", "1", "--training.rate", "1e-9"]
    assert main([*command, "--quiet", "--out", str(tmp_path / "on")]) == 0
    before, now = (read_tensors(run / "weights.safetensors") for run in (bert, tmp_path / "on"))
    assert all(np.allclose(now[name], tensor, atol=1e-6) for name, tensor in before.items())
    assert main([*command, "--context", "64", "--out", str(tmp_path / "long")]) == 2
    assert "`--context 64` is more than the 32 tokens that the model can read" in capsys.readouterr().err


# -- what goes wrong ---------------------------------------------------------------------------------------------------


def test_wrong_input_is_explained(text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "masked", "--out", str(tmp_path / "a")]) == 2
    assert "which text? `--text`" in capsys.readouterr().err
    (tmp_path / "alone.txt").write_text("\n\n".join(p.source for p in generate(100, "train", 3)), encoding="utf-8")
    assert main(words(tmp_path / "alone.txt", tmp_path / "b")) == 2
    message = capsys.readouterr().err
    assert "0 passages of two or more sentences" in message and "`--pairs false`" in message
    assert main(words(tmp_path / "alone.txt", tmp_path / "c", "--pairs", "false", steps=1)) == 0
    (tmp_path / "empty.txt").write_text("")
    assert main(words(tmp_path / "empty.txt", tmp_path / "d")) == 2
    assert "holds no text" in capsys.readouterr().err
    assert main(words(text, tmp_path / "e", "--context", "4")) == 2
    assert "`--context` must be at least 8" in capsys.readouterr().err
    assert main(words(text, tmp_path / "f", "--model", "encoder")) == 2
    assert "encoder" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["held_out/test.sentences", "held_out/validation.sentences.json", "tokenizer.json"])
def test_damage_is_reported(bert: Path, tmp_path: Path, name: str) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(bert, copy)
    (copy / name).write_bytes((copy / name).read_bytes()[:-7])
    with pytest.raises(RunError) as raised:
        summarise(package.load(copy))
    assert Path(name).name.removesuffix(".json") in raised.value.message


def test_a_verb_that_it_does_not_serve(bert: Path) -> None:
    with pytest.raises(UsageError, match="cannot `classify`"):
        package.load(bert).classify("a text")


# -- pre-training helps ------------------------------------------------------------------------------------------------


def write_swapped(path: Path, count: int, split: str, seed: int) -> Path:
    """Sentences of the grammar; in half of them two neighbouring words have changed places. Word order decides, not words."""
    draw, rows = random.Random(seed), []
    for k, pair in enumerate(generate(count, split, seed)):
        text = (pair.source[0].lower() + pair.source[1:-1]).split()
        swapped = list(text)
        if k % 2:
            i = draw.randrange(len(text) - 1)
            swapped[i : i + 2] = swapped[i + 1], swapped[i]
        rows.append(f"{' '.join(swapped)}{pair.source[-1]}\t{'right' if swapped == text else 'swapped'}\n")
    path.write_text("text\tlabel\n" + "".join(rows), encoding="utf-8")
    return path


@pytest.mark.slow
def test_pre_training_helps(tmp_path: Path) -> None:
    """500 labelled sentences: BERT that has read 20,000 without labels against the same network from zero."""
    rows = (pair.source for pair in generate(20_000, "train", 0))
    (tmp_path / "text.txt").write_text("\n".join(row[0].lower() + row[1:] for row in rows), encoding="utf-8")
    model = ["--model.width", "64", "--model.depth", "2", "--tokens", "words", "--quiet"]
    first = ["train", "masked", "--text", str(tmp_path / "text.txt"), "--pairs", "false", "--context", "32", *model]
    first += ["--model.dropout", "0.0", "--training.batch", "64", "--training.rate", "0.01", "--training.validate", "500"]
    assert main([*first, "--steps", "1000", "--out", str(tmp_path / "bert")]) == 0
    test = write_swapped(tmp_path / "test.tsv", 1000, "test", 0)
    gains = []
    for seed in (1, 2, 3):
        table = write_swapped(tmp_path / f"train{seed}.tsv", 500, "train", 50 + seed)
        held_out = write_swapped(tmp_path / f"validation{seed}.tsv", 200, "validation", 50 + seed)
        command = ["train", "classification", "--table", str(table), "--validation-table", str(held_out)]
        command += ["--test-table", str(test), "--steps", "500", "--training.rate", "0.004", "--seed", str(seed)]
        ways = {
            "on": ["--from", str(tmp_path / "bert"), "--quiet"],
            "zero": ["--model", "bert", "--longest", "30", *model],
        }
        found = {}
        for name, way in ways.items():
            assert main([*command, *way, "--out", str(tmp_path / f"{name}{seed}")]) == 0
            scores = package.load(tmp_path / f"{name}{seed}").scores
            found[name] = next(s.value for s in scores if s.name == "accuracy")
        print(f"seed {seed}: from BERT {found['on']:.3f}, from zero {found['zero']:.3f}")
        gains.append(found["on"] - found["zero"])
    assert np.mean(gains) >= 0.03 and min(gains) > 0
