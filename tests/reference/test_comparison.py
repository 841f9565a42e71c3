"""What a comparison says, against counting and closed forms: equal sizes, intervals over seeds, speeds, the table."""

import multiprocessing
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import scipy.stats

from headway.compare import outcome as outcomes
from headway.compare.equal_sizes import DIALS, NEAR, equal_sizes
from headway.compare.interval import Interval, differences, interval
from headway.compare.outcome import Outcome, direction, generation_speed, learning_curves, training_speed
from headway.compare.table import terminal_text
from headway.core import registry
from headway.core.config import Choice
from headway.core.errors import ConfigError
from headway.core.machine import peak_memory
from headway.models.build import build_model
from headway.tasks.task import Figure, Judgement, Score
from headway.training.metrics import Record, Validated

SIZES: dict[str, int] = {"vocabulary": 65, "source_vocabulary": 101, "target_vocabulary": 101, "outputs": 7}
SIZES |= {"channels": 1, "height": 28, "width": 28, "features": 784, "categories": 3, "coordinates": 2}
WIDE: dict[str, Any] = {"width": 64, "depth": 2, "heads": 4, "inner": 256}


def count(choice: Choice) -> int:
    return sum(p.numel() for p in build_model(choice, SIZES).parameters())


# -- equal sizes ---------------------------------------------------------------------------------------------------------

CAUSAL = [name for name, entry in registry.mixers().items() if entry.facts["sees"] in ("past", "mask")]


@pytest.mark.parametrize("mixer", CAUSAL)
def test_every_causal_mixer_gets_the_size_of_gpt(mixer: str) -> None:
    try:
        build_model(Choice("gpt", WIDE | {"mixer": mixer}), SIZES)
    except ConfigError:
        pytest.skip(f"{mixer} has no causal form")
    found = equal_sizes({"gpt": Choice("gpt", WIDE), mixer: Choice("gpt", WIDE | {"mixer": mixer})}, SIZES)
    choice, parameters = found[mixer]
    assert parameters == count(choice) and abs(parameters / count(Choice("gpt", WIDE)) - 1) <= NEAR
    assert choice.options["depth"] == 2 and choice.options["mixer"] == mixer


def models_that_can_be_compared() -> list[tuple[str, str]]:
    """Pairs of different models that read and give the same."""
    entries = registry.entries("models").values()
    same = [(a, b) for a in entries for b in entries if a.name != b.name and a.facts["reads"] == b.facts["reads"]]
    return [(a.name, b.name) for a, b in same if a.facts["gives"] == b.facts["gives"]]


@pytest.mark.parametrize(("first", "second"), models_that_can_be_compared())
def test_every_model_gets_the_size_of_every_other(first: str, second: str) -> None:
    known = {name: {o.name for o in registry.get("models", name).options} for name in (first, second)}
    choices = {
        name: Choice(name, {k: v for k, v in WIDE.items() if k in known[name] and k != "depth" and (k, name) != ("heads", "swin")})
        for name in (first, second)
    }  # heads divide the width: four of them leave a small swin too few widths
    if not known[second] & set(DIALS):
        with pytest.raises(ConfigError, match=f"`{second}` has .* parameters at best"):
            equal_sizes(choices, SIZES)
        return
    try:
        found = equal_sizes(choices, SIZES)
    except ConfigError:  # one channel more is a tenth more parameters
        assert second in ("densenet", "swin")
        return
    assert found[first][0] == choices[first], "the first one stays as it is"
    assert abs(count(found[second][0]) / count(choices[first]) - 1) <= NEAR


def test_the_width_stays_where_the_feed_forward_network_can_give_or_take() -> None:
    gpt, lru = Choice("gpt", WIDE), Choice("gpt", WIDE | {"mixer": "lru"})
    assert equal_sizes({"gpt": gpt, "lru": lru}, SIZES)["lru"][0].options["width"] == 64
    lean = Choice("gpt", WIDE | {"inner": 32})  # less than a large mixer has without any feed-forward network
    narrow = equal_sizes({"gpt": lean, "mamba": Choice("gpt", WIDE | {"mixer": "mamba"})}, SIZES)["mamba"][0]
    assert narrow.options["width"] < 64 and narrow.options["width"] % 4 == 0, "heads divide the width still"


def test_what_cannot_be_made_equal_raises() -> None:
    tiny = Choice("gpt", {"width": 2, "depth": 1, "heads": 1, "inner": 1})
    large = Choice("gpt", {"width": 2, "depth": 40, "heads": 1, "inner": 1, "mixer": "mamba"})
    with pytest.raises(ConfigError, match=r"`mamba` has [0-9,]+ parameters at best where `gpt` has"):
        equal_sizes({"gpt": tiny, "mamba": large}, SIZES)


# -- intervals -----------------------------------------------------------------------------------------------------------


def test_the_interval_is_that_of_student() -> None:
    values = [2.31, 2.42, 2.35, 2.29]
    low, high = scipy.stats.t.interval(0.95, 3, loc=sum(values) / 4, scale=scipy.stats.sem(values))
    found = interval(values)
    assert found.half is not None and (found.mean - found.half, found.mean + found.half) == pytest.approx((low, high))
    assert (
        interval([2.5]) == Interval(2.5, None)
        and interval([2.5]).format(2) == "2.50"
        and Interval(1, 0.25).format(1) == "1.0 ± 0.2"
    )


def test_only_intervals_that_do_not_overlap_are_told_apart() -> None:
    found = {"a": Interval(1.0, 0.2), "b": Interval(1.3, 0.2), "c": Interval(2.0, 0.1)}
    first = [sentence.partition(":")[0] for sentence in differences(found, "lower")]
    assert first == ["a and b are not distinguishable", "a is better than c", "b is better than c"]
    assert differences(found, "higher")[0].startswith("c is better than b")
    assert "`--seeds 3`" in differences({"a": Interval(1.0), "b": Interval(9.0)}, "lower")[0]


# -- outcomes ------------------------------------------------------------------------------------------------------------

FIGURES = (Figure("accuracy", "%"), Figure("loss", "nats per picture", "lower"))


def test_the_direction_of_a_score_is_that_of_its_figure() -> None:
    assert direction(Score("test", "accuracy", 0.5), FIGURES) == "higher"
    assert direction(Score("test", "nats per picture", 0.5), FIGURES) == "lower", "named by its unit"
    assert direction(Score("test", "error rate", 0.5), FIGURES[::-1]) == "lower", (
        "the first score is of the first figure"
    )


def test_the_speed_of_training_leaves_validations_out() -> None:
    """Ten units a step, two steps a second, and a validation of a hundred seconds between."""
    validation = Validated({"accuracy": 1.0, "loss": 0.5}, 1.0)
    records = [Record(2, 1.0, 0.9, 1.0, 10), Record(4, 2.0, 0.8, 1.0, 10)]
    records += [Record(4, 102.0, validation=validation), Record(6, 103.0, 0.7, 1.0, 10)]
    assert training_speed(records) == pytest.approx(20.0) and training_speed([]) == 0.0
    curves, units = learning_curves(records, FIGURES, "nats per picture")
    assert curves["accuracy in validation"] == [(4.0, 1.7, 1.0)] and curves["loss in validation"] == [(4.0, 1.7, 0.5)]
    assert [p[2] for p in curves["loss in training"]] == [0.9, 0.8, 0.7] and units["accuracy in validation"] == "%"


@pytest.mark.parametrize(("pieces", "seconds"), [(3, 24), (1000, 200)])
def test_generation_is_measured_by_what_was_written(pieces: int, seconds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """One piece a second: a text that ends after three pieces is no faster than one that does not end."""
    clock = [0.0]

    class Task:
        uses = ("generate",)

        def generate(self, model: object, prompt: str, temperature: float = 0.8, top_k: int | None = None, top_p: float = 0.95,
                     seed: int = 1) -> Iterator[str]:  # fmt: skip
            for _ in range(pieces):
                clock[0] += 1.0
                yield "x"

    monkeypatch.setattr(outcomes.time, "monotonic", lambda: clock[0])
    run: Any = SimpleNamespace(task=Task(), model=None)
    assert generation_speed(run, Judgement((), (), "")) == 1.0 and clock[0] == seconds
    Task.uses = ()
    assert generation_speed(run, Judgement((), (), "")) is None


def held_in_child(result: Any) -> None:
    result.put(peak_memory())


def test_the_memory_of_a_child_is_its_own() -> None:
    """`getrusage` of a child begins with what its parent held."""
    ballast = bytearray(700 << 20)
    context = multiprocessing.get_context("spawn")
    result: Any = context.Queue()
    child = context.Process(target=held_in_child, args=(result,))
    child.start()
    held = result.get(timeout=120)
    child.join()
    own = peak_memory()
    assert len(ballast) < (own or 0) and 1 << 20 < held < len(ballast)


# -- the table -----------------------------------------------------------------------------------------------------------


def made(model: str, seed: int, value: float, names: tuple[str, ...] = ("accuracy",), **more: Any) -> Outcome:
    scores = [Score("test", name, value, digits=2) for name in names]
    fields: dict[str, Any] = {
        "better": "higher",
        "parameters": 1_234_567_890,
        "steps": 123_456,
        "minutes": 1234.5,
        "unit": "pictures",
    }
    fields |= {
        "training_speed": 1e6,
        "flops": 12e9,
        "memory": 12345.0,
        "generation_speed": 99.0,
        "curves": {},
        "units": {},
        "columns": [],
    }
    return Outcome(model, seed, scores, **(fields | more))


def test_the_table_fits_a_terminal_and_the_best_comes_first() -> None:
    names = tuple(f"a score with a long name, number {i}" for i in range(5))
    long = [
        made(f"somebody.else.has_a_long_package_name:{m}", s, v, names)
        for m, v in (("A", 0.5), ("B", 0.9))
        for s in (1, 2)
    ]
    for text in (
        terminal_text(long),
        terminal_text([made("a", 1, 0.1), made("b", 1, 0.2, memory=None, generation_speed=None)]),
    ):
        tables = text.split("\n\n")[1:3]
        assert all(len(line) <= 100 for table in tables for line in table.split("\n"))
    rows = terminal_text([made("a", s, 0.1 * s) for s in (1, 2)] + [made("b", s, 0.7) for s in (1, 2)]).split("\n")
    assert (
        rows[2].split() == ["model", "accuracy"]
        and rows[3].split() == ["b", "0.70", "±", "0.00"]
        and rows[4].startswith("a ")
    )
    worst_first = [made("a", 1, 0.1, better="lower"), made("b", 1, 0.2, better="lower")]
    assert terminal_text(worst_first).split("\n")[3].startswith("a ")
