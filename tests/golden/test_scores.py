"""BLEU and chrF are sacrebleu's, to the last digit and letter of the signature."""

import itertools
import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU, CHRF
from scipy import stats

from headway.core.errors import ConfigError, DataError, UnknownName
from headway.evaluate.metrics import SPLITTERS
from headway.evaluate.translation import bleu, chrf, exact_match, paired_bootstrap, score

WORDS = "der Mann die Frau das Kind geht läuft spielt schnell im Park mit einem Hund , .".split()


def corpus(n: int, seed: int) -> list[str]:
    generator = random.Random(seed)
    return [" ".join(generator.choices(WORDS, k=generator.randint(4, 14))) for _ in range(n)]


def damaged(lines: list[str], share: float, seed: int) -> list[str]:
    generator = random.Random(seed)
    return [" ".join(w for w in line.split() if generator.random() > share) for line in lines]


REFERENCES = corpus(80, seed=1)
HYPOTHESES = damaged(REFERENCES, 0.2, seed=2)
both = pytest.mark.parametrize(("ours", "theirs"), [(bleu, BLEU), (chrf, CHRF)])


@both
def test_equal_to_sacrebleu(ours, theirs) -> None:  # type: ignore[no-untyped-def]
    judge = theirs()
    expected = judge.corpus_score(HYPOTHESES, [REFERENCES])
    quick = ours(HYPOTHESES, REFERENCES, resamples=0)
    assert quick.value == pytest.approx(expected.score, abs=1e-9)
    assert (quick.low, quick.high, quick.name, quick.signature) == (
        quick.value,
        quick.value,
        expected.name,
        str(judge.get_signature()),
    )


@both
def test_interval_is_that_of_sacrebleu(ours, theirs, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    for seed in (12345, 7):
        monkeypatch.setenv("SACREBLEU_SEED", str(seed))
        judge = theirs()
        expected = judge.corpus_score(HYPOTHESES, [REFERENCES], n_bootstrap=400)
        made = ours(HYPOTHESES, REFERENCES, resamples=400, seed=seed)
        half = json.loads(expected.format(width=6, signature="nrefs:1", is_json=True))["confidence_var"]
        assert (made.high - made.low) / 2 == pytest.approx(half, abs=1e-3)  # they count in float32
        assert made.signature == str(judge.get_signature()) and f"bs:400|seed:{seed}" in made.signature


LINE = st.text(max_size=8) | st.lists(st.sampled_from(["der Mann", "geht", "im", "Park"]), max_size=6).map(" ".join)


@both
@settings(max_examples=100, deadline=None)
@given(pairs=st.lists(st.tuples(LINE, LINE), min_size=1, max_size=6))
def test_any_text_is_scored_as_by_sacrebleu(ours, theirs, pairs) -> None:  # type: ignore[no-untyped-def]
    hypotheses, references = [h for h, _ in pairs], [r for _, r in pairs]
    expected = theirs().corpus_score(hypotheses, [references]).score
    assert ours(hypotheses, references, resamples=0).value == pytest.approx(expected, abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(pairs=st.lists(st.tuples(LINE, LINE), min_size=1, max_size=6), metric=st.sampled_from(["bleu", "chrf", "exact"]))
def test_interval_holds_the_value_and_repeats(pairs: list[tuple[str, str]], metric: str) -> None:
    hypotheses, references = [h for h, _ in pairs], [r for _, r in pairs]
    made = score(metric, hypotheses, references, resamples=40)
    assert 0 <= made.low <= made.value <= made.high <= 100 + 1e-9
    assert made == score(metric, hypotheses, references, resamples=40)


def test_lines_that_are_counted_are_forgotten() -> None:
    """sacrebleu kept each of them: a hundred megabytes after 130 validations."""
    bleu(["the cat sat", "a dog", "no"], ["the cat sat down", "the dog", "yes"], resamples=0)
    assert [kind.__call__.cache_info().currsize for kind in SPLITTERS] == [1, 1], "the empty line of the signature"


def test_interval_holds_the_value_of_a_few_sentences() -> None:
    # Two resamples make an interval of their two scores. One seed draws two that are both better, another two worse.
    made = [chrf(HYPOTHESES[:4], REFERENCES[:4], resamples=2, seed=seed) for seed in range(20)]
    assert all(m.low <= m.value <= m.high for m in made)
    assert {m.low == m.value for m in made} == {m.high == m.value for m in made} == {True, False}


def test_perfect_and_empty() -> None:
    lines = ["der Mann geht im Park .", "die Frau spielt mit dem Hund ."]
    assert bleu(lines, lines, 10).value == pytest.approx(100) and chrf(lines, lines, 10).low == pytest.approx(100)
    assert bleu(["", ""], lines, 10).value == 0 and chrf(["", ""], lines, 10).value == 0


def test_exact_match_counts_equal_lines() -> None:
    """Resampling yes and no is drawing from a binomial distribution: the interval against its quantiles."""
    references = [str(i) for i in range(200)]
    hypotheses = [f" {i}\n" if i < 60 else "no" for i in range(200)]
    made = exact_match(hypotheses, references, resamples=4000)
    assert (made.name, made.value, made.signature) == (
        "exact match",
        30.0,
        "nrefs:1|bs:4000|seed:12345|case:mixed|space:stripped",
    )
    assert [made.low, made.high] == pytest.approx([q / 2 for q in stats.binom.ppf([0.025, 0.975], 200, 0.3)], abs=0.5)
    assert exact_match(["a", "b", "C"], ["a", "b", "c"], resamples=0).value == pytest.approx(200 / 3)
    assert paired_bootstrap(hypotheses, references, references, metric="exact", resamples=99) == pytest.approx(0.01)


def test_no_warning_about_tokenized_text(caplog) -> None:  # type: ignore[no-untyped-def]
    bleu(["das ist ein Hund ."] * 150, ["das ist ein Hund ."] * 150, resamples=0)
    assert not caplog.records


def test_paired_bootstrap() -> None:
    near, far = damaged(REFERENCES, 0.2, seed=3), damaged(REFERENCES, 0.5, seed=4)
    assert paired_bootstrap(HYPOTHESES, HYPOTHESES, REFERENCES, resamples=99) == 1  # sacrebleu's PairedTest says 0.01
    assert paired_bootstrap(HYPOTHESES, far, REFERENCES, resamples=99) == pytest.approx(0.01)
    assert paired_bootstrap(HYPOTHESES, near, REFERENCES, resamples=99) > 0.05
    for metric in ("bleu", "chrf"):
        one, other = (
            paired_bootstrap(*pair, REFERENCES, metric=metric, resamples=99)
            for pair in ((HYPOTHESES, near), (near, HYPOTHESES))
        )
        assert one == other == paired_bootstrap(HYPOTHESES, near, REFERENCES, metric=metric, resamples=99)


def test_paired_bootstrap_against_all_resamples() -> None:
    references = REFERENCES[:3]
    a, b = HYPOTHESES[:3], [references[0], *damaged(references, 0.4, seed=5)[1:]]

    def difference(rows: tuple[int, ...]) -> float:
        picked = [references[i] for i in rows]
        return chrf([a[i] for i in rows], picked, 0).value - chrf([b[i] for i in rows], picked, 0).value

    d = difference((0, 1, 2))
    extreme = [abs(difference(rows) - d) >= abs(d) - 1e-9 for rows in itertools.product(range(3), repeat=3)]
    assert 0.1 < sum(extreme) / 27 < 0.9
    assert paired_bootstrap(a, b, references, metric="chrf", resamples=4000) == pytest.approx(
        sum(extreme) / 27, abs=0.03
    )


@pytest.mark.parametrize("metric", [bleu, chrf])
def test_errors(metric) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(DataError, match="no translations to score"):
        metric([], [])
    with pytest.raises(DataError, match="1 translations cannot be compared with 2 references"):
        metric(["a"], ["a", "b"])
    with pytest.raises(ConfigError, match="`resamples` is -1"):
        metric(["a"], ["a"], resamples=-1)
    with pytest.raises(ConfigError, match="`resamples` is 0, expected 1 or more"):
        paired_bootstrap(["a"], ["a"], ["a"], resamples=0)
    with pytest.raises(UnknownName, match="unknown metric `blue`\nHint: did you mean `bleu`"):
        score("blue", ["a"], ["a"])
