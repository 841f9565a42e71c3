"""German declension: determiners, adjectives, nouns and the contractions of prepositions.

The columns are m, f, n and plural; the rows nominative, accusative, dative. (The genitive is not used in this grammar.)
An adjective carries what the determiner leaves unsaid:

    strong   nothing before it says the case        kaltes Wasser, mit kaltem Wasser, zwei alte Männer
    weak     a der-word has said it                 der alte Mann, dem alten Mann, diese alten Männer
    mixed    an ein-word says it only in part       ein alter Mann, einem alten Mann, meine alten Hunde
"""

from functools import cache

from headway.data.grammar.lexicon import ADJECTIVES, DETERMINERS, NOUNS


def paradigm(table: str) -> dict[tuple[str, str], str]:
    """A table of three rows and four columns as a mapping from (case, gender); "-" is the empty ending."""
    cells = (row.split() for row in table.strip().splitlines())
    return {(case, gender): "" if cell == "-" else cell
            for case, row in zip(("nom", "acc", "dat"), cells, strict=True)
            for gender, cell in zip("mfnp", row, strict=True)}  # fmt: skip


ARTICLE = paradigm("""
    der   die   das   die
    den   die   das   die
    dem   der   dem   den
""")
DER_WORD = paradigm("""
    er    e     es    e
    en    e     es    e
    em    er    em    en
""")
EIN_WORD = paradigm("""
    -     e     -     e
    en    e     -     e
    em    er    em    en
""")
RELATIVE = ARTICLE | {("dat", "p"): "denen"}  # mit den Kindern, but: die Kinder, mit denen er spielt

ENDINGS = {
    "strong": DER_WORD,  # the adjective takes over the endings of the missing der-word
    "weak": paradigm("""
        e     e     e     en
        en    e     e     en
        en    en    en    en
    """),
    "mixed": paradigm("""
        er    e     es    en
        en    e     es    en
        en    en    en    en
    """),
}

CONTRACTIONS = {("in", "dem"): "im", ("an", "dem"): "am", ("zu", "dem"): "zum", ("zu", "der"): "zur", ("von", "dem"): "vom"}


@cache
def determiner(lemma: str, case: str, gender: str) -> str:
    """`der`, `diesem`, `keinen`, `unsere` ... for the English determiner."""
    stem, endings = DETERMINERS[lemma][2:4]
    if lemma == "the":
        return ARTICLE[case, gender]
    return stem + (DER_WORD if endings == "der" else EIN_WORD)[case, gender]


@cache
def adjective(lemma: str, determined_by: str, case: str, gender: str) -> str:
    """The adjective with the ending that the determiner before it (an English lemma, or "") asks for."""
    pattern = DETERMINERS[determined_by][4] if determined_by else "strong"
    return ADJECTIVES[lemma].stem + ENDINGS[pattern][case, gender]


@cache
def noun(lemma: str, case: str, plural: bool) -> str:
    """The noun; the dative plural adds -n unless the plural ends in -n or -s: den Männern, den Frauen, den Autos."""
    entry = NOUNS[lemma]
    if not plural:
        return entry.german if case == "nom" else entry.oblique
    ending = "n" if case == "dat" and not entry.german_plural.endswith(("n", "s")) else ""
    return entry.german_plural + ending
