"""The page of `headway lab probe`: each probe with its sentence, its figures, and whether it is exact or an estimate."""

from collections.abc import Mapping

from headway.probe.finding import Finding
from headway.probe.measure import ProbeResults
from headway.report.page import blank, document, escape, facts, heading
from headway.report.panels import panels_section


def probe_page(results: ProbeResults, title: str, details: Mapping[str, str]) -> str:
    body = heading(f"Probes of {title}", "What the theory names, measured on this model.") + facts(details)
    body += "".join(section(name, finding) for name, finding in results.findings.items())
    if results.left_out:
        items = "".join(f"<li><b>{escape(name)}</b>: {code(reason)}.</li>" for name, reason in results.left_out.items())
        body += f'<h2>Left out</h2>\n<ul class="panel">{items}</ul>\n'
    elif not results.findings:
        body += blank("No probe applies to this model.")
    return document(f"Probes of {title}", body, {}, ("report.css",))


def section(name: str, finding: Finding) -> str:
    head = f"<h2>{escape(name)} <small>{escape(finding.kind)}</small></h2>\n<p>{code(finding.reading)}</p>\n"
    return (
        head
        + panels_section(finding.panels)
        + f'<p class="soft">{finding.kind.capitalize()}: {code(finding.basis)}.</p>\n'
    )


def code(text: str) -> str:
    """Names in backticks as code."""
    parts = escape(text).split("`")
    return "".join(f"<code>{part}</code>" if i % 2 else part for i, part in enumerate(parts))
