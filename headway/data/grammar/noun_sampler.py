"""Random noun phrases: which determiner, number, adjectives and possessor a noun is drawn with."""

from collections.abc import Sequence
from random import Random
from typing import TypeVar

from headway.data.grammar.lexicon import ADJECTIVES, NOUNS, NUMERALS, PRONOUNS
from headway.data.grammar.tree import NP, PP

T = TypeVar("T")

COLORS = ("red", "blue", "green", "yellow", "black", "white", "brown", "gray")
FITTING = {noun: tuple(a.lemma for a in ADJECTIVES.values() if noun in a.nouns) for noun in NOUNS}
FITTING_COLORS = {noun: tuple(a for a in FITTING[noun] if a in COLORS) for noun in NOUNS}
NAMES = tuple(noun for noun, entry in NOUNS.items() if "name" in entry.classes)
PEOPLE = tuple(noun for noun, entry in NOUNS.items() if "person" in entry.classes)
STRANGERS = frozenset(noun for noun in PEOPLE if "kin" not in NOUNS[noun].classes)  # "my woman" would be another word
KIN = frozenset(noun for noun, entry in NOUNS.items() if "kin" in entry.classes)
POSSESSIVES = {"I": "my", "you": "your", "he": "his", "she": "her", "we": "our", "they": "their"}
DEFINITE = {"the", "this", "relative", *POSSESSIVES.values()}
SUBJECT_PRONOUNS = tuple(POSSESSIVES)
NUMERAL_WORDS = tuple(NUMERALS)
PLACES = {
    key: tuple(noun for noun, entry in NOUNS.items() if key in entry.classes)
    for key in ("place", "home", "stop", "waters", "goal", "top", "furniture", "tall", "building", "plant", "event")
}
PLACE_PREPOSITION = {
    noun: next((name for name in ("in/in", "at/an", "at/auf", "on/auf") if name in entry.classes), "in/in") for noun, entry in NOUNS.items()
}
# where a thing can be relative to another: the preposition and what it goes with
SPOTS = (
    ("on/auf", PLACES["top"]),
    ("under/unter", ("table", "bed", "bench", "tree", "bridge", "desk")),
    ("behind/hinter", PLACES["building"] + PLACES["plant"] + ("door", "sofa", "cupboard")),
    ("next to/neben", PLACES["furniture"] + ("door", "window", "lamp", "tree")),
    ("in front of/vor", PLACES["building"] + ("door", "gate", "window", "mirror")),
)


class Dice:
    """A source of choices."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed).random

    def pick(self, options: Sequence[T]) -> T:
        return options[int(self.random() * len(options))]

    def chance(self, probability: float) -> bool:
        return self.random() < probability


def owner(subject: NP) -> str:
    """The possessive that refers back to the subject, or "" where English and German would disagree (the girl, the dog)."""
    if subject.noun in PRONOUNS:
        return POSSESSIVES.get(subject.noun, "")
    entry = NOUNS[subject.noun]
    if not entry.classes & {"person", "name"} or subject.determiner in {"every", "no", "relative"}:
        return ""
    if subject.plural:
        return "their"
    return {"m": "his", "f": "her", "n": ""}[entry.gender]


class NounSampler:
    """Draws noun phrases. `possessive` is the owner an object may have."""

    def __init__(self, dice: Dice) -> None:
        self.dice = dice

    def adjectives(self, noun: str, probability: float) -> tuple[str, ...]:
        fitting = FITTING[noun]
        if not fitting or not self.dice.chance(probability):
            return ()
        first = self.dice.pick(fitting)
        if FITTING_COLORS[noun] and first not in COLORS and self.dice.chance(0.2):
            return first, self.dice.pick(FITTING_COLORS[noun])  # the color comes last in both languages
        return (first,)

    def described(self, noun: str, possessive: str = "", negated: bool = False, adjective: float = 0.35) -> NP:
        """A noun with a determiner that suits it. Under negation only what "kein" and "nicht" can negate."""
        dice, entry = self.dice, NOUNS[noun]
        if "name" in entry.classes:
            return NP(noun, "")
        adjectives = self.adjectives(noun, adjective)
        if "mass" in entry.classes:
            return NP(noun, "" if dice.chance(0.6) else "the", False, adjectives)
        own = possessive or dice.pick(("my", "your", "our"))
        if "unique" in entry.classes:
            return NP(noun, own if noun in KIN else "the", False, adjectives)
        roll = dice.random()
        if roll < (0.55 if noun in KIN else 0.0 if noun in STRANGERS else 0.2 if possessive else 0.04):
            plural = dice.chance(0.3)
            numeral = dice.pick(NUMERAL_WORDS[:4]) if plural and not negated and dice.chance(0.2) else ""
            return NP(noun, own, plural, adjectives, numeral)
        roll = dice.random()
        if roll < 0.38:
            plural = dice.chance(0.3)
            numeral = dice.pick(NUMERAL_WORDS) if plural and not negated and dice.chance(0.2) else ""
            return NP(noun, "the", plural, adjectives, numeral)
        if roll < 0.62:
            return NP(noun, "a", False, adjectives)
        if roll < 0.74:
            return NP(noun, "this", dice.chance(0.4), adjectives)
        if negated:
            return NP(noun, "", True, adjectives)
        if roll < 0.86:
            return NP(noun, "", True, adjectives, dice.pick(NUMERAL_WORDS))
        if roll < 0.91:
            return NP(noun, "every", False, adjectives)
        return NP(noun, dice.pick(("many", "some", "all", "")), True, adjectives)

    def subject(self, nouns: Sequence[str], pronoun: float = 0.3) -> NP:
        """A subject drawn from the nouns; where they are people, also a pronoun or a name."""
        noun = self.dice.pick(nouns)
        if "person" in NOUNS[noun].classes:
            if self.dice.chance(pronoun):
                return NP(self.dice.pick(SUBJECT_PRONOUNS), "")
            if self.dice.chance(0.1):
                return NP(self.dice.pick(NAMES), "")
            if noun in STRANGERS and "unique" not in NOUNS[noun].classes and self.dice.chance(0.03):
                return NP(noun, "no", False)
        found = self.described(noun, adjective=0.25)
        # bare masses and plurals as subjects sound like definitions; say "the"
        bare = not found.determiner and not found.numeral and noun not in NAMES
        return NP(noun, "the", found.plural, found.adjectives) if bare else found

    def person(self, besides: NP, noun: str = "") -> NP:
        """A known person other than the subject: a pronoun, a name, or somebody with "the" or a possessive."""
        roll = self.dice.random()
        # a full subject after the verb would have to change places with a pronoun if it were indefinite: da sieht ihn ein Mann
        if roll < 0.25 and (besides.noun in PRONOUNS or besides.determiner in DEFINITE):
            near = {"I": ("I", "we"), "we": ("I", "we"), "you": ("you",)}.get(besides.noun, ())
            return NP(self.dice.pick([word for word in SUBJECT_PRONOUNS if word not in near]), "")
        if roll < 0.33:
            return NP(self.dice.pick([name for name in NAMES if name != besides.noun]), "")
        noun = noun or self.dice.pick(PEOPLE)
        if noun == besides.noun:
            noun = "child" if noun != "child" else "man"
        determiner = (owner(besides) or self.dice.pick(("my", "your", "our"))) if noun in KIN else "the"
        plural = "unique" not in NOUNS[noun].classes and self.dice.chance(0.25)
        return NP(noun, determiner, plural, self.adjectives(noun, 0.25))

    def place(self, key: str) -> PP:
        """Somewhere: inside a place, on or behind a thing, or at a place named by the verb."""
        if key == "spot":
            preposition, nouns = self.dice.pick(SPOTS)
            return PP(preposition, self.site(self.dice.pick(nouns)))
        noun = self.dice.pick(PLACES[key]) if key in PLACES else key
        return PP(PLACE_PREPOSITION[noun], self.site(noun))

    def site(self, noun: str) -> NP:
        if "unique" in NOUNS[noun].classes:
            return NP(noun, "the")
        roll = self.dice.random()
        determiner = "the" if roll < 0.65 else "a" if roll < 0.85 else "this"
        if roll > 0.92 and NOUNS[noun].classes & {"chamber", "town", "furniture"}:
            determiner = self.dice.pick(("my", "your", "our"))
        return NP(noun, determiner, False, self.adjectives(noun, 0.2))

    def goal(self, possessive: str) -> PP:
        noun = self.dice.pick(PLACES["goal"])
        if self.dice.chance(0.15):
            noun = self.dice.pick(tuple(sorted(KIN)))
            plural = "unique" not in NOUNS[noun].classes and self.dice.chance(0.2)
            return PP("to/zu", NP(noun, possessive or "my", plural))
        return PP("to/zu", NP(noun, "the", False, self.adjectives(noun, 0.2)))
