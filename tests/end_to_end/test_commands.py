"""Every line that the README promises, at a small size."""

import io
import json
import re
from pathlib import Path

import pytest

import headway
from headway.cli import main
from headway.core.config import Choice
from headway.core.errors import UsageError
from headway.tasks.recipe import Recipe, Training
from headway.tasks.translation import Data
from headway.verbs import ORDER
from tests.end_to_end.conftest import SMALL


def out(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().out


def test_translate_text_file_and_standard_input(
    trained: Path, corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = (corpus / "test.en").read_text(encoding="utf-8").splitlines()
    assert main(["translate", str(trained), lines[0]]) == 0
    first = out(capsys)
    assert (
        main(
            [
                "translate",
                str(trained),
                "--input",
                str(corpus / "test.en"),
                "--output",
                str(tmp_path / "hyp"),
                "--beam",
                "5",
            ]
        )
        == 0
    )
    written = (tmp_path / "hyp").read_text(encoding="utf-8").splitlines()
    assert len(written) == len(lines) and written[0] == first.strip()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO((lines[0] + "\n\n").encode()), encoding="utf-8"))
    assert main(["translate", str(trained)]) == 0
    assert out(capsys).split("\n")[:2] == [first.strip(), ""], "an empty line stays an empty line"
    assert main(["translate", str(trained), lines[0], "--n-best", "3"]) == 0
    rows = [line.split("\t") for line in out(capsys).splitlines()]
    assert len(rows) == 3 and rows[0][2] == first.strip()
    assert [float(r[1]) for r in rows] == sorted((float(r[1]) for r in rows), reverse=True)


def test_options_may_stand_anywhere(trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["translate", str(trained), "--beam", "1", "The man sleeps.", "The dog sleeps."]) == 0
    assert len(out(capsys).splitlines()) == 2


@pytest.mark.parametrize("kind", ["wordpiece", "unigram", "words", "characters", "bytes"])
def test_every_kind_of_tokens(kind: str, corpus: Path, tmp_path: Path) -> None:
    files = ["--source", str(corpus / "test.en"), "--target", str(corpus / "test.de"), "--tokens", kind]
    small = [word for word in SMALL if word not in ("--vocabulary", "400")]
    assert main(["train", "translation", *files, *small, "--steps", "2", "--quiet", "--out", str(tmp_path / kind)]) == 0


def test_separate_vocabularies(corpus: Path, tmp_path: Path) -> None:
    files = ["--source", str(corpus / "a.en"), "--target", str(corpus / "a.de"), "--joint", "no"]
    assert main(["train", "translation", *files, *SMALL, "--steps", "2", "--quiet", "--out", str(tmp_path / "x")]) == 0
    assert len(headway.load(str(tmp_path / "x")).translate(["The man sleeps."])) == 1


def test_the_answer_does_not_depend_on_the_batch(trained: Path, corpus: Path) -> None:
    run = headway.load(str(trained))
    lines = (corpus / "test.en").read_text(encoding="utf-8").splitlines()
    for beam in (1, 5):
        together = run.translate(lines, beam=beam)
        assert together == [run.translate([line], beam=beam)[0] for line in lines]
        assert together == run.translate(lines, beam=beam, batch=3)


def test_evaluate(trained: Path, corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["evaluate", str(trained), "--source", str(corpus / "test.en"), "--target", str(corpus / "test.de")]
    assert main([*words, "--json"]) == 0
    value = json.loads(out(capsys))
    assert [s["name"] for s in value["scores"]] == ["BLEU", "chrF2", "exact match"] and "tok:13a" in value["scores"][0][
        "signature"
    ]
    assert value["scores"][0]["low"] <= value["scores"][0]["value"] <= value["scores"][0]["high"]
    assert main(words) == 0
    assert "95 % interval" in out(capsys)


def test_align(trained: Path, corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["align", str(trained), "--source", str(corpus / "test.en"), "--target", str(corpus / "test.de")]
    assert main([*words, "--gold", str(corpus / "test.gold")]) == 0
    captured = capsys.readouterr()
    lines = captured.out.splitlines()
    assert len(lines) == 20 and all(re.fullmatch(r"(\d+-\d+ ?)*", line) for line in lines)
    assert "alignment error rate" in captured.err


def test_inspect(trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("maps.html", "maps.png"):
        assert main(["inspect", str(trained), "The old man reads a book.", "--out", str(tmp_path / name)]) == 0
        assert (tmp_path / name).stat().st_size > 5000
    assert "6 maps of 3 attention layers" in out(capsys)
    assert (
        main(
            [
                "inspect",
                str(trained),
                "The old man reads a book.",
                "--only",
                "cross",
                "--out",
                str(tmp_path / "maps.html"),
            ]
        )
        == 0
    )
    assert "2 maps of 1 attention layer:" in out(capsys)


def test_report_is_there(trained: Path) -> None:
    text = (trained / "report.html").read_text(encoding="utf-8")
    assert "BLEU" in text and "http://" not in text.replace("http://www.w3.org", "")
    assert json.loads((trained / "scores.json").read_text())[0]["name"] == "BLEU"


def test_data_check(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "check", str(corpus / "a.en"), str(corpus / "a.de")]) == 0
    assert "300 pairs" in out(capsys)
    lines = (corpus / "a.de").read_text(encoding="utf-8").split("\n")
    lines[6] = ""
    (tmp_path / "b.de").write_text("\n".join(lines), encoding="utf-8")
    assert main(["data", "check", str(corpus / "a.en"), str(tmp_path / "b.de")]) == 0
    text = out(capsys)
    assert "line 7" in text and "will be dropped" in text


@pytest.mark.parametrize("model", ["rnn_seq2seq", "attention_seq2seq"])
def test_other_models_and_tmx(model: str, corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sides = [(corpus / f"a.{language}").read_text(encoding="utf-8").splitlines() for language in ("en", "de")]
    units = "".join(
        f'<tu><tuv xml:lang="en"><seg>{s}</seg></tuv><tuv xml:lang="de"><seg>{t}</seg></tuv></tu>'
        for s, t in zip(*sides, strict=True)
    )
    tmx = f'<?xml version="1.0"?><tmx version="1.4"><header srclang="en"/><body>{units}</body></tmx>'
    (tmp_path / "memory.tmx").write_text(tmx, encoding="utf-8")
    words = ["train", "translation", "--pairs", str(tmp_path / "memory.tmx"), "--model", model, "--model.width", "32"]
    assert main([*words, "--epochs", "1", "--vocabulary", "400", "--out", str(tmp_path / "memory")]) == 0
    text = out(capsys)
    assert "what to type next" in text and "validation: BLEU" in text
    looked = main(["inspect", str(tmp_path / "memory"), "The man sleeps.", "--out", str(tmp_path / "maps.html")])
    assert looked == (2 if model == "rnn_seq2seq" else 0), "what does not attend has nothing to show"


def test_pairs_through_a_pipe_can_be_resumed(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sides = [(corpus / f"a.{language}").read_text(encoding="utf-8").splitlines() for language in ("en", "de")]
    text = "".join(f"{s}\t{t}\n" for s, t in zip(*sides, strict=True))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8"))
    assert main(["train", "translation", "--pairs", "-", *SMALL, "--steps", "3", "--out", str(tmp_path / "piped")]) == 0
    assert main(["train", "--resume", str(tmp_path / "piped")]) == 0
    assert (
        "is finished: all 3 steps are done" in capsys.readouterr().out and (tmp_path / "piped" / "scores.json").exists()
    )


def test_minutes_and_a_recipe_as_a_value(corpus: Path, tmp_path: Path) -> None:
    recipe = Recipe(
        "translation",
        Data(source=str(corpus / "a.en"), target=str(corpus / "a.de"), tokens="characters"),
        Choice("transformer", {"width": 32, "depth": 1, "heads": 2, "inner": 64}),
        Training(minutes=0.05, batch=512),
    )
    run = headway.train(recipe, out=tmp_path / "run", quiet=True)
    assert len(run.translate(["The man sleeps.", "The dog sees the cat."])) == 2
    assert (run.folder / "scores.json").exists() and "BLEU" in (run.folder / "report.html").read_text(
        encoding="utf-8"
    ), "as the command"


def test_the_front_door(corpus: Path, tmp_path: Path) -> None:
    """Train, use and evaluate from Python, by names; mistakes are answered in the words of Python."""
    small = {"width": 32, "depth": 1, "heads": 2, "inner": 64}
    files = {"source": str(corpus / "a.en"), "target": str(corpus / "a.de")}
    run = headway.train(
        "translation",
        **files,
        vocabulary=400,
        options=small,
        steps=2,
        training={"batch": 256},
        out=tmp_path / "run",
        quiet=True,
    )
    assert (
        isinstance(run.translate("The man sleeps."), str)
        and "translation, transformer" in repr(run)
        and "<table>" in run._repr_html_()
    )
    assert len(run.translate(text for text in ("The man sleeps.", "The dog sees."))) == 2, "any iterable"
    found = run.evaluate(source=str(corpus / "test.en"), target=str(corpus / "test.de"))
    assert [s.name for s in found.scores] == ["BLEU", "chrF2", "exact match"] and found.sizes == {"given": 20}
    maps, text = run.attention("The man sleeps.")
    assert len(maps) == 3 and isinstance(text, str)
    for wrong, message in (
        (lambda: run.translate([None]), "expected texts, not NoneType"),
        (lambda: run.translate("x", beam=0), "should be a whole number of at least 1"),
        (lambda: run.translate("x", penalty=float("nan")), "should be a number of at least 0"),
        (lambda: run.generate("x"), "which cannot `generate`"),
        (lambda: run.evaluate(text="x"), "is nothing that translation is given to `evaluate`"),
        (lambda: headway.train("translation", **files, steps="many", out=tmp_path / "y"), "should be a whole number"),
        (lambda: headway.train("translation", sorce="x", out=tmp_path / "y"), "did you mean `source=`?"),
        (lambda: headway.train("translation", out=tmp_path / "y"), "`source=` and `target=`, or `pairs=`"),
        (
            lambda: headway.train("translation", **files, minutes=1, steps=2, out=tmp_path / "y"),
            "`minutes=` and `steps=` are two budgets",
        ),
        (lambda: headway.load(tmp_path / "nowhere"), "there is no directory"),
    ):
        with pytest.raises(headway.HeadwayError) as caught:
            wrong()
        assert message in str(caught.value), caught.value
    assert not (tmp_path / "y").exists()


def test_a_model_without_a_run() -> None:
    import torch

    model = headway.model("gpt", vocabulary=13, width=22, depth=1, heads=2, inner=17, context=5)
    assert model(torch.zeros(2, 4, dtype=torch.long)).shape == (2, 4, 22)
    assert headway.model("lstm", vocabulary=13, width=24, depth=1, inner=17).config.mixer == "lstm"
    with pytest.raises(UsageError, match="did you mean"):
        headway.model("gpd", vocabulary=13)


def test_list_find_show(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "models"]) == 0 and "transformer" in out(capsys)
    assert main(["find", "Bahdanau"]) == 0
    found = out(capsys)
    assert "attention_seq2seq" in found and "additive" in found
    assert main(["show", "transformer"]) == 0
    shown = out(capsys)
    assert "--model.depth" in shown and "Attention is all you need" in shown and SMALL


def test_help_teaches(capsys: pytest.CaptureFixture[str]) -> None:
    for words in ([], ["--help"], *([verb, "--help"] for verb in ORDER)):
        with pytest.raises(SystemExit) as done:
            main(words)
        assert done.value.code == 0 and "examples:" in out(capsys), words
    with pytest.raises(SystemExit):
        main(["train", "translation", "--help"])
    text = out(capsys)
    assert (
        "--validation-source PATH" in text
        and "--training.rate X" in text
        and "(default bpe; words" in text
        and "--text" not in text
    ), "this task's options only"
    assert main(["completion", "bash"]) == 0 and "complete -o filenames -F _headway headway" in out(capsys)
    for typed, expected in (
        (["tra"], "train\ntranslate"),
        (["train", "trans"], "translation"),
        (["train", "language", "--cont"], "--context"),
    ):
        assert main(["completion", "words", "--", *typed]) == 0 and out(capsys).strip() == expected
    assert (
        main(["completion", "words", "--", "train", "language", "--model", "mam"]) == 0
        and out(capsys).strip() == "mamba"
    )
