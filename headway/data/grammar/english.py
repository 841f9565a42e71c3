"""The English linearisation of a derivation."""

from headway.data.grammar.conjugation import english_past, english_present
from headway.data.grammar.lexicon import DETERMINERS, NOUNS, PHRASES, PRONOUNS, VERBS
from headway.data.grammar.tree import COMMA, NP, PP, Clause, Phrase, Sentence, Token

# subject, verb, object, then manner before place before time
ORDER = ("recipient", "object", "complement", "beneficiary", "manner", "companion", "place", "time")
SOUNDS_LIKE_A_CONSONANT = ("uni", "use")  # a university, a useful key
SOUNDS_LIKE_A_VOWEL = ("a", "e", "i", "o", "u", "honest")


def person(np: NP) -> str:
    """The verb form a subject asks for; the same in both languages."""
    if np.noun in PRONOUNS:
        return PRONOUNS[np.noun][5]
    return "p" if np.plural else "3s"


def noun_phrase(np: NP, case: str, at: str) -> list[Token]:
    """`case` is "subject", "object", or "preposition", where a relative "that" becomes "which"."""
    if np.noun in PRONOUNS:
        return [(PRONOUNS[np.noun][0 if case == "subject" else 1], (at + "noun",))]
    noun = NOUNS[np.noun]
    if np.determiner == "relative":
        if "person" in noun.classes:
            return [("who" if case == "subject" else "whom", (at + "noun",))]
        return [("which" if case == "preposition" else "that", (at + "noun",))]
    words: list[Token] = []
    if np.determiner:
        words.append((DETERMINERS[np.determiner][1 if np.plural else 0], (at + "determiner",)))
    if np.numeral:
        words.append((np.numeral, (at + "numeral",)))
    for place, adjective in enumerate(np.adjectives):
        words.append((adjective, (f"{at}adjective{place}",)))
    words.append((noun.plural if np.plural else noun.lemma, (at + "noun",)))
    if np.determiner == "a":
        following = words[1][0]
        if following.startswith(SOUNDS_LIKE_A_VOWEL) and not following.startswith(SOUNDS_LIKE_A_CONSONANT):
            words[0] = ("an", words[0][1])
    if np.relative:
        words += clause(np.relative, at + "relative/")
    return words


def phrase(what: Phrase, at: str) -> list[Token]:
    if isinstance(what, NP):
        return noun_phrase(what, "object", at)
    if isinstance(what, str):
        return [(word, (at + node,)) for word, node in PHRASES[what][0]]
    if isinstance(what, PP):
        preposition = what.preposition.split("/")[0]
        return [(word, (at + "preposition",)) for word in preposition.split()] + noun_phrase(what.np, "preposition", at)
    degree = [(what.degree, (at + "degree",))] if what.degree else []
    return [*degree, (what.adjective, (at + "adjective",))]


def verb_group(what: Clause, at: str) -> tuple[list[Token], list[Token]]:
    """The auxiliary, if any, which can change places with the subject and bears "not"; and the rest of the verb.

    "does" stands for nothing but the finite verb, so it shares the address of the verb (or modal) it helps out.
    """
    verb, who, main = VERBS[what.verb], person(what.subject), (at + "verb",)
    helper = (at + "auxiliary",)
    # "Who reads?" asks without "do"; so does a subject relative clause
    plain = not what.negated and not (what.question and what.front != "subject")
    if what.tense == "perfect":
        return [(english_present("have", who), helper)], [(verb.participle, main)]
    if what.tense == "want":
        if plain:
            return [], [(english_present("want", who), helper), ("to", helper), (verb.word, main)]
        return [(english_present("do", who), helper)], [("want", helper), ("to", helper), (verb.word, main)]
    if what.tense not in {"present", "past"}:
        return [(what.tense, helper)], [(verb.word, main)]
    finite = english_past if what.tense == "past" else english_present
    if verb.word == "be":
        return [(finite("be", who), main)], []
    if plain:
        return [], [(finite(verb.word, who), main)]
    return [("did" if what.tense == "past" else english_present("do", who), main)], [(verb.word, main)]


def after_verb(what: Clause, at: str) -> list[Token]:
    """Objects and adjuncts. A particle stands before a full object and behind a pronoun: picks up the man, picks him up."""
    verb = VERBS[what.verb]
    particle: list[Token] = [(verb.particle, (at + "verb",))] if verb.particle else []
    words: list[Token] = [(verb.preposition, (at + "verb",))] if verb.preposition else []
    thing = what.roles.get("object")
    behind = isinstance(thing, NP) and thing.noun in PRONOUNS and what.front != "object"
    if not behind:
        words += particle
    for role in ORDER:
        if role in what.roles and role != what.front:
            words += phrase(what.roles[role], f"{at}{role}/")
            if role == "object" and behind:
                words += particle
    return words


def clause(what: Clause, at: str) -> list[Token]:
    """A clause of any kind: English keeps its order in subordinate clauses, so only questions differ."""
    front = [] if what.front in {"", "subject"} else phrase(what.roles[what.front], f"{at}{what.front}/")
    subject = noun_phrase(what.subject, "subject", at + "subject/")
    auxiliary, verb = verb_group(what, at)
    negation: list[Token] = []
    if what.negated:
        negation = [("not", (at + "negation",))]
        if auxiliary[0][0] == "can":
            auxiliary, negation = [("cannot", (at + "auxiliary", at + "negation"))], []
    often = phrase(what.roles["frequency"], at + "frequency/") if "frequency" in what.roles and what.front != "frequency" else []
    inverted = what.question and what.front != "subject"
    opening = auxiliary + subject if inverted else subject + auxiliary
    return front + opening + negation + often + verb + after_verb(what, at)


def sentence(what: Sentence) -> list[Token]:
    main = clause(what.main, "a/")
    if what.second is None:
        return main
    conjunction: Token = (what.conjunction, ("conjunction",))
    second = clause(what.second, "b/")
    if what.ahead:
        return [conjunction, *second, COMMA, *main]
    comma = [COMMA] if what.conjunction in {"and", "but"} else []
    return [*main, *comma, conjunction, *second]
