"""The German linearisation of a derivation, by topological fields.

    front field | left bracket | middle field                                | right bracket
    Heute       | ruft         | der Mann seinen Bruder                      | an.
    Das Kind    | hat          | das Buch heute nicht im Garten              | gelesen.
                | Liest        | der Mann das Buch?                          |
                | weil         | der Mann seinen Bruder heute nicht          | anruft.

The finite verb fills the left bracket of a main clause and closes a subordinate one. In the middle field known things come
first: subject, recipient, definite object, time; then "nicht"; then manner, company, place; at last an indefinite object.
"""

from headway.data.grammar import declension
from headway.data.grammar.conjugation import german_finite
from headway.data.grammar.english import person
from headway.data.grammar.lexicon import (
    ADJECTIVES,
    CONJUNCTIONS,
    NOUNS,
    NUMERALS,
    PHRASES,
    PREPOSITIONS,
    PRONOUNS,
    VERBS,
)
from headway.data.grammar.tree import COMMA, NP, PP, Clause, Phrase, Sentence, Token

BEFORE_NICHT = ("recipient", "definite", "frequency", "time")
AFTER_NICHT = ("manner", "companion", "place", "indefinite", "beneficiary", "complement")
CASE_COLUMN = {"nom": 2, "acc": 3, "dat": 4}
INDEFINITE = {"a", "", "many", "some"}


def is_indefinite(np: NP) -> bool:
    return np.determiner in INDEFINITE and np.noun not in PRONOUNS and "name" not in NOUNS[np.noun].classes


def noun_phrase(np: NP, case: str, at: str, negation: str = "") -> list[Token]:
    """A noun phrase; with the address of a negation its determiner is "kein", which then says "not" and "a" in one word."""
    if np.noun in PRONOUNS:
        return [(PRONOUNS[np.noun][CASE_COLUMN[case]], (at + "noun",))]
    gender = "p" if np.plural else NOUNS[np.noun].gender
    if np.determiner == "relative":
        return [(declension.RELATIVE[case, gender], (at + "noun",))]
    determiner = "no" if negation else np.determiner
    words: list[Token] = []
    if determiner:
        named = (at + "determiner", negation) if negation else (at + "determiner",)
        words.append((declension.determiner(determiner, case, gender), named))
    if np.numeral:
        words.append((NUMERALS[np.numeral], (at + "numeral",)))
    for place, lemma in enumerate(np.adjectives):
        words.append((declension.adjective(lemma, determiner, case, gender), (f"{at}adjective{place}",)))
    words.append((declension.noun(np.noun, case, np.plural), (at + "noun",)))
    if np.relative:
        words += [COMMA, *clause(np.relative, at + "relative/", "final"), COMMA]
    return words


def prepositional_phrase(what: PP, at: str) -> list[Token]:
    """Preposition and noun phrase; "in dem" becomes "im" unless a relative clause makes the article a pointing one."""
    preposition = what.preposition.split("/")[1]
    words = noun_phrase(what.np, PREPOSITIONS[what.preposition], at)
    own: Token = (preposition, (at + "preposition",))
    if what.np.determiner == "the" and not what.np.relative:
        article, named = words[0]
        short = declension.CONTRACTIONS.get((preposition, article))
        if short:
            return [(short, (*own[1], *named)), *words[1:]]
    return [own, *words]


def phrase(what: Phrase, case: str, at: str, negation: str = "") -> list[Token]:
    if isinstance(what, NP):
        return noun_phrase(what, case, at, negation)
    if isinstance(what, str):
        return [(word, (at + node,)) for word, node in PHRASES[what][1]]
    if isinstance(what, PP):
        return prepositional_phrase(what, at)
    degree = [(PHRASES[what.degree][1][0][0], (at + "degree",))] if what.degree else []
    return [*degree, (ADJECTIVES[what.adjective].german, (at + "adjective",))]


def brackets(what: Clause, at: str, position: str) -> tuple[Token | None, list[Token]]:
    """The finite verb for the left bracket (None if it stands at the end), and the words of the right bracket."""
    verb = VERBS[what.verb]
    main, helper = (at + "verb",), (at + "auxiliary",)
    finite = german_finite(what.verb, what.tense, person(what.subject))
    if what.tense in {"present", "past"}:
        if position == "final":
            return None, [(verb.prefix + finite, main)]
        return (finite, main), [(verb.prefix, main)] if verb.prefix else []
    rest: Token = (verb.german_participle if what.tense == "perfect" else verb.prefix + verb.infinitive, main)
    return (None, [rest, (finite, helper)]) if position == "final" else ((finite, helper), [rest])


def fields(what: Clause, at: str) -> tuple[dict[str, list[Token]], list[Token]]:
    """The words of every role, and "nicht" where no "kein" has taken its place."""
    kind = VERBS[what.verb].object_kind
    negation = at + "negation" if what.negated else ""
    parts: dict[str, list[Token]] = {}
    for role, filler in what.roles.items():
        kein = ""
        if negation and role in {"object", "complement"} and isinstance(filler, NP) and is_indefinite(filler):
            kein, negation = negation, ""
        case = "dat" if role == "recipient" or kind == "dat" else "nom" if role == "complement" else "acc"
        slot = role
        if role == "object" and what.front != "object" and isinstance(filler, NP):
            slot = "indefinite" if is_indefinite(filler) else "definite"
        parts[slot] = phrase(filler, case, f"{at}{role}/", kein)
    return parts, [("nicht", (negation,))] if negation else []


def clause(what: Clause, at: str, position: str) -> list[Token]:
    """`position` of the finite verb: "second", "first" (after a clause that fills the front field), or "final"."""
    left, right = brackets(what, at, position)
    parts, nicht = fields(what, at)
    subject = noun_phrase(what.subject, "nom", at + "subject/")
    front: list[Token] = []
    if what.front and what.front != "subject":
        front = parts.pop(what.front)
    elif position == "second" and (what.front or not what.question):
        front, subject = subject, []
    words = front
    if left:
        words.append(left)
    words += subject
    for role in BEFORE_NICHT:
        words += parts.get(role, ())
    words += nicht
    for role in AFTER_NICHT:
        words += parts.get(role, ())
    return words + right


def sentence(what: Sentence) -> list[Token]:
    if what.second is None:
        return clause(what.main, "a/", "second")
    word, position = CONJUNCTIONS[what.conjunction]
    conjunction: Token = (word, ("conjunction",))
    second = clause(what.second, "b/", position)
    if what.ahead:
        return [conjunction, *second, COMMA, *clause(what.main, "a/", "first")]
    comma = [] if what.conjunction == "and" else [COMMA]
    return [*clause(what.main, "a/", "second"), *comma, conjunction, *second]
