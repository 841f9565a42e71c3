"""Pages that need no network and no other file, with attention maps of every layer and head.

The page is a skeleton (`page.html`) filled with a style, a body, data as JSON and a script. The report of a run is made of the
same parts, so a map looks and works alike in both. Text of people is escaped in two places only: `escape` for HTML, `embedded`
for JSON.
"""

import html
import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from string import Template
from typing import Any

import numpy as np

from headway.tasks.uses import Map

SCALE = 10_000  # weights are embedded as integers in units of 0.0001; -1 stands for a weight that is not a number
NO_MAPS = "This model has no attention."


def map_json(m: Map) -> dict[str, Any]:
    """A map as the script of the page reads it."""
    numbers = np.nan_to_num(np.rint(np.asarray(m.weights, dtype=np.float64) * SCALE), nan=-1, posinf=-1, neginf=-1)
    heads = numbers.astype(np.int64).reshape(len(m.weights), -1).tolist()
    labels = {"rows": list(m.rows), "columns": list(m.columns)}
    return {"name": m.name, "kind": m.kind, "layer": m.layer, **labels, "weights": heads}


def heading(title: str, subtitle: str = "") -> str:
    return f'<h1 dir="auto">{escape(title)}</h1>\n' + (
        f'<p class="soft" dir="auto">{escape(subtitle)}</p>\n' if subtitle else ""
    )


def facts(pairs: Mapping[str, str]) -> str:
    return html_facts({name: escape(value) for name, value in pairs.items()})


def html_facts(pairs: Mapping[str, str]) -> str:
    """Facts that are HTML already, such as equations."""
    items = (f'<div><dt>{escape(name)}</dt><dd dir="auto">{value}</dd></div>' for name, value in pairs.items())
    return f'<dl class="facts panel">{"".join(items)}</dl>\n'


def maps_section(maps: Sequence[Map]) -> str:
    """The place that `page.js` fills with the maps in the document's data."""
    if not maps:
        return blank(NO_MAPS)
    return '<div class="panel" id="maps"><noscript>The script of this page draws the maps; please allow it.</noscript></div>\n'


def blank(words: str) -> str:
    """What stands where there is nothing to show."""
    return f'<p class="panel blank">{escape(words)}</p>\n'


def document(title: str, body: str, data: Mapping[str, Any], extra: Sequence[str] = ()) -> str:
    """The whole page. `extra` names parts of this package, `.css` or `.js`, that are added to the style and the script."""
    style, script = (
        "".join(part(n) for n in ("page.css", "page.js", *extra) if n.endswith(end)) for end in (".css", ".js")
    )
    page = Template(part("page.html")).substitute(
        title=escape(title), style=style, body=body, data=embedded(data), script=script
    )
    # half a character from a broken command line must not stop the page
    return page.encode("utf-8", "replace").decode("utf-8")


def part(name: str) -> str:
    return files("headway.report").joinpath(name).read_text(encoding="utf-8")


def escape(text: object) -> str:
    return html.escape(str(text), quote=True)


def embedded(data: Mapping[str, Any]) -> str:
    """JSON that cannot end the script element it stands in, whatever people typed."""
    return json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
