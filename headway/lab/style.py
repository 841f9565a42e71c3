"""One visual language for every figure: what was measured is a solid line with markers, a bound is dashed ink, a control is dotted
vermilion with crosses. Colours are those of Okabe and Ito (2008), which colour-blind people tell apart; markers differ as well.

    axes.plot(m, error, **MEASURED, label="measured")
    axes.plot(m, bound, **BOUND, label="ρ/m")
    axes.plot(m, wrong, **CONTROL, label="as printed")
    axes.plot(m, error, **series(1), label="n = 20")         # several of a kind

The same experiment and seed give the same bytes.
"""

import contextlib
import io
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Panels = Sequence[Any]  # what `plot` draws into: matplotlib's Axes, whose own annotations refuse `**MEASURED`

INK, SOFT, LINE, PAPER = "#17202b", "#596675", "#dde2e8", "#ffffff"  # the colours of headway.inspect's pages
BLUE, ORANGE, GREEN, SKY, PURPLE, VERMILION = "#0072b2", "#e69f00", "#009e73", "#56b4e9", "#cc79a7", "#d55e00"
SERIES = (BLUE, ORANGE, GREEN, PURPLE, SKY)
MARKERS = ("o", "s", "^", "D", "v")

MEASURED: dict[str, Any] = {"color": BLUE, "marker": "o", "markersize": 5, "linewidth": 1.6}
BOUND: dict[str, Any] = {"color": INK, "linestyle": (0, (5, 3)), "linewidth": 1.4, "zorder": 2.5}  # over what was measured
CONTROL: dict[str, Any] = {"color": VERMILION, "marker": "x", "markersize": 6, "linestyle": (0, (1, 2)), "linewidth": 1.6}
CURVE: dict[str, Any] = {"color": BLUE, "linewidth": 1.6}  # a function, without markers
TARGET: dict[str, Any] = {"color": SOFT, "linewidth": 2.6, "alpha": 0.55}  # the function that is approximated

FONT = "DejaVu Sans"  # words are text, not outlines; where the font is missing, Verdana is about as wide
WIDTH, ROW = 9.0, 3.7  # inches; a page shows 100 pixels for each
DENSE = 100  # markers or cells of one artist; more are an image inside the SVG, since each takes 100 to 150 bytes as a vector
SETTINGS: Any = {
    "font.family": FONT, "font.size": 10.5, "axes.titlesize": 11, "axes.titleweight": "bold", "axes.titlelocation": "left",
    "axes.labelsize": 10.5, "legend.fontsize": 9.5, "xtick.labelsize": 9.5, "ytick.labelsize": 9.5,
    "text.color": INK, "axes.labelcolor": INK, "axes.edgecolor": SOFT, "xtick.color": SOFT, "ytick.color": SOFT,
    "xtick.labelcolor": INK, "ytick.labelcolor": INK, "axes.titlecolor": INK,
    "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.color": LINE, "grid.linewidth": 0.7,
    "axes.axisbelow": True, "legend.frameon": False, "figure.facecolor": PAPER, "axes.facecolor": "none", "savefig.facecolor": PAPER,
    "image.cmap": "cividis", "svg.fonttype": "none", "path.simplify": True, "axes.unicode_minus": True, "text.parse_math": True,
}  # fmt: skip


def series(i: int) -> dict[str, Any]:
    """The look of the i-th of several measured lines."""
    return MEASURED | {"color": SERIES[i % len(SERIES)], "marker": MARKERS[i % len(MARKERS)]}


@contextlib.contextmanager
def _language(salt: str) -> Iterator[None]:
    """The settings, for as long as something is drawn. That a legend took long to place says something of the machine only."""
    import matplotlib

    with matplotlib.rc_context({**SETTINGS, "svg.hashsalt": salt}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Creating legend with loc")
        yield


def figure(panels: int | tuple[int, int], draw: "Callable[[Panels], None]", salt: str) -> "Figure":
    """A figure of so many panels in the house's style, filled by `draw`; no window and no global state is touched."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    rows, columns = panels if isinstance(panels, tuple) else (1, panels)
    with _language(salt):
        made = Figure(figsize=(WIDTH, ROW * rows + 0.2), dpi=100, layout="constrained")
        FigureCanvasAgg(made)
        axes = list(made.subplots(rows, columns, squeeze=False).flat)
        draw(axes)
        for artist in (artist for panel in axes for artist in (*panel.lines, *panel.collections) if _parts(artist) > DENSE):
            artist.set_rasterized(True)
        for axis in (axis for panel in axes for axis in (panel.xaxis, panel.yaxis) if axis.get_scale() == "log"):
            _readable(axis)
        made.draw_without_rendering()
        made.set_layout_engine("none")  # the layout moves a little whenever it is computed again, and bytes must not
        return made


def _parts(artist: Any) -> int:
    """How many marks an SVG would hold for this line or collection; a line without markers is one path."""
    if hasattr(artist, "get_xdata"):
        return len(artist.get_xdata()) if artist.get_marker() not in ("", "None", None) else 1
    if getattr(artist, "get_array", lambda: None)() is not None:
        return artist.get_array().size
    return max(len(artist.get_offsets()), len(artist.get_paths()))


def _readable(axis: Any) -> None:
    """Logarithmic ticks that do not collide: powers of ten, or 1, 2, 5 on a short axis."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = sorted(axis.get_view_interval())
    axis.set_minor_formatter(NullFormatter())
    if 0 < high < 300 * low and isinstance(axis.get_major_locator(), LogLocator):
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high < 60 * low else (1.0, 3.0)))
        if low >= 1e-4 and high < 1e6:
            axis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))


def image(made: "Figure", kind: str, salt: str) -> bytes:
    """The figure as `svg` or `png` bytes, without dates, so that equal figures are equal files."""
    file = io.BytesIO()
    metadata: dict[str, Any] = {"Date": None, "Creator": None} if kind == "svg" else {"Software": None}
    with _language(salt):
        made.savefig(file, format=kind, dpi=200 if kind == "png" else 110, metadata=metadata)
    return _compact(file.getvalue().decode("utf-8")).encode("utf-8") if kind == "svg" else file.getvalue()


def _compact(svg: str) -> str:
    """The same picture in three quarters of the bytes: hundredths of a point; no indents, names of groups, notes or turns by 0 degrees."""
    svg = re.sub(r'(?s)<metadata>.*?</metadata>|<!--.*?-->| transform="rotate\(-?0 [^"]*"|(?<=<g) id="[^"]*"', "", svg)
    numbers = re.compile(r' (?:d|x|y|width|height)="[^"]*"')
    svg = numbers.sub(lambda shape: re.sub(r"-?\d+\.\d{3,}", lambda x: f"{float(x.group()):.2f}", shape.group()), svg)
    svg = svg.replace(f" font-family: '{FONT}';", "").replace("*{", f"text{{font-family: '{FONT}', Verdana, sans-serif}} *{{", 1)
    return re.sub(r"\s*\n\s*", "\n", svg)


def inline(svg: str) -> str:
    """The SVG for the inside of a page: ink, lines and paper follow the page's colours, light or dark."""
    svg = svg[svg.index("<svg") :]
    for colour, name in ((INK, "ink"), (SOFT, "soft"), (LINE, "line"), (PAPER, "panel"), (BLUE, "measured")):
        svg = svg.replace(f": {colour}", f": var(--{name}, {colour})")
    return re.sub(r'<svg ([^>]*?)width="[^"]*" ?', r"<svg \1", re.sub(r' height="[^"]*pt"', "", svg, count=1), count=1)
