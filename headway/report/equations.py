"""Equations as they are written in docstrings, typeset: for a page as HTML, for a terminal in Unicode.

    x_{k+1} <= C^{-d/n} <w, x>        ->        x<sub>k+1</sub> ≤ C<sup>-d/n</sup> ⟨w, x⟩        or        xₖ₊₁ ≤ C^(-d/n) ⟨w, x⟩

An index or a power is a number, up to three letters, or anything in braces; a power may stand in parentheses, too. What has no small letter
in Unicode keeps its `_` or `^`.
"""

import html
import re
import unicodedata
from collections.abc import Callable

SIGNS = (
    ("<=>", "⇔"),
    ("=>", "⇒"),
    ("<=", "≤"),
    (">=", "≥"),
    ("!=", "≠"),
    ("<-", "←"),
    ("->", "→"),
    ("...", "…"),
    ("||", "‖"),
    (" * ", " · "),
)
LOWER = dict(zip("0123456789+-=()aehijklmnoprstuvxβγρφχ", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓᵦᵧᵨᵩᵪ", strict=True))
UPPER = dict(
    zip("0123456789+-=()abcdefghijklmnoprstuvwxyzTL", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᵀᴸ", strict=True)
)
_INDEX = re.compile(
    r"(?<=[\w)\]}|’'ˆ̂̃̄ᵀ‖∫ΣΠ∏])([_^])(?:\{([^{}]*)\}|(-?[0-9]+|[A-Za-zα-ωΑ-Ωℓ0-9]{1,3})(?![A-Za-zα-ωΑ-Ωℓ0-9_]))"
)
_POWER = re.compile(r"(?<=[\w)\]])\^\(([^()]*)\)")
_NAMED = re.compile(
    r"(?<![A-Za-z_])(?:(alpha|beta|gamma|delta|epsilon|zeta|eta|theta|lambda|mu|nu|xi|pi|rho|sigma|tau|phi|psi|omega|Gamma|Delta|Theta|Lambda|Sigma|Phi|Psi|Omega)(?![A-Za-z]|-[a-z])"
    r"|(sum|prod)(?=_)|(sqrt)(?=\())"
)  # a letter, an operator with an index, a root
_PRODUCT = re.compile(r"<([^<>=]{1,40}?,[^<>=]{1,40}?)>")  # of two vectors


def signs(text: str) -> str:
    """Comparisons, arrows and products of vectors with their own signs."""
    for plain, sign in SIGNS:
        text = text.replace(plain, sign)
    return _PRODUCT.sub(r"⟨\1⟩", text)


def named(text: str) -> str:
    """Letters and operators that a docstring writes out, `phi`, `sum_i`, `sqrt(d)`, with their own signs: φ, Σ_i, √(d)."""

    def sign(found: re.Match[str]) -> str:
        operator = {"sum": "Σ", "prod": "Π", "sqrt": "√"}.get(found[0])
        case = "SMALL" if found[0].islower() else "CAPITAL"
        return operator or unicodedata.lookup(f"GREEK {case} LETTER {found[0].replace('lambda', 'lamda')}")

    return _NAMED.sub(sign, text)


def to_html(text: str) -> str:
    """Escaped HTML with `<sub>` and `<sup>`."""
    tags = {"_": "sub", "^": "sup"}
    small = _indices(html.escape(signs(text)), lambda kind, inner: f"<{tags[kind]}>{inner}</{tags[kind]}>")
    return _POWER.sub(r"<sup>\1</sup>", small)


def to_unicode(text: str) -> str:
    """Small letters where Unicode has all of them."""

    def small(kind: str, inner: str) -> str:
        letters = LOWER if kind == "_" else UPPER
        if inner and all(c in letters for c in inner):
            return "".join(letters[c] for c in inner)
        return kind + (inner if len(inner) == 1 else f"({inner})" if kind == "^" else f"_{{{inner}}}"[1:])

    return _indices(signs(text), small)


def _indices(text: str, replace: Callable[[str, str], str]) -> str:
    """Indices and powers, the innermost first; one that stays as it is is not looked at again."""
    for _ in range(4):  # nested that deep at most
        changed = _INDEX.sub(lambda m: replace(m[1], m[2] if m[2] is not None else m[3]), text)
        if changed == text:
            break
        text = changed
    return text
