"""The derivation: what is said, before it is said in English or German.

    Sentence                       main clause, perhaps with a second clause behind a conjunction
      Clause                       a verb, its subject, and what fills its roles
        NP, PP, Quality, str       a noun phrase, a prepositional phrase, a predicate adjective, a fixed phrase

A node has an address, the path to it from the root ("a/object/" is the object of the first clause). Both languages name their
words by these addresses, so a word of one and a word of the other belong together exactly when they share one.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

Token = tuple[str, tuple[str, ...]]  # a word and the addresses of the nodes it expresses; punctuation has none
COMMA: Token = (",", ())


@dataclass(frozen=True, slots=True)
class NP:
    """A noun phrase. `noun` is a lemma or a pronoun; the determiner "relative" says the noun only as "who" or "that"."""

    noun: str
    determiner: str = "the"  # "" for names, pronouns, bare plurals and masses
    plural: bool = False
    adjectives: tuple[str, ...] = ()
    numeral: str = ""
    relative: "Clause | None" = None


@dataclass(frozen=True, slots=True)
class PP:
    """A prepositional phrase. `preposition` is a pair such as "at/auf", since "at" alone does not say which German one."""

    preposition: str
    np: NP


@dataclass(frozen=True, slots=True)
class Quality:
    """A predicate adjective: (is) very old."""

    adjective: str
    degree: str = ""


Phrase = NP | PP | Quality | str


@dataclass(frozen=True, slots=True)
class Clause:
    """A verb with its subject and roles.

    roles: recipient, object, complement, beneficiary, manner, companion, place, time, frequency, opener
    tense: present, perfect, past (only "be" and "have"), or a modal: can, must, want, should, may, will
    front: the role that stands first if it is not the subject; in a question the one that is asked for
    """

    subject: NP
    verb: str
    roles: dict[str, Phrase] = field(default_factory=dict)
    tense: str = "present"
    negated: bool = False
    front: str = ""
    question: bool = False


@dataclass(frozen=True, slots=True)
class Sentence:
    """One or two clauses. `ahead` puts the subordinate clause first: "Because it rains, the man reads." """

    main: Clause
    conjunction: str = ""
    second: Clause | None = None
    ahead: bool = False


def noun_phrases(clause: Clause) -> Iterator[tuple[str, NP]]:
    """Every noun phrase of a clause with its role; relative clauses are not entered."""
    yield "subject", clause.subject
    for role, phrase in clause.roles.items():
        if isinstance(phrase, PP):
            yield role, phrase.np
        elif isinstance(phrase, NP):
            yield role, phrase


def clauses(sentence: Sentence) -> Iterator[Clause]:
    """Every clause, relative ones included."""
    waiting = [sentence.main] + ([sentence.second] if sentence.second else [])
    while waiting:
        clause = waiting.pop()
        yield clause
        waiting.extend(np.relative for _, np in noun_phrases(clause) if np.relative)


def combinations(sentence: Sentence) -> Iterator[tuple[str, str]]:
    """The pairs of words that the `combinations` split is about: adjective and noun, verb and object."""
    for clause in clauses(sentence):
        for role, np in noun_phrases(clause):
            for adjective in np.adjectives:
                yield adjective, np.noun
            if role == "object" or (role == "complement" and clause.verb != "be"):
                yield clause.verb, np.noun
        quality = clause.roles.get("complement")
        if isinstance(quality, Quality):
            yield quality.adjective, clause.subject.noun
