"""The words of the grammar, counted: entries of the lexicon, and the forms they take in a sentence.

Run as a module it prints the counts:  python -m headway.data.grammar.vocabulary
"""

from headway.data.grammar import conjugation, declension
from headway.data.grammar.lexicon import (
    ADJECTIVES,
    CONJUNCTIONS,
    DETERMINERS,
    NOUNS,
    NUMERALS,
    PHRASES,
    PREPOSITIONS,
    PRONOUNS,
    VERBS,
)

CASES, GENDERS = ("nom", "acc", "dat"), "mfnp"


def entries() -> dict[str, set[str]]:
    """The distinct lemmas of each language; of a phrase or a preposition its words. Names are left out."""
    nouns = [noun for noun in NOUNS.values() if "name" not in noun.classes]
    english = {noun.lemma for noun in nouns} | set(VERBS) | set(ADJECTIVES) | set(PRONOUNS) | set(NUMERALS) | set(CONJUNCTIONS)
    german = {noun.german for noun in nouns} | {verb.prefix + verb.infinitive for verb in VERBS.values()}
    german |= {adjective.german for adjective in ADJECTIVES.values()} | {row[2] for row in PRONOUNS.values()}
    german |= set(NUMERALS.values()) | {word for word, _ in CONJUNCTIONS.values()}
    for key in PREPOSITIONS:
        english.update(key.split("/")[0].split())
        german.add(key.split("/")[1])
    for row in DETERMINERS.values():
        english.add(row[0] if row[0] != "-" else row[1])
        german.add(row[2])
    for left, right in PHRASES.values():
        english.update(word for word, _ in left)
        german.update(word for word, _ in right)
    return {"english": english, "german": german}


def english_forms() -> set[str]:
    """Every English word as it can stand in a sentence, apart from a capital at its start."""
    forms = {"an", "do", "does", "did", "wants", "want", "to", "not", "cannot", "which", "that", *conjugation.MODALS}
    forms |= set(NUMERALS) | set(CONJUNCTIONS) | set(ADJECTIVES)
    forms |= {word for noun in NOUNS.values() for word in (noun.lemma, noun.plural) if word}
    forms |= {row[column] for row in PRONOUNS.values() for column in (0, 1)}
    forms |= {word for row in DETERMINERS.values() for word in row[:2] if word != "-"}
    forms |= {word for key in PREPOSITIONS for word in key.split("/")[0].split()}
    forms |= {word for left, _ in PHRASES.values() for word, _ in left}
    for verb in VERBS.values():
        forms |= {verb.word, verb.participle, verb.particle, verb.preposition}
        forms |= {conjugation.english_present(verb.word, person) for person in conjugation.PERSONS}
    return (forms | {"was", "were", "had"}) - {""}


def german_forms() -> set[str]:
    """Every German word as it can stand in a sentence, apart from a capital at its start."""
    forms = {"nicht", *NUMERALS.values(), *(word for word, _ in CONJUNCTIONS.values()), *declension.CONTRACTIONS.values()}
    forms |= set(declension.RELATIVE.values()) | set(conjugation.IRREGULAR.values()) | set(conjugation.PAST.values())
    forms |= {row[column] for row in PRONOUNS.values() for column in (2, 3, 4)} | {key.split("/")[1] for key in PREPOSITIONS}
    forms |= {word for _, right in PHRASES.values() for word, _ in right}
    forms |= {declension.determiner(lemma, case, gender) for lemma in DETERMINERS for case in CASES for gender in GENDERS}
    for noun in NOUNS.values():
        numbers = (False, True) if noun.plural else (False,)
        forms |= {declension.noun(noun.lemma, case, plural) for case in CASES for plural in numbers}
    for adjective in ADJECTIVES.values():
        forms |= {adjective.german} | {adjective.stem + ending for ending in ("e", "en", "er", "es", "em")}
    for verb in VERBS.values():
        finite = {conjugation.german_present(verb.infinitive, verb.he_form, person) for person in conjugation.PERSONS}
        forms |= finite | {verb.prefix + form for form in finite}
        forms |= {verb.prefix, verb.prefix + verb.infinitive, verb.german_participle}
    return forms - {""}


def count() -> dict[str, int]:
    """How many entries and how many forms each language has."""
    lemmas = entries()
    return {
        "english entries": len(lemmas["english"]), "english forms": len(english_forms()),
        "german entries": len(lemmas["german"]), "german forms": len(german_forms()),
    }  # fmt: skip


if __name__ == "__main__":
    for name, number in count().items():
        print(f"{number:6,}  {name}")
