"""What is planned for training: sizes, dropout and steps that follow from the data and the budget, and parts that are set apart."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from headway.core.config import Choice
from headway.data.grammar.corpus import generate
from headway.tasks import language
from headway.tasks.recipe import Proposal, Recipe, Training
from headway.tasks.translation import Data, Translation
from headway.training.plan import Pace, budget_of, pace, settle

HOUR = Pace(0.5, 3600.0)


def propose(pairs: int, model: dict[str, Any], minutes: float | None = 10.0, **data: Any) -> Choice:
    return proposal_for(pairs, model, minutes, **data).model


def proposal_for(pairs: int, model: dict[str, Any], minutes: float | None, **data: Any) -> Proposal[Data]:
    corpus = Translation.collect(Data(grammar=pairs), 1)
    corpus.__dict__["_counts"] = type(corpus._counts)(
        {"a": 100, "b": 1}
    )  # a word that was seen once: not a regular language
    recipe = Recipe("translation", Data(grammar=pairs, **data), Choice("transformer", model), Training(minutes=minutes))
    return Translation.propose(recipe, corpus, None)


def test_few_pairs_that_are_read_often_are_made_harder() -> None:
    long, short, steps = (proposal_for(50, {}, minutes) for minutes in (30.0, 29.0, None))
    assert (long.data.token_dropout, long.data.both_ways, long.decay, long.precision) == (0.1, 1 / 3, 0.1, "auto")
    for other in (short, steps):
        assert (other.data.token_dropout, other.data.both_ways, other.decay, other.precision) == (0, 0, 0.01, "float32")
    apart = proposal_for(50, {}, 60.0, joint=False).data
    assert apart.token_dropout == 0.1 and apart.both_ways == 0, "both directions need one vocabulary"
    own = proposal_for(50, {}, 60.0, token_dropout=0.0, both_ways=0.5).data
    assert own.token_dropout == 0.0 and own.both_ways == 0.5, "what was asked for stays"
    recipe = Recipe("translation", Data(grammar=50), training=Training(minutes=60.0))
    asked = dataclasses.replace(recipe, training=Training(minutes=60.0, decay=0.0))
    assert settle(recipe, long, 30, HOUR).decay == 0.1 and settle(asked, long, 30, HOUR).decay == 0.0


def test_the_plan_fits_what_was_given() -> None:
    for width in (200, 130, 512, 7):  # 200: three heads of 64 would not divide it
        options = propose(50, {"width": width}).options
        assert width % int(options["heads"]) == 0 and options["inner"] == 2 * width  # type: ignore[arg-type]
    assert int(propose(50, {"heads": 3}).options["width"]) % 3 == 0, "a width that is open is a multiple of given heads"  # type: ignore[arg-type]
    assert budget_of(Training()).minutes == 10.0
    assert propose(50, {}, joint=False).options["share"] is False and propose(50, {}).options["dropout"] == 0.3


def test_a_regular_language_gets_no_dropout(tmp_path: Path) -> None:
    """Commands and their actions: every word was seen hundreds of times, so there is nothing to generalise over but the rules."""
    verbs, times = ("walk", "run", "jump", "look"), ("", " twice", " thrice")
    commands = [
        f"{a}{m} {link} {b}{n}" for a in verbs for b in verbs for m in times for n in times for link in ("and", "after")
    ]
    (tmp_path / "p.tsv").write_text("".join(f"{c}\tGO_{c.upper()}\n" for c in commands), encoding="utf-8")
    data = Data(pairs=str(tmp_path / "p.tsv"))
    corpus = Translation.collect(data, 1)
    corpus.__dict__["_counts"] = type(corpus._counts)({"GO": 500, "I_WALK": 400})
    found = Translation.propose(Recipe("translation", data), corpus, None)
    assert corpus.unseen_words == 0 and found.model.options["dropout"] == 0.0 and found.data.smoothing == 0.0
    assert found.data.tokens == "words" and Translation.fit(found.data, corpus, None).source.kind == "words"
    hour = Translation.propose(Recipe("translation", data, training=Training(minutes=60.0)), corpus, None)
    assert hour.data.token_dropout == hour.data.both_ways == 0 and hour.decay == 0.01


def test_settings_follow_the_budget() -> None:
    recipe = Recipe("translation", Data(), training=Training(epochs=2.0, accumulate=2))
    proposal = Translation.propose(recipe, Translation.collect(Data(grammar=60), 1), None)
    assert settle(recipe, proposal, 30, None).steps == 30
    timed = dataclasses.replace(recipe, training=Training(minutes=1.0))
    found = settle(timed, proposal, 30, Pace(0.5, 60.0))
    assert (found.steps, found.warmup, found.seconds) == (120, 12, 60.0)
    assert settle(dataclasses.replace(timed, start="x"), proposal, 30, Pace(0.5, 60.0)).warmup == 24, (
        "weights that know something begin gently"
    )


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_no_bad_line_vanishes(tmp_path: Path, seed: int) -> None:
    """Lines are examined before any are set apart: what is dropped is counted, wherever it would have landed."""
    pairs = generate(60, "train", 0)
    sources, targets = [p.source for p in pairs], [p.target for p in pairs]
    for line in (3, 17, 41):
        targets[line] = ""
    (tmp_path / "a").write_text("".join(s + "\n" for s in sources), encoding="utf-8")
    (tmp_path / "b").write_text("".join(t + "\n" for t in targets), encoding="utf-8")
    corpus = Translation.collect(Data(source=str(tmp_path / "a"), target=str(tmp_path / "b")), seed)
    (report,) = corpus.reports
    held_out = corpus.held_out["validation"]
    assert report.total == 60 and report.kept == 57 == len(corpus.train) + len(held_out.sources)
    assert next(f for f in report.findings if f.kind == "empty").lines == (4, 18, 42)
    assert not set(corpus.train.sources) & set(held_out.sources)


def test_a_test_part_is_set_apart_where_there_is_enough(tmp_path: Path) -> None:
    for count, parts in ((100, {"validation"}), (500, {"validation", "test"})):
        pairs = generate(count, "train", 0)
        (tmp_path / "p.tsv").write_text("".join(f"{p.source}\t{p.target}\n" for p in pairs), encoding="utf-8")
        corpus = Translation.collect(Data(pairs=str(tmp_path / "p.tsv")), 1)
        assert set(corpus.held_out) == parts
        texts = [set(corpus.train.sources), *(set(p.sources) for p in corpus.held_out.values())]
        assert sum(map(len, texts)) == len(set().union(*texts)), "no sentence is in two parts"


def test_time_is_left_for_as_many_validations_as_there_will_be() -> None:
    """One in each part of the run, and one more to judge; the first step, which warms up, and delays of others do not count."""
    times = [9.0, 0.1, 0.1, 5.0, 0.1]
    for minutes, validations in ((1.0, 4), (2.0, 6), (10.0, 12)):
        step, left = pace(times, minutes, 10.0, 2.0)
        assert left == 60 * minutes - 10.0 - 2.0
        assert left / step == pytest.approx((left - validations * 2.0) / 0.1)
    step, left = pace(times, 1.0, 70.0, 2.0)
    assert (left, left / step) == (30.0, pytest.approx(300.0)), "half of the budget is for training, whatever happens"


def test_longer_n_grams_for_a_text_that_is_new(tmp_path: Path) -> None:
    """In two minutes a text is read about once; later they would learn it by heart, and with more time the blocks do without tables."""
    (tmp_path / "a.txt").write_text("the cat sat on the mat and it ran off again\n" * 3000)
    data = language.Data(text=str(tmp_path / "a.txt"), tokens="characters")
    corpus = language.Language.collect(data, 1)
    for minutes, expected in ((1.0, (8192, 5)), (2.0, (8192, 5)), (2.5, (8192, None)), (5.0, (0, None))):
        recipe = Recipe("language", data, training=Training(minutes=minutes))
        found = language.Language.propose(recipe, corpus, None).model.options
        assert (found["ngrams"], found.get("ngram_order")) == expected
