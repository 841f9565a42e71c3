"""The page of `headway inspect`: what a model does with one input."""

from collections.abc import Mapping, Sequence

from headway.report.page import document, facts, heading, map_json, maps_section
from headway.report.panels import panels_section
from headway.tasks.panels import Panel
from headway.tasks.uses import Map


def inspection_page(
    maps: Sequence[Map],
    title: str,
    subtitle: str = "",
    details: Mapping[str, str] = {},
    panels: Sequence[Panel] = (),
) -> str:
    """All panels and maps of one input. `details` are facts to show above them, such as the run, the source and the translation."""
    body = heading(title, subtitle) + (facts(details) if details else "") + panels_section(panels)
    if maps or not panels:
        body += f"<h2>Attention</h2>\n{maps_section(maps)}"
    return document(title, body, {"maps": [map_json(m) for m in maps]}, ("report.css",))
