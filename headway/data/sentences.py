"""Several sentences in one line: where they end, so that a translator reads one at a time and nothing is lost.

A sentence ends at `.`, `!`, `?` or `…` (and the closing quotes and brackets behind it) if white space and then
something follows that does not begin with a small letter, unless the full stop belongs to

    a title or an abbreviation      Dr. Smith, z. B., vgl. Seite 3, e.g.
    an abbreviated word + number    No. 5, Abb. 3, Jan. 12
    an initial or an acronym        J. R. R. Tolkien, the U.S. Army    (but a word like `The` begins a sentence)
    an ordinal number               am 3. Oktober, 1. Introduction

`。！？` end a sentence without white space. In doubt a line stays whole: a model that reads two sentences at once does
less harm than one that reads half of one.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

CLOSING = r"[\"'”’“‘»›)\]}]"
END = re.compile(rf"(?P<stop>[.!?…؟।]+)(?:{CLOSING}|[ \u00a0\u202f][»›])*(?P<space>\s+)")
WIDE_END = re.compile(r"[。！？｡]+[」』）】》〉”’\"]*\s*")
NEAR = 100  # characters on each side that decide
OPENING = "\"'„“‘‚”«»‹›([{¿¡–—-•*… \u00a0\u202f"

TITLES = frozenset(
    """Dr Mr Mrs Ms Prof Hr Fr St Ste Mme Mlle MM Mgr Me Sen Rep Gov Gen Col Capt Lt Sgt Rev Hon Messrs Dipl Ing Mag
    Hrn Frl Univ Jh Jhd Chr""".split()
)
ABBREVIATIONS = frozenset(
    """bzw bspw ca cf dt engl evtl franz geb gegr gem gest ggf inkl insb lat max min od resp s sog sogen tel u usf v
    vgl vs wg zit zzgl approx esp incl viz env p pp""".split()
)
NUMBERED = frozenset(
    """No Nos no Nr Nrn Fig Figs Abb Tab Tbl Art Abs Kap Bd Vol Bde Ziff Eq Sec Sect Ch Chap Ref S Anm Aufl chap vol
    art fig Jan Feb Mar Mär Apr Jun Jul Aug Sep Sept Oct Okt Nov Dec Dez""".split()
)
IN_NAMES = frozenset("Inc Ltd Co Corp Bros Jr Sr Ph.D a.m p.m A.M P.M".split())
# Words that begin a sentence more often than a name.
STARTERS = frozenset(
    """The A An He She It They We I You This That These Those There Here But And Or So If When While Then What Why
    How Who Where In On At As For From With After Before Since Although However Its His Her Their Our My Your No
    Not All Some Many Most Now Yet Only Der Die Das Den Dem Des Ein Eine Einen Einem Einer Er Sie Es Wir Ich Du
    Ihr Man Aber Und Oder Doch Denn Wenn Als Da Dann Dort Hier Im Am Auf Aus Bei Mit Nach Seit Von Vor Zu Zum Zur
    Was Wer Wie Wo Warum Nun Nur Auch Jetzt Diese Dieser Dieses Sein Seine Ihre Kein Keine Nicht Alle Viele Le La
    Les Un Une Des Il Elle Ils Elles On Nous Vous Je Tu Ce Cette Ces Mais Et Ou Donc Si Quand Alors Dans En Au Aux
    Avec Pour Sur Après Avant""".split()
)
ORDINAL_AFTER = frozenset(
    "am im vom zum beim ab bis der die das den dem des dieser diesem und oder seit ins ein eine einen einem".split()
)
ORDINAL_BEFORE = frozenset(
    """Januar Februar März April Mai Juni Juli August September Oktober November Dezember Jahrhundert Jahrhunderts
    Klasse Stock Platz Auflage Kapitel Weltkrieg Weltkriegs Mal Geburtstag Bundesliga""".split()
)


@dataclass(frozen=True)
class SplitLine:
    """The sentences of a line and the white space around them: `spaces[i]` before sentence i, the last at the end."""

    sentences: tuple[str, ...]
    spaces: tuple[str, ...]

    def join(self, sentences: Sequence[str]) -> str:
        """These sentences (the same number, say translations) with the white space of the line."""
        pairs = zip(self.spaces, [*sentences, ""], strict=True)
        return "".join(space + sentence for space, sentence in pairs)


def split_sentences(line: str) -> list[str]:
    """The sentences of a line, without the white space around them."""
    return list(split_line(line).sentences)


def split_line(line: str) -> SplitLine:
    """The sentences of a line with the white space between them; `join` of the sentences is the line."""
    text = line.strip()
    if not text:
        return SplitLine((), (line,))
    start = line.index(text)
    sentences, spaces, begin = [], [line[:start]], 0
    for end in [*sentence_ends(text), len(text)]:
        part = text[begin:end]
        sentences.append(part.strip())
        spaces.append(part[len(part.rstrip()) :])
        begin = end
    spaces[-1] = line[start + len(text) :]
    return SplitLine(tuple(sentences), tuple(spaces))


def sentence_ends(text: str) -> list[int]:
    """Where the second and every later sentence begins."""
    ends: list[int] = []
    for match in sorted([*END.finditer(text), *WIDE_END.finditer(text)], key=lambda m: m.start()):
        begin = ends[-1] if ends else 0
        if match.end() >= len(text):
            continue
        if match.re is WIDE_END:
            # 「行く。」と言った: a quotation that goes on without a space is part of a sentence.
            quoted = match.group().rstrip()[-1] not in "。！？｡" and not match.group()[-1].isspace()
            if not quoted:
                ends.append(match.end())
            continue
        before = text[max(begin, match.start() - NEAR) : match.start()]
        after = text[match.end() : match.end() + NEAR]
        if is_end(before, match["stop"], after):
            ends.append(match.end())
    return ends


def is_end(before: str, stop: str, after: str) -> bool:
    """Whether `stop` between the sentence so far and the rest of the line ends the sentence."""
    following = after.lstrip(OPENING)
    if following[:1].islower():
        return False
    if stop != ".":
        return True
    words = before.split()
    word = words[-1].lstrip(OPENING) if words else ""
    previous = words[-2] if len(words) > 1 else ""
    next_word = re.split(r"[\s,.;:!?'’]", following, maxsplit=1)[0]
    if len(words) == 1 and word[:1].lower() + word[1:] in ABBREVIATIONS:  # `Vgl. Seite 3`
        return False
    if not word or word in TITLES or word in ABBREVIATIONS:
        return False
    if word.isdigit():
        ordinal = len(word) <= 3 and (previous in ORDINAL_AFTER or next_word in ORDINAL_BEFORE)
        return bool(previous) and (not ordinal or next_word in STARTERS)
    if word in NUMBERED and following[:1].isdigit():
        return False
    letters = word.split(".")
    if word in IN_NAMES or re.fullmatch("[IVXLC]{2,}", word):
        return next_word in STARTERS
    if all(len(part) == 1 and part.isalpha() for part in letters):
        continued = re.fullmatch(r"[a-zà-ÿ]\.", previous) is not None  # the `B.` of `z. B.`
        return word[0].isupper() and not continued and next_word in STARTERS
    return True
