"""Conjugation, English and German. Persons: 1s (I, ich), 2s (you, du), 3s (he, er), p (we and they, wir and sie).

"you" is always "du": the English form does not tell it from "ihr" and "Sie", and one reference translation needs one answer.
"""

from functools import cache

from headway.data.grammar.lexicon import VERBS

PERSONS = ("1s", "2s", "3s", "p")

# verbs that follow no rule; the columns are ich, du, er, wir
GERMAN_IRREGULAR = """
sein    bin     bist    ist     sind
haben   habe    hast    hat     haben
mögen   mag     magst   mag     mögen
wissen  weiß    weißt   weiß    wissen
can     kann    kannst  kann    können
must    muss    musst   muss    müssen
want    will    willst  will    wollen
should  sollte  solltest sollte sollten
may     darf    darfst  darf    dürfen
will    werde   wirst   wird    werden
"""
GERMAN_PAST = """
sein    war     warst   war     waren
haben   hatte   hattest hatte   hatten
"""


def table(text: str) -> dict[tuple[str, str], str]:
    return {(row.split()[0], person): form
            for row in text.strip().splitlines() for person, form in zip(PERSONS, row.split()[1:], strict=True)}  # fmt: skip


IRREGULAR, PAST = table(GERMAN_IRREGULAR), table(GERMAN_PAST)
MODALS = ("can", "must", "want", "should", "may", "will")


@cache
def german_present(infinitive: str, he_form: str, person: str) -> str:
    """The present tense from infinitive and he-form: the umlaut of "er fährt" reaches "du fährst" but not "ich fahre"."""
    if (infinitive, person) in IRREGULAR:
        return IRREGULAR[infinitive, person]
    if person == "p":
        return infinitive
    if person == "3s":
        return he_form
    if person == "2s":  # after s, ß, z the s of -st is swallowed: du liest, du schließt, du putzt
        stem = he_form[:-1]
        return stem + ("t" if stem.endswith(("s", "ß", "z")) else "st")
    if infinitive.endswith("eln"):  # ich lächle
        return infinitive[:-3] + "le"
    return infinitive[:-1] if infinitive.endswith("en") else infinitive[:-1] + "e"  # ich lese, ich füttere


def german_finite(verb: str, tense: str, person: str) -> str:
    """The verb, auxiliary or modal that agrees with the subject, without a separable prefix."""
    entry = VERBS[verb]
    if tense == "present":
        return german_present(entry.infinitive, entry.he_form, person)
    if tense == "past":
        return PAST[entry.infinitive, person]
    return IRREGULAR[entry.auxiliary if tense == "perfect" else tense, person]


@cache
def english_present(word: str, person: str) -> str:
    """The present tense: reads, watches, cries; be and have have their own."""
    if word == "be":
        return {"1s": "am", "3s": "is"}.get(person, "are")
    if person != "3s":
        return word
    if word == "have":
        return "has"
    if word.endswith(("s", "x", "z", "ch", "sh", "o")):
        return word + "es"
    return word[:-1] + "ies" if word.endswith("y") and word[-2] not in "aeiou" else word + "s"


def english_past(word: str, person: str) -> str:
    if word == "have":
        return "had"
    return "was" if person in {"1s", "3s"} else "were"
