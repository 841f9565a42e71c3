"""Pages and pictures of attention maps, and the report: self-contained, safe for any text, complete, and sensible when empty."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from headway.core.errors import ConfigError, DataError
from headway.data.findings import Finding, Report
from headway.report.curves import MOST_POINTS, Curve, duration, ticks, training_charts
from headway.report.inspection import inspection_page
from headway.report.page import SCALE
from headway.report.picture import picture
from headway.report.report import report_page
from headway.tasks.task import Figure, Score
from headway.tasks.uses import Map
from headway.training.metrics import Record, Validated

NASTY = (
    "<script>alert(1)</script>",
    "</script>",
    "<!--",
    "\"'&quot;",
    "😀",
    "مرحبا بالعالم",
    "日本",
    "$\\frac$",
    "\u2028",
)
METRICS = [
    Record(1, 30.0, 9.25, 1.0, 100),
    Record(2, 60.0, 7.5, 1.0, 100),
    Record(2, 90.0, validation=Validated({"loss": 7.0, "BLEU": 1.5, "chrF": 12.5}, 12.5, [["ein", "zwei", "drei"]])),
]
FIGURES = (
    Figure("BLEU", scale="0 to 100"),
    Figure("chrF", scale="0 to 100"),
    Figure("loss", "nats per token", "lower"),
)
FOUND = Finding("odd", 1, (7,), ("<b>x</b>",), "warning", "dropped", "1 pair <odd>")


def doctor(origin: str) -> Report:
    return Report(origin, 1200, 1199, (FOUND,), {}, "pair", (f"summary of {origin}",))


def made(labels: tuple[str, ...] = NASTY, layers: int = 2, heads: int = 3) -> list[Map]:
    generator, found = np.random.default_rng(0), []
    for layer in range(1, layers + 1):
        for kind in ("encoder", "decoder", "cross"):
            weights = generator.dirichlet(np.ones(len(labels)), size=(heads, len(labels) - 1))
            found.append(Map(f"{kind}.{layer - 1}", kind, layer, weights, labels[:-1], labels))
    return found


def report(**changes: Any) -> str:
    lists: dict[str, Any] = {
        name: [] for name in ("scores", "metrics", "samples", "worst", "doctor", "maps", "next_steps")
    }
    words = {"title": "run", "verdict": "", "kept": "", "summary": {}, "base": None, "loss_unit": "nats per token"}
    return report_page(
        **(words | {"figures": FIGURES, "columns": ("source", "translation", "reference")} | lists | changes)
    )


def full(text: str = "plain") -> str:
    score = Score(text, text, 93.14, 92.0, 94.5, 1, text)
    return report(
        title=text, verdict=text, kept=text, summary={text: text}, scores=[score], base=([score], [score]), metrics=METRICS,
        columns=(text, text, text), samples=[(text, text, text)], worst=[(text, text, text)], doctor=[doctor(text)],
        maps=made(), next_steps=[text],
    )  # fmt: skip


class Reader(HTMLParser):
    """All elements with their attributes, the text outside scripts and styles, and the embedded data."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text, self.data, self.inside = "", "", ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.inside = "data" if dict(attrs).get("id") == "data" else tag

    def handle_endtag(self, tag: str) -> None:
        self.inside = ""

    def handle_data(self, data: str) -> None:
        if self.inside == "data":
            self.data += data
        elif self.inside not in ("script", "style"):
            self.text += data


@pytest.mark.parametrize(
    "page", [inspection_page(made(), "title"), full(), report()], ids=["attention", "report", "empty report"]
)
def test_page_needs_nothing_else(page: str) -> None:
    assert not re.search(r"https?://|@import|url\(|\bfetch\(|XMLHttpRequest|WebSocket", page)
    for tag, attributes in Reader(page).elements:
        assert "src" not in attributes
        assert attributes.get("href", "data:,").startswith(("data:", "#")), (tag, attributes)  # type: ignore[union-attr]
    assert "default-src 'none'" in page  # and the browser is told so


@pytest.mark.parametrize("text", NASTY)
def test_text_of_people_stays_text(text: str) -> None:
    def page(text: str) -> str:
        return inspection_page(made(), text, text, {text: text})

    for make in (page, full):
        read, plain = Reader(make(text)), Reader(make("plain"))
        assert [tag for tag, _ in read.elements] == [tag for tag, _ in plain.elements]  # no text has become an element
        assert read.text.count(text) >= 3
        assert json.loads(read.data)["maps"][0]["columns"] == list(NASTY)


def test_half_a_character_from_a_command_line_does_not_stop_the_page() -> None:
    inspection_page(made(("\udcff", "b")), "\udcff").encode("utf-8")


def test_every_head_of_every_layer_with_its_weights() -> None:
    maps = made(layers=3, heads=4)
    data = json.loads(Reader(inspection_page(maps, "title")).data)["maps"]
    assert data == json.loads(Reader(report(maps=maps)).data)["maps"]
    assert [(m["name"], m["kind"], m["layer"]) for m in data] == [(m.name, m.kind, m.layer) for m in maps]
    for found, m in zip(data, maps, strict=True):
        assert (tuple(found["rows"]), tuple(found["columns"])) == (m.rows, m.columns)
        weights = np.array(found["weights"]).reshape(4, len(m.rows), len(m.columns)) / SCALE
        np.testing.assert_allclose(weights, m.weights, atol=0.5001 / SCALE)


def test_a_weight_that_is_no_number_is_marked() -> None:
    m = Map("a", "cross", 1, np.array([[[np.nan, 0.5]]]), ("x",), ("y", "z"))
    assert json.loads(Reader(inspection_page([m], "title")).data)["maps"][0]["weights"] == [[-1, 5000]]


def test_a_map_that_does_not_fit_its_labels() -> None:
    with pytest.raises(ConfigError, match=r"weights of shape \(1, 2, 3\) do not fit 2 row labels and 2 column labels"):
        Map("decoder.0.cross", "cross", 1, np.zeros((1, 2, 3)), ("a", "b"), ("a", "b"))
    with pytest.raises(ConfigError, match="the kind is `self`, expected one of encoder, decoder, cross"):
        Map("decoder.0.cross", "self", 1, np.zeros((1, 2, 2)), ("a", "b"), ("a", "b"))


def test_blank_states() -> None:
    page = inspection_page([], "title")
    assert "This model has no attention." in page
    assert 'id="maps"' not in page
    text = Reader(report()).text
    for words in ("Nothing has been scored yet", "No training step", "Nothing yet: samples come", "not been examined"):
        assert words in text
    assert "type next" not in text
    only_training = Reader(report(metrics=METRICS[:2])).text
    assert "Loss" in only_training and "0 to 100" not in only_training


def test_report_tells_scores_samples_findings_and_commands() -> None:
    text = Reader(full()).text
    assert "93.1" in text and "95 % interval 92.0 to 94.5" in text
    assert "1,200 pairs, 1 dropped" in text and "1 pair <odd>" in text and "line 7: <b>x</b>" in text
    assert "What it remembers" in text and "Where it is worst" in text and "Weights kept: plain." in text
    nothing = Score("test", "BLEU", float("nan"), 0.0, 0.0)
    assert "–" in Reader(report(scores=[nothing])).text and "interval" not in Reader(report(scores=[nothing])).text


def test_curves_carry_the_values_of_the_metrics() -> None:
    loss, quality = json.loads(Reader(full()).data)["charts"]
    assert loss["names"] == ["training", "validation"] and quality["names"] == ["BLEU", "chrF"]
    assert [point[2:] for line in loss["lines"] for point in line] == [
        ["1", "30 s", "9.25"], ["2", "60 s", "7.50"], ["2", "90 s", "7.00"],
    ]  # fmt: skip
    (first, second), (third,) = loss["lines"]
    assert first[0] < second[0] == third[0] and first[1] < second[1] < third[1]  # to the right, and downwards
    broken = [*METRICS, Record(3, 99.0, float("nan")), Record(4, 99.0, None)]
    assert [len(c.points) for chart in training_charts(broken, FIGURES, "nats") for c in chart.curves] == [2, 1, 1, 1]


def test_long_curves_are_thinned_and_keep_their_mean() -> None:
    thin = Curve("loss", tuple((float(i), i / 60, float(i % 2)) for i in range(40_000))).thinned()
    assert len(thin.points) == MOST_POINTS
    assert {round(value, 6) for *_, value in thin.points} == {0.5}


@pytest.mark.parametrize(("low", "high"), [(0, 1), (2.1, 9.4), (0, 20_000), (5, 5), (0, 0), (1e-5, 3e-5), (-3, 8)])
def test_ticks_are_few_and_enclose(low: float, high: float) -> None:
    found = ticks(low, high)
    assert 2 <= len(found) <= 8 and found[0] <= low + 1e-9 and found[-1] >= high - 1e-9 and found == sorted(set(found))


def test_durations() -> None:
    assert [duration(m) for m in (0.5, 1.9, 5.25, 42, 150)] == ["30 s", "114 s", "5.2 min", "42 min", "2.5 h"]


@pytest.mark.filterwarnings("error")
def test_picture(tmp_path: Path) -> None:
    paths = tmp_path / "a.png", tmp_path / "b.png"
    for path in paths:
        picture(made(layers=1, heads=2), path, NASTY[0] + "$\\alpha$")
    data = paths[0].read_bytes()
    assert data == paths[1].read_bytes() and data[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = (int.from_bytes(data[i : i + 4]) for i in (16, 20))
    assert 700 < width < 1000 and 1200 < height < 2000 and 20_000 < len(data) < 400_000
    assert b"Software" not in data and sorted(p.name for p in tmp_path.iterdir()) == ["a.png", "b.png"]


def test_picture_of_nothing(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no attention maps") as problem:
        picture([], tmp_path / "a.png", "title")
    assert problem.value.hint == "this model has no attention."
