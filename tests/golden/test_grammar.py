"""The embedded corpus: its paradigms, its alignments, its splits and its size. Whole sentences are in test_grammar_pairs.py."""

import hashlib
from itertools import islice, pairwise

import pytest

from headway.core.errors import DataError, UnknownName
from headway.data.grammar import corpus, declension, german, lexicon, vocabulary
from headway.data.grammar.conjugation import PERSONS, german_present
from headway.data.grammar.corpus import generate, read_out
from headway.data.grammar.sampler import Sampler
from headway.data.grammar.tree import NP, PP, Clause, Sentence, combinations

MANY = 20_000


@pytest.fixture(scope="module")
def train() -> list[tuple[Sentence, corpus.GoldPair]]:
    return list(islice(corpus.derivations("train", 0), MANY))


def bare(text: str) -> list[str]:
    return [word.strip(".,?") for word in text.split()]


# paradigms -----------------------------------------------------------------------------------------------------------

PARADIGM = """
nom | der alte Mann        | ein alter Mann         | guter Wein
acc | den alten Mann       | einen alten Mann       | guten Wein
dat | dem alten Mann       | einem alten Mann       | gutem Wein
nom | die alte Frau        | keine alte Frau        | kalte Milch
acc | die alte Frau        | keine alte Frau        | kalte Milch
dat | der alten Frau       | keiner alten Frau      | kalter Milch
nom | das alte Haus        | mein altes Haus        | kaltes Wasser
acc | das alte Haus        | mein altes Haus        | kaltes Wasser
dat | dem alten Haus       | meinem alten Haus      | kaltem Wasser
nom | diese alten Männer   | unsere alten Männer    | zwei alte Männer
acc | diese alten Männer   | unsere alten Männer    | zwei alte Männer
dat | diesen alten Männern | unseren alten Männern  | zwei alten Männern
"""
PHRASES = [
    (NP("man", "the", False, ("old",)), NP("man", "a", False, ("old",)), NP("wine", "", False, ("good",))),
    (NP("woman", "the", False, ("old",)), NP("woman", "no", False, ("old",)), NP("milk", "", False, ("cold",))),
    (NP("house", "the", False, ("old",)), NP("house", "my", False, ("old",)), NP("water", "", False, ("cold",))),
    (NP("man", "this", True, ("old",)), NP("man", "our", True, ("old",)), NP("man", "", True, ("old",), "two")),
]


@pytest.mark.parametrize("row", range(12))
def test_weak_mixed_and_strong_endings(row: int) -> None:
    case, *expected = (cell.strip() for cell in PARADIGM.strip().splitlines()[row].split("|"))
    assert [" ".join(word for word, _ in german.noun_phrase(np, case, "")) for np in PHRASES[row // 3]] == expected


def test_nouns_with_a_will_of_their_own() -> None:
    forms = {("boy", "acc"): "Jungen", ("student", "dat"): "Studenten", ("neighbor", "acc"): "Nachbarn", ("bear", "nom"): "Bär"}
    assert {key: declension.noun(*key, False) for key in forms} == forms
    plural = {"child": "Kindern", "woman": "Frauen", "car": "Autos", "boss": "Chefs", "window": "Fenstern", "mother": "Müttern"}
    assert {lemma: declension.noun(lemma, "dat", True) for lemma in plural} == plural
    stems = {"expensive": "teures", "dark": "dunkles", "high": "hohes", "sour": "saures", "tired": "müdes"}
    assert {lemma: declension.adjective(lemma, "a", "nom", "n") for lemma in stems} == stems


@pytest.mark.parametrize("forms", [
    "read lese liest liest lesen", "drive fahre fährst fährt fahren", "work arbeite arbeitest arbeitet arbeiten",
    "eat esse isst isst essen", "smile lächle lächelst lächelt lächeln", "feed füttere fütterst füttert füttern",
    "know weiß weißt weiß wissen", "be bin bist ist sind", "like mag magst mag mögen", "invite lade lädst lädt laden",
    "open öffne öffnest öffnet öffnen", "clean putze putzt putzt putzen", "wash wasche wäschst wäscht waschen",
    "dance tanze tanzt tanzt tanzen", "close schließe schließt schließt schließen", "kiss küsse küsst küsst küssen",
])  # fmt: skip
def test_present_tense(forms: str) -> None:
    lemma, *expected = forms.split()
    verb = lexicon.VERBS[lemma]
    assert [german_present(verb.infinitive, verb.he_form, person) for person in PERSONS] == expected


# alignments ----------------------------------------------------------------------------------------------------------

MAN, HIS_BROTHER = NP("man"), NP("brother", "his")
ALIGNED = [
    (Clause(MAN, "call", {"object": HIS_BROTHER}), "0-0 1-1 2-2 2-5 3-3 4-4"),  # calls: ruft ... an
    (Clause(MAN, "call", {"object": HIS_BROTHER}, "perfect"), "0-0 1-1 2-2 3-5 4-3 5-4"),
    (Clause(MAN, "read", {"object": NP("book", "a")}, negated=True), "0-0 1-1 2-2 3-3 4-2 5-3 6-4"),  # not a: kein
    (Clause(MAN, "read", {"object": NP("book")}, negated=True), "0-0 1-1 2-2 3-5 4-2 5-3 6-4"),
    (Clause(MAN, "sleep", {"place": PP("in/in", NP("garden"))}), "0-0 1-1 2-2 3-3 4-3 5-4"),  # in the: im
    (Clause(MAN, "sleep", {"time": "in the morning"}, front="time"), "0-0 1-0 2-1 3-3 4-4 5-2"),
    (Clause(MAN, "read", {"object": NP("book")}, "can", True), "0-0 1-1 2-2 2-5 3-6 4-3 5-4"),  # cannot: kann nicht
    (Clause(MAN, "read", {"object": NP("what", "")}, front="object", question=True), "0-0 1-1 2-2 3-3 4-1"),
    (Clause(MAN, "sleep", {}, "want"), "0-0 1-1 2-2 3-2 4-3"),  # wants to: will
]  # fmt: skip


@pytest.mark.parametrize(("clause", "links"), ALIGNED)
def test_alignments_are_as_drawn_by_hand(clause: Clause, links: str) -> None:
    assert " ".join(f"{i}-{j}" for i, j in read_out(Sentence(clause)).alignment) == links


def test_every_word_is_aligned_and_every_index_in_range(train: list[tuple[Sentence, corpus.GoldPair]]) -> None:
    for _, pair in train:
        assert {i for i, _ in pair.alignment} == set(range(len(pair.source.split()))), pair
        assert {j for _, j in pair.alignment} == set(range(len(pair.target.split()))), pair
        assert list(pair.alignment) == sorted(set(pair.alignment))


# the text ------------------------------------------------------------------------------------------------------------


def test_there_are_at_least_400_words_of_each_language() -> None:
    assert all(number >= 400 for number in vocabulary.count().values()), vocabulary.count()


def test_the_text_uses_the_words_that_are_counted(train: list[tuple[Sentence, corpus.GoldPair]]) -> None:
    for side, forms in (("source", vocabulary.english_forms()), ("target", vocabulary.german_forms())):
        seen = {word for _, pair in train for word in bare(getattr(pair, side))}
        known = forms | {form[0].upper() + form[1:] for form in forms}
        assert seen <= known, sorted(seen - known)
        assert len({word.lower() for word in seen}) >= 800


def test_sentences_are_written_as_sentences(train: list[tuple[Sentence, corpus.GoldPair]]) -> None:
    for _, pair in train:
        for text in (pair.source, pair.target):
            assert text[0].isupper() and text[-1] in ".?" and text.count(".") + text.count("?") == 1, text
            assert " ," not in text and ",," not in text and "  " not in text and len(text.split()) <= 20, text
        assert (pair.source[-1] == "?") == (pair.target[-1] == "?")


def test_articles_agree_with_their_nouns(train: list[tuple[Sentence, corpus.GoldPair]]) -> None:
    """`das` stands before neuters only, `im` before masculines and neuters; read off the text, not off the tree."""
    genders: dict[str, set[str]] = {}
    for noun in lexicon.NOUNS.values():
        for form in {noun.german, noun.oblique} if "name" not in noun.classes else ():
            genders.setdefault(form, set()).add(noun.gender)
    allowed = {"das": {"n"}, "im": {"m", "n"}, "am": {"m", "n"}, "zum": {"m", "n"}, "zur": {"f"}, "eine": {"f"}, "einer": {"f"}}
    checked = 0
    for _, pair in train:
        words = pair.target.split()
        for before, (article, following) in zip(["", *words], pairwise(words), strict=False):
            relative = before.endswith(",")  # das Mädchen, das Milch trinkt
            word = following.strip(".,?")
            if article in allowed and word in genders and not relative:
                assert genders[word] & allowed[article], pair.target
                checked += 1
    assert checked > 2000


def test_one_english_sentence_has_one_german_one() -> None:
    sampler = Sampler(7)
    known: dict[str, str] = {}
    for _ in range(MANY):
        pair = read_out(sampler.sentence())
        assert known.setdefault(pair.source, pair.target) == pair.target


# splits --------------------------------------------------------------------------------------------------------------


def test_pairs_are_distinct(train: list[tuple[Sentence, corpus.GoldPair]]) -> None:
    assert len({pair.source for _, pair in train}) == MANY


def test_pairs_are_a_pure_function_of_the_seed() -> None:
    pairs = generate(1000)
    assert generate(100) == pairs[:100]
    assert generate(100, seed=1) != pairs[:100]
    text = "\n".join(f"{pair.source}\t{pair.target}\t{pair.alignment}" for pair in pairs)
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == "c3113996e72a1f44"


def test_splits_share_no_sentence_on_either_side(train: list[tuple[Sentence, corpus.GoldPair]]) -> None:
    sides = {"train": [pair for _, pair in train]} | {split: generate(1000, split, seed=5) for split in corpus.SPLITS[1:]}
    for side in ("source", "target"):
        texts = {split: {getattr(pair, side) for pair in pairs} for split, pairs in sides.items()}
        for one in corpus.SPLITS:
            for other in corpus.SPLITS:
                assert one == other or not texts[one] & texts[other], (side, one, other)


def test_combinations_are_new_but_their_words_are_not(train: list[tuple[Sentence, corpus.GoldPair]]) -> None:
    seen = {pair for tree, _ in train for pair in combinations(tree)}
    english = {word for _, pair in train for word in bare(pair.source.lower())}
    german = {word for _, pair in train for word in bare(pair.target.lower())}
    lemmas = {lemma for pair in seen for lemma in pair}
    rare = 0
    for tree, pair in islice(corpus.derivations("combinations", 0), 1000):
        new = [words for words in combinations(tree) if words not in seen and corpus.is_held_out(*words)]
        assert new, pair.source
        assert {lemma for words in new for lemma in words} <= lemmas
        assert set(bare(pair.source.lower())) <= english, pair.source
        rare += len(set(bare(pair.target.lower())) - german)
    assert rare <= 10  # a rare ending, such as "modernes", may be missing from so few sentences; its word is not


def test_held_out_pairs_do_not_stand_side_by_side_in_training(train: list[tuple[Sentence, corpus.GoldPair]]) -> None:
    neighbors = {(one, other) for _, pair in train for one, other in pairwise(bare(pair.source))}
    held_out = [(a.lemma, noun) for a in lexicon.ADJECTIVES.values() for noun in a.nouns if corpus.is_held_out(a.lemma, noun)]
    assert len(held_out) > 200
    for adjective, noun in held_out:
        assert (adjective, noun) not in neighbors and (adjective, lexicon.NOUNS[noun].plural) not in neighbors


def test_every_entry_can_be_learned(train: list[tuple[Sentence, corpus.GoldPair]]) -> None:
    """No noun, verb or adjective is lost to the held-out combinations."""
    words = {word for _, pair in train for word in bare(pair.source)}
    assert set(lexicon.ADJECTIVES) <= words
    assert {noun.lemma for noun in lexicon.NOUNS.values()} <= words | {word.lower() for word in words}
    assert all({verb.word, verb.word + "s", verb.participle} & words or verb.word == "be" for verb in lexicon.VERBS.values())


def test_requests_that_cannot_be_met(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnknownName, match="did you mean `train`"):
        generate(1, "trian")
    with pytest.raises(DataError, match="between 0 and 1,000,000"):
        generate(10**9)
    one = Sampler(1).sentence()
    monkeypatch.setattr(Sampler, "sentence", lambda self: one)
    split = next(split for split in corpus.SPLITS if list(islice(corpus.derivations(split, 0), 1)))
    with pytest.raises(DataError, match="has only 1"):
        generate(2, split)
