"""Panels as figures: every mark where it belongs, names escaped, odd values survive, pictures unchanged inside the page."""

import base64
import io
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from headway.report.inspection import inspection_page
from headway.report.panels import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, draw, panels_section
from headway.tasks.panels import Box, Gallery, Mark, Matrix, Picture, Plot

EVIL = '<script>alert("x")</script>'


def svg(panel: object) -> ElementTree.Element:
    """The drawing, which must be well-formed."""
    text = draw(panel)  # type: ignore[arg-type]
    return ElementTree.fromstring(re.sub("</?figure[^>]*>|<figcaption>.*?</figcaption>|<p .*?</p>", "", text, flags=re.S))


def plot(*marks: Mark, equal: bool = False, bare: bool = False) -> Plot:
    return Plot("A title", marks, "x", "y", "How to read it.", equal, bare)


def test_points_stand_where_their_values_are() -> None:
    drawn = svg(plot(Mark("points", (0.0, 5.0, 10.0), (0.0, 1.0, 4.0))))
    found = [(float(c.get("cx", "")), float(c.get("cy", ""))) for c in drawn.iter("circle")]
    across, up = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    expected = [(LEFT + x / 10 * across, HEIGHT - BOTTOM - y / 4 * up) for x, y in ((0, 0), (5, 1), (10, 4))]
    np.testing.assert_allclose(found, expected, atol=0.06)


def test_equal_units_are_equally_long() -> None:
    drawn = svg(plot(Mark("points", (0.0, 2.0, 0.0), (0.0, 0.0, 1.0)), equal=True, bare=True))
    (a, b), (c, d), (e, f) = ((float(p.get("cx", "")), float(p.get("cy", ""))) for p in drawn.iter("circle"))
    assert c - a == pytest.approx(2 * (b - f), abs=0.2) and a == e and b == d


@pytest.mark.parametrize(
    "mark",
    [
        Mark("line", (), ()),
        Mark("line", (1.0,), (2.0,)),
        Mark("points", (1.0, np.nan), (np.inf, 3.0)),
        Mark("band", (0.0, 1.0), (0.0, 0.0), high=(1.0, 1.0), name="interval"),
        Mark("segments", (0.0,), (0.0,), high=(1.0,), x_end=(1.0,), soft=True),
    ],
)
def test_odd_values_are_drawn_or_left_out(mark: Mark) -> None:
    text = draw(plot(mark))
    assert "nan" not in text and not re.search(r"\binf\b", text)


def test_names_are_escaped_and_share_their_colour() -> None:
    text = draw(Plot(EVIL, (Mark("line", (0, 1), (0, 1), EVIL), Mark("points", (0, 1), (0, 1), EVIL, labels=(EVIL, ""))), EVIL, EVIL, EVIL))
    assert "<script" not in text and text.count('class="c0"') == 3


def test_a_matrix_has_a_square_for_each_number() -> None:
    values = np.array([[5.0, 0.0], [np.nan, 2.0]])
    drawn = svg(Matrix("Confusion", ("a", EVIL), ("a", "b"), values, "true", "predicted"))
    squares = list(drawn.iter("rect"))
    assert [float(s.get("fill-opacity", "")) for s in squares] == pytest.approx([1.0, 0.0, 0.0, (2 / 5) ** 0.5], abs=1e-3)
    assert next(t.text for t in drawn.iter("title")) == "a → a: 5"


def test_pictures_are_unchanged_inside_the_page() -> None:
    image = np.random.default_rng(1).integers(0, 256, (5, 7, 3), dtype=np.uint8)
    box = Box(0.0, 0.2, 0.5, 1.0, EVIL, expected=True)
    text = draw(Gallery("Worst", (Picture(image, EVIL, (box,), np.eye(2)), Picture(image[..., :1])), "caption"))
    assert "<script" not in text and 'class="expected"' in text
    found = [np.array(Image.open(io.BytesIO(base64.b64decode(b)))) for b in re.findall(r"base64,([^\"]+)", text)]
    np.testing.assert_array_equal(found[0], image)
    assert found[1].shape == (2, 2, 4) and found[1][0, 0, 3] > found[1][0, 1, 3] == 0, "heat hides more where it is higher"
    np.testing.assert_array_equal(found[2], image[..., 0])


def test_a_page_of_panels_alone_has_no_attention() -> None:
    panel = plot(Mark("line", (0, 1), (0, 1)))
    assert "<h2>Attention" not in inspection_page([], "title", panels=[panel])
    assert "This model has no attention." in inspection_page([], "title")
    assert panels_section([]) == ""
