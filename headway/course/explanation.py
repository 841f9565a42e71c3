"""What the docstring of a concept says, in parts that a page can typeset: a sentence, equations, words with the paper."""

import ast
import re
from dataclasses import dataclass

from headway.course.syllabus import Concept
from headway.lab.page import linked
from headway.lab.statement import Statement
from headway.report.equations import named, to_html

_ARGUMENTS = re.compile(r"^[*\w]+(?:, [*\w]+)*   ? *\S")  # `width   what it means`
_ALSO = re.compile(r"\s*Also called [^.]+\.")
_KEPT = re.compile(r"(`[^`]+`|https?://[^\s,;)]+)")  # code and addresses are not typeset


@dataclass(frozen=True)
class Explanation:
    claim: str
    blocks: tuple[tuple[bool, str], ...]  # True for an equation


def explanation(concept: Concept) -> Explanation:
    """Its own docstring; without one that of its class or file, which also gives the equation that it has not."""
    docs = [ast.get_docstring(node) or "" for node in reversed(concept.nodes)]
    own = next((doc for doc in docs if doc), "")
    claim, blocks = _parts(own)
    if not any(equation for equation, _ in blocks):
        above = [_parts(doc)[1] for doc in docs if doc != own]
        blocks = [*next((found for b in above if (found := [e for e in b if e[0]])), []), *blocks]
    return Explanation(claim, tuple(blocks))


def _parts(doc: str) -> tuple[str, list[tuple[bool, str]]]:
    """The first paragraph, and the others without the list of arguments and the other names."""
    head, _, rest = _ALSO.sub("", doc).strip().partition("\n\n")
    kept = [block for block in re.split(r"\n\s*\n", rest) if not _ARGUMENTS.match(block)]
    return " ".join(head.split()), Statement("", "\n\n".join(kept), {}).blocks


def typeset(text: str) -> str:
    """HTML of a docstring's words: indices, letters and signs as in equations, code as code, addresses as links."""
    parts = _KEPT.split(text)
    return "".join(_kept(part) if i % 2 else to_html(named(part)) for i, part in enumerate(parts))


def _kept(part: str) -> str:
    if part.startswith("`"):
        return "<code>" + part[1:-1].replace("&", "&amp;").replace("<", "&lt;") + "</code>"
    address = part.rstrip(".")
    return linked(address) + part[len(address) :]
