"""The tables, parsed into values. Reading a table checks it: a class or noun that nobody defines is an error."""

from collections.abc import Iterator
from dataclasses import dataclass

from headway.core.errors import DataError, raise_all
from headway.data.grammar import modifiers
from headway.data.grammar.nouns import NOUNS as NOUN_TABLE
from headway.data.grammar.verbs import VERBS as VERB_TABLE

GENDERS = {"der": "m", "die": "f", "das": "n"}
OBJECT_KINDS = {"-", "acc", "dat", "dat+acc"}
ADJUNCTS = {"place", "spot", "waters", "to", "with", "for", "pace", "voice", "that", "whether", "state"}


@dataclass(frozen=True, slots=True)
class Noun:
    lemma: str
    plural: str  # empty for mass nouns and names
    german: str
    german_plural: str
    oblique: str  # accusative and dative singular; differs from `german` in the n-declension only
    gender: str  # m, f, n
    classes: frozenset[str]


@dataclass(frozen=True, slots=True)
class Verb:
    lemma: str
    word: str  # the English verb without its particle
    particle: str  # "up" in "pick up": steps behind a pronoun (picks him up)
    preposition: str  # "for" in "look for": stays with the verb
    participle: str
    prefix: str  # the German separable prefix
    infinitive: str  # German, without the prefix
    he_form: str
    german_participle: str
    auxiliary: str  # haben, sein
    subjects: tuple[str, ...]  # nouns
    object_kind: str  # "-", acc, dat, dat+acc, or the key of a preposition
    objects: tuple[str, ...]  # nouns
    object_optional: bool
    adjuncts: frozenset[str]  # "place!" is obligatory; may contain single places


@dataclass(frozen=True, slots=True)
class Adjective:
    lemma: str
    german: str
    stem: str  # before an ending: teuer, ein teures Auto
    nouns: tuple[str, ...]


Links = tuple[tuple[str, str], ...]  # words and the name of the node they share with the other language


def entries(table: str) -> Iterator[tuple[list[str], str]]:
    """The entries of a table separated by semicolons or lines, each with the classes in the bracket above it."""
    heading: list[str] = []
    for line in table.strip().splitlines():
        if line.startswith("["):
            bracket, line = line[1:].split("]")
            heading = bracket.split()
        for entry in line.split(";"):
            if entry.strip():
                yield heading, entry.strip()


def english_plural(noun: str) -> str:
    if noun.endswith(("s", "x", "z", "ch", "sh")):
        return noun + "es"
    return noun[:-1] + "ies" if noun.endswith("y") and noun[-2] not in "aeiou" else noun + "s"


def english_past(verb: str) -> str:
    """The regular participle: played, cried, danced, shopped."""
    if verb.endswith("e"):
        return verb + "d"
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ied"
    return verb + ("ped" if verb == "shop" else "ed")


def read_nouns(table: str) -> dict[str, Noun]:
    nouns = {}
    for heading, entry in entries(table):
        left, right = entry.split(" = ")
        german, *extra = right.split(" +")
        lemma, _, plural = left.partition("/")
        article, word = german.split()
        singular, german_plural = word.split("/")
        classes = frozenset(heading + extra)
        countable = german_plural and not classes & {"mass", "name"}
        nouns[lemma] = Noun(
            lemma, (plural or english_plural(lemma)) if countable else "", singular.rstrip("*"), german_plural,
            german_plural if singular.endswith("*") else singular.rstrip("*"), GENDERS[article], classes,
        )  # fmt: skip
    return nouns


def members(names: list[str], where: str, problems: list[str]) -> tuple[str, ...]:
    """The nouns that belong to any of the classes, or are named themselves; in the order of the table."""
    known = NOUNS.keys() | {name for noun in NOUNS.values() for name in noun.classes}
    problems.extend(f"`{name}` in the entry of `{where}` is neither a class nor a noun" for name in names if name not in known)
    wanted = set(names)
    return tuple(lemma for lemma, noun in NOUNS.items() if lemma in wanted or noun.classes & wanted)


def read_verbs(table: str, problems: list[str]) -> dict[str, Verb]:
    verbs = {}
    for line in table.strip().splitlines():
        english, german, subject, objects, adjuncts = (column.strip() for column in line.split("|"))
        lemma, _, participle = english.partition("/")
        word, _, extra = lemma.partition(" ")
        prefixed, he_form, *perfect = german.split()
        prefix, _, infinitive = prefixed.rpartition("-")
        kind, *classes = objects.split()
        if "/" in kind:  # for/auf acc: the case belongs to the preposition and stands here for the reader
            case, *classes = classes
            optional = case.endswith("?")
        else:
            optional = kind.endswith("?")
            kind = kind.rstrip("?")
        if kind not in OBJECT_KINDS and kind not in PREPOSITIONS:
            problems.append(f"`{kind}` in the entry of `{lemma}` is no kind of object")
        members([name for name in adjuncts.replace("!", "").split() if name not in ADJUNCTS], lemma, problems)
        verbs[lemma] = Verb(
            lemma, word, "" if extra in {"for", "at", "to"} else extra, extra if extra in {"for", "at", "to"} else "",
            participle or english_past(word), prefix, infinitive, he_form, perfect[-1],
            "sein" if perfect[0] == "ist" else "haben",
            () if subject in {"-", "weather"} else members(subject.split(), lemma, problems),
            kind, members(classes, lemma, problems), optional, frozenset(adjuncts.split()),
        )  # fmt: skip
    return verbs


def read_adjectives(table: str, problems: list[str]) -> dict[str, Adjective]:
    adjectives = {}
    for _, entry in entries(table):
        left, classes = entry.split(" : ")
        lemma, german = left.split(" = ")
        word, _, stem = german.partition("/")
        adjectives[lemma] = Adjective(lemma, word, stem or word, members(classes.split(), lemma, problems))
    return adjectives


def link(english: str, german: str) -> tuple[Links, Links]:
    """Name the node of every word of a fixed phrase: by its digit, else by its place, else one node for the whole phrase."""
    sides = english.split(), german.split()
    if "/" in english:
        left, right = ([(word.split("/")[0], word.split("/")[1]) for word in words] for words in sides)
    else:
        numbered = len(sides[0]) == len(sides[1])
        left, right = ([(word, str(place if numbered else 0)) for place, word in enumerate(words)] for words in sides)
    return tuple(left), tuple(right)


def read_phrases(table: str) -> tuple[dict[str, tuple[Links, Links]], dict[str, tuple[str, ...]]]:
    """Phrases by their English text, and the phrases of each kind ("present time")."""
    phrases: dict[str, tuple[Links, Links]] = {}
    kinds: dict[str, tuple[str, ...]] = {}
    for heading, entry in entries(table):
        english, german = entry.split(" = ")
        linked = link(english, german)
        name = " ".join(word for word, _ in linked[0])
        if phrases.setdefault(name, linked) != linked:
            raise DataError(f"phrase `{name}` has two translations", "one English phrase has one German one; edit modifiers.py")
        kind = " ".join(heading)
        kinds[kind] = (*kinds.get(kind, ()), name)
    return phrases, kinds


def rows(table: str) -> list[list[str]]:
    return [entry.split() for _, entry in entries(table)]


NOUNS = read_nouns(NOUN_TABLE)
PREPOSITIONS = {entry.rsplit(" ", 1)[0]: entry.rsplit(" ", 1)[1] for _, entry in entries(modifiers.PREPOSITIONS)}
_problems: list[str] = []
VERBS = read_verbs(VERB_TABLE, _problems)
ADJECTIVES = read_adjectives(modifiers.ADJECTIVES, _problems)
raise_all(_problems, DataError, "the tables of the grammar contradict each other", "edit nouns.py, verbs.py or modifiers.py")
PHRASES, PHRASE_KINDS = read_phrases(modifiers.PHRASES)
PRONOUNS = {row[0]: row for row in rows(modifiers.PRONOUNS)}
DETERMINERS = {(row[0] if row[0] != "-" else row[1]): row for row in rows(modifiers.DETERMINERS)}
NUMERALS = dict(rows(modifiers.NUMERALS))
CONJUNCTIONS = {english: (german, position) for english, german, position in rows(modifiers.CONJUNCTIONS)}
