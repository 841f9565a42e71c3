"""What can be wrong with the characters of a text, and how to see it.

Each symptom is one pattern that runs over a whole side of the corpus at once (joined by line ends), which is some fifty
times faster than line by line. The patterns are made to stay silent on good text of any language; what each must not
match is said beside it.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from headway.data.messages import excerpt

# How the bytes 0x80-0xBF, which continue a character in UTF-8, look after being read as Latin-1 or windows-1252.
CONTINUATIONS = "".join(map(chr, range(0x80, 0xC0))) + bytes(range(0x80, 0xC0)).decode("cp1252", "ignore")
CONTINUED = f"[{CONTINUATIONS}]"
# Not `ß“`, `Ä“` or `é »`, which good text has before a closing quote: Ä and Å count only inside a word, others only in
# a run.
MOJIBAKE = (
    f"[ÂÃ]{CONTINUED}|[ÄÅ]{CONTINUED}(?=[^\\W\\d_])|â[€\x80]{CONTINUED}|(?:[ÐÑ]{CONTINUED}){{2}}|ðŸ{CONTINUED}|ï»¿|"
    f"(?:[ãäåæçèé]{CONTINUED}{{2}}){{2}}"
)
# Letters that print exactly like Latin ones, as codes, because nobody could tell them apart here. Not the Greek mu,
# Delta or pi, which stand beside Latin letters in good text.
CYRILLIC_TWINS = "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u04bb\u0501"  # a e o p c y x i j s h d
# A B E K M H O P C T Y X I J S
CYRILLIC_CAPITALS = "\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0423\u0425\u0406\u0408\u0405"
# o A B E Z H I K M N O P T Y X
GREEK_TWINS = "\u03bf\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7"
LOOKALIKES = CYRILLIC_TWINS + CYRILLIC_CAPITALS + GREEK_TWINS
LATIN = "A-Za-z\u00c0-\u024f"
ODD_SPACE = {
    "\t": "tab", "\v": "vertical tab", "\f": "form feed", "\u00a0": "no-break space", "\u200b": "zero width space",
    "\u2028": "line separator", "\u2029": "paragraph separator", "\u202f": "narrow no-break space",
    "\u3000": "ideographic space",
    "\ufeff": "byte order mark",
}  # fmt: skip
INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff"
# A script outside these lists is not judged; the East Asian ones are one, because their texts mix them.
ALPHABETS = (
    "LATIN CYRILLIC GREEK ARMENIAN GEORGIAN HEBREW ARABIC DEVANAGARI BENGALI GURMUKHI GUJARATI TAMIL TELUGU KANNADA "
    "THAI LAO"
)
EAST_ASIAN = "CJK HIRAGANA KATAKANA HANGUL BOPOMOFO"
SCRIPTS = {name: name.title() for name in ALPHABETS.split()} | dict.fromkeys(EAST_ASIAN.split(), "East Asian")


@dataclass(frozen=True)
class Symptom:
    kind: str
    pattern: re.Pattern[str]
    severity: str
    words: str
    needs: tuple[str, ...] = ()  # a text without a character of each of these cannot have the symptom

    def possible(self, alphabet: set[str]) -> bool:
        """Whether a text of these characters can have the symptom; much faster than searching for it."""
        return all(not alphabet.isdisjoint(characters) for characters in self.needs)


SYMPTOMS = (
    Symptom("replacement", re.compile("\ufffd"), "warning", "characters lost in an earlier conversion (U+FFFD)",
            ("\ufffd",)),
    Symptom("mojibake", re.compile(MOJIBAKE), "warning", "UTF-8 that was read as Latin-1 (mojibake)",
            ("ÂÃÄÅâÐÑðïãäåæçèé", CONTINUATIONS)),
    Symptom("control", re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f]"), "warning", "control characters"),
    Symptom("homoglyph", re.compile(f"[{LATIN}][{LOOKALIKES}]|[{LOOKALIKES}][{LATIN}]"), "warning",
            "look-alike letters of another script inside a Latin word", (LOOKALIKES,)),
    Symptom("white-space", re.compile(f"[{''.join(ODD_SPACE)}]|  +"), "note", "odd white space"),
)  # fmt: skip


@dataclass(frozen=True)
class Sighting:
    """Text number `index` has the symptom; `excerpt` shows it."""

    index: int
    excerpt: str


class Side:
    """All texts of one side, joined once and searched many times."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = texts
        self.joined = "\n".join(texts)
        self.starts = np.cumsum([0] + [len(text) + 1 for text in texts])

    def sightings(self, pattern: re.Pattern[str]) -> list[Sighting]:
        """The first match in every text that has one."""
        found: list[Sighting] = []
        places = [match.start() for match in pattern.finditer(self.joined)]
        for place, index in zip(places, np.searchsorted(self.starts, places, side="right") - 1, strict=True):
            if not found or found[-1].index != index:
                column = place - int(self.starts[index])
                text = self.texts[index]
                found.append(
                    Sighting(int(index), excerpt(("..." if column > 30 else "") + text[max(0, column - 30) :]))
                )
        return found

    def decomposed(self) -> list[Sighting]:
        """Texts that are not in the composed Unicode form NFC."""
        if unicodedata.is_normalized("NFC", self.joined):
            return []
        bad = [i for i, text in enumerate(self.texts) if not unicodedata.is_normalized("NFC", text)]
        return [Sighting(i, excerpt(self.texts[i])) for i in bad]

    def foreign(self) -> tuple[list[Sighting], list[str]]:
        """Texts with letters of a script that makes up less than 1 % of the letters of this side, and those scripts.

        Latin is never foreign: names, brands and formulas stand in Latin letters in the text of every script.
        """
        letters = {c: n for c, n in Counter(self.joined).items() if c.isalpha()}
        scripts: Counter[str] = Counter()
        for letter, count in letters.items():
            scripts[script_of(letter)] += count
        total = sum(letters.values())
        rare = sorted(name for name, count in scripts.items() if name not in ("", "Latin") and count < 0.01 * total)
        if not rare:
            return [], []
        members = "".join(letter for letter in letters if script_of(letter) in rare)
        return self.sightings(re.compile(f"[{members}]")), rare


def script_of(letter: str) -> str:
    """The script of a letter by the first word of its Unicode name; empty for signs and unlisted scripts."""
    return SCRIPTS.get(unicodedata.name(letter, "").partition(" ")[0], "")


def is_blank(text: str) -> bool:
    """Nothing to be seen: empty, white space, or only characters without width."""
    return not text or not text.strip(INVISIBLE).strip()


def name_spaces(texts: Sequence[str]) -> list[str]:
    """Which odd spaces these texts have."""
    seen = set().union(*texts)
    names = [name for space, name in ODD_SPACE.items() if space in seen]
    return names + ["double space"] * any("  " in text for text in texts)
