"""Any text survives any tokenizer, and the same texts give the same tokenizer."""

import json
import math
import subprocess
import sys

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tokenizers import pre_tokenizers

from headway.core.errors import ConfigError, DataError, RunError, UnknownName
from headway.data.alphabet import ALPHABET, BYTE, FROM_DATA
from headway.data.specials import SPECIALS
from headway.data.tokens import KINDS, Tokenizer, train_tokenizer
from headway.data.unigram import alternative, seed, train_unigram

TEXTS = [
    "Die Mannschaft gewinnt das Spiel, und die Fans jubeln.",
    "Die Männer gehen über die Straße in das Fußballstadion.",
    "Eine Mannschaft aus Köln spielt heute gegen die Mannschaft aus Bonn!",
    "Ein <s> steht im Text, auch ## und [UNK]; 42 Tore: 1, 2, 3 ...",
] * 5
TRAINED = {kind: train_tokenizer(kind, TEXTS, 700) for kind in KINDS}
ANY = st.text(st.characters(exclude_categories=["Cs"]))
LOOKALIKE = st.lists(
    st.sampled_from(["<s>", "</s>", "<pad>", "[UNK]", "##", "￭a", *SPECIALS, "Ġ", "▁", " ", "\x1c", "a", "ü", "́"])
).map("".join)
KNOWN = {" ", *"".join(TEXTS)}
every_kind = pytest.mark.parametrize("kind", KINDS)


@every_kind
@settings(max_examples=150, deadline=None)
@given(text=ANY | LOOKALIKE)
@example("Füße  👨‍👩‍👧 ❤️ e\u0301 مرحبا بالعالم क्षि \u200b\u200d日本語")
@example("##! a##b <s> </s> <pad> [UNK] ⟨s⟩ ⟨pad⟩ ￭x <0x41>")
@example(" leading, trailing \n")
@example("x" * 3000 + "é" * 200)
def test_any_text_comes_back_exactly(kind: str, text: str) -> None:
    tokenizer = TRAINED[kind]
    ids = tokenizer.encode([text, "a"])
    lost = tokenizer.unknown_characters(text)
    assert not lost or kind in FROM_DATA
    assert lost == set(text) - KNOWN or kind not in FROM_DATA
    assert tokenizer.decode(ids) == ["".join("�" if c in lost else c for c in text), "a"]
    assert sum(i == tokenizer.unknown for i in ids[0]) == sum(c in lost for c in text)
    # No other special symbol ever comes out of a text.
    assert all(len(SPECIALS) <= i < tokenizer.size or i == tokenizer.unknown for i in ids[0])


@every_kind
@settings(max_examples=150, deadline=None)
@given(text=ANY | LOOKALIKE | st.lists(ANY).map("  ".join))
@example("  Die  Männer\t\n 👨‍👩‍👧\u3000gehen\x1cüber\x85alles. ")
def test_words_are_those_of_split(kind: str, text: str) -> None:
    tokenizer = TRAINED[kind]
    ids, words = tokenizer.words(text)
    assert [ids] == tokenizer.encode([text]) and len(ids) == len(words)
    if kind in FROM_DATA:  # what the vocabulary lacks keeps its place, but not its name
        assert {w for w in words if w >= 0} == set(range(len(text.split())))
        if set(text) - KNOWN:
            return
    for i, word in enumerate(text.split()):
        assert tokenizer.decode([[t for t, w in zip(ids, words, strict=True) if w == i]])[0].strip() == word
    rest = tokenizer.decode([[t for t, w in zip(ids, words, strict=True) if w == -1]])[0]
    assert rest.strip() == "" and set(words) <= {-1, *range(len(text.split()))}


def test_no_token_reaches_over_two_words() -> None:
    for kind in KINDS:
        made = train_tokenizer(kind, ["so!\x1c!so"] * 20, 700)
        ids, words = made.words("so!\x1c!so")
        assert "".join(p for p, w in zip(made.pieces(ids), words, strict=True) if w == 0).removeprefix("▁") == "so!"


def test_words_by_hand() -> None:
    ids, words = TRAINED["words"].words("Die Mannschaft,  gewinnt")
    assert TRAINED["words"].pieces(ids) == ["▁Die", "▁Mannschaft", ",", "▁", "▁gewinnt"]
    assert words == [0, 1, 1, 2, 2]
    assert TRAINED["bytes"].words("ü a ")[1] == [0, 0, 1, 1, -1]


@every_kind
def test_json_round_trip_and_determinism(kind: str) -> None:
    text = TRAINED[kind].to_json()
    again = Tokenizer.from_json(text)
    assert again.to_json() == text and again.kind == kind and again.size == TRAINED[kind].size
    assert again.encode(TEXTS) == TRAINED[kind].encode(TEXTS)
    for _ in range(3):
        assert train_tokenizer(kind, iter(TEXTS), 700).to_json() == text


def test_another_process_trains_the_same() -> None:
    code = """if True:
        import json, sys
        from headway.data.tokens import KINDS, train_tokenizer
        texts = json.load(sys.stdin)
        for kind in KINDS:
            sys.stdout.buffer.write(train_tokenizer(kind, texts, 700).to_json().encode() + b"\\n")
    """
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=json.dumps(TEXTS),
        capture_output=True,
        text=True,
        check=True,
        encoding="utf-8",
    )
    assert done.stdout.splitlines() == [TRAINED[kind].to_json() for kind in KINDS]


@every_kind
def test_sizes(kind: str) -> None:
    least = {"wordpiece": 24 + 512, "characters": 24 + len(KNOWN), "words": 24 + len(KNOWN)}.get(kind, 24 + 256)
    for size in (least, least + 5, least + 20):
        made = train_tokenizer(kind, TEXTS, size)
        assert least <= made.size <= size
        assert made.size == size or kind not in ("bpe", "wordpiece", "words")
        assert made.decode(made.encode(TEXTS)) == TEXTS
    if kind in ("bytes", *FROM_DATA):  # letters come in whatever the size
        assert train_tokenizer(kind, TEXTS, 7).size == least
    else:
        with pytest.raises(
            ConfigError, match=f"`{kind}` tokenizer of {least - 1} tokens is too small.*\nHint: ask for {least}"
        ):
            train_tokenizer(kind, TEXTS, least - 1)


def test_each_kind_is_what_its_name_says() -> None:
    lengths = {kind: sum(map(len, TRAINED[kind].encode(TEXTS))) for kind in KINDS}
    assert lengths["characters"] < lengths["bytes"] == sum(len(t.encode()) for t in TEXTS)
    assert max(lengths["words"], lengths["bpe"]) < lengths["characters"] / 3
    assert lengths["characters"] == sum(map(len, TEXTS))
    assert lengths["unigram"] < lengths["characters"] / 2 and lengths["wordpiece"] < lengths["characters"] / 2
    assert TRAINED["characters"].pieces(TRAINED["characters"].encode(["ü ø"])[0]) == ["ü", "▁", "⟨unk⟩"]
    assert TRAINED["bpe"].pieces(TRAINED["bpe"].encode(["ø"])[0])[-1] == r"\xb8"
    for kind in ("bpe", "wordpiece", "unigram", "words"):
        assert TRAINED[kind].pieces(TRAINED[kind].encode(["die Mannschaft"])[0]) == ["▁die", "▁Mannschaft"]


def test_pieces_join_to_the_text() -> None:
    for kind, tokenizer in TRAINED.items():
        before = "" if kind in ("characters", "bytes") else "▁"
        assert "".join(tokenizer.pieces(tokenizer.encode(["Mannschaften dir"])[0])) == before + "Mannschaften▁dir"
    bytes_ = TRAINED["bytes"]
    assert bytes_.pieces(bytes_.encode(["\t\n\x00é"])[0]) == [r"\t", r"\n", r"\x00", r"\xc3", r"\xa9"]
    assert train_tokenizer("characters", ["a\n\nb"] * 5, 300).size == 24 + 3  # two line breaks are two characters


def test_unigram_learns_whole_characters_and_the_most_useful_pieces() -> None:
    made = TRAINED["unigram"]
    assert not any("\\x" in piece for piece in made.pieces(list(range(280, made.size))))
    assert seed(["aXb"], {"aXb": 2}, frozenset("X"), 99) == {"aX": 2, "aXb": 2}  # nothing begins or ends before the X
    counts = {"abc": 100, "xyz": 3, "ab": 2, "c": 1}
    learned = train_unigram(counts, "abcxyz", frozenset(), 7)
    assert [x for x, _ in learned] == [*"abcxyz", "abc"]
    assert dict(learned)["abc"] == pytest.approx(
        math.log(100 / (100 + 9 + 4 + 1)), abs=1e-6
    )  # 9 of xyz, 4 of a, b, and one c
    assert alternative("abc", {"a": -1, "b": -2, "c": -3, "ab": -2.5, "abc": -0.1}) == -5.5


def test_the_alphabet_is_the_one_of_the_library() -> None:
    assert set(ALPHABET) == set(pre_tokenizers.ByteLevel.alphabet())
    letters = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    for text in ("\x00 \n\x7f\x80\xad\xff", "Füße", "👍"):
        assert bytes(BYTE[x] for x, _ in letters.pre_tokenize_str(text) for x in x) == text.encode()


def test_specials() -> None:
    bpe = TRAINED["bpe"]
    assert (bpe.pad, bpe.bos, bpe.eos, bpe.unknown) == (0, 1, 2, 3)
    assert bpe.decode([[bpe.bos, *bpe.encode(["Die Fans"])[0], bpe.eos, bpe.pad]]) == ["Die Fans"]
    assert bpe.decode([[], [bpe.pad]]) == ["", ""] and bpe.encode([""]) == [[]] and bpe.encode([]) == []
    assert bpe.pieces(list(range(24))) == list(SPECIALS)
    for kind in KINDS:  # a model may still write it
        assert TRAINED[kind].decode([[bpe.unknown, *TRAINED[kind].encode(["a"])[0]]])[0].replace(" ", "") == "�a"
    with pytest.raises(ConfigError, match="token id 99999 is not in the vocabulary"):
        bpe.pieces([99999])


@every_kind
@pytest.mark.parametrize("texts", [[], [""], [" ", "\n"]])
def test_no_text(kind: str, texts: list[str]) -> None:
    with pytest.raises(DataError, match="no text to train"):
        train_tokenizer(kind, texts, 700)


def test_clear_errors() -> None:
    with pytest.raises(UnknownName, match="unknown tokenizer `wordpeice`\nHint: did you mean `wordpiece`"):
        train_tokenizer("wordpeice", TEXTS, 700)
    for wrong in (lambda: TRAINED["bpe"].encode(["a\ud800"]), lambda: train_tokenizer("bpe", ["a\ud800"], 700)):
        with pytest.raises(DataError, match="half a character .a lone surrogate at position 1"):
            wrong()


@every_kind
def test_damaged_json(kind: str) -> None:
    good = TRAINED[kind].to_json()
    for bad in (
        "",
        "[]",
        "{}",
        "null",
        good[:-20],
        good[: len(good) // 2],
        json.dumps({"kind": kind, "tokenizer": {}}),
    ):
        with pytest.raises(RunError, match="stored tokenizer is damaged"):
            Tokenizer.from_json(bad)
    with pytest.raises(RunError, match="unknown kind `bqe`"):
        Tokenizer.from_json(good.replace(f'"kind": "{kind}"', '"kind": "bqe"'))
    with pytest.raises(RunError, match="does not begin with the 24 special symbols: `⟨s⟩` is not in its place"):
        Tokenizer.from_json(good.replace(SPECIALS[1], "<s>"))
    if kind not in FROM_DATA:
        with pytest.raises(RunError, match="ids or letters of its vocabulary are missing"):
            Tokenizer.from_json(good.replace('"~"', '"~~~"'))


@pytest.mark.parametrize("bad", ["null", "[]", '[{"kind": "bpe"}]', "7", '{"kind": "bpe"}'])
def test_json_of_another_shape_is_named_in_plain_words(bad: str) -> None:
    with pytest.raises(RunError) as caught:
        Tokenizer.from_json(bad)
    assert caught.value.message.endswith(f"an object with `kind` and `tokenizer` was expected, not `{bad}`")
    assert "Error" not in caught.value.message and "subscript" not in caught.value.message


def test_the_reserved_symbols_are_24_and_have_names() -> None:
    names = ["pad", "bos", "eos", "unknown", "mask", "cls", "separator", "second_separator"]
    ids = [getattr(Tokenizer, name) for name in names]
    ids += [i for pair in Tokenizer.tags for i in pair]
    ids += [*Tokenizer.placeholders, *Tokenizer.term, *Tokenizer.free]
    assert ids == list(range(24)) and len(set(SPECIALS)) == 24
    assert SPECIALS[Tokenizer.mask] == "⟨mask⟩" and SPECIALS[Tokenizer.tags[1][1]] == "⟨/tag2⟩"
    assert [SPECIALS[i] for i in Tokenizer.term] == ["⟨term⟩", "⟨translation⟩", "⟨/term⟩"]


@every_kind
def test_no_text_spells_a_special_symbol_even_if_it_was_trained_on(kind: str) -> None:
    text = " ".join(SPECIALS) + "".join(SPECIALS)
    made = train_tokenizer(kind, [text] * 50, 4000)
    ids = made.encode([text])[0]
    assert made.decode([ids]) == [text] and min(ids) >= 24


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("GO_LEFT x2 don't", ["▁GO_LEFT", "▁x2", "▁don't"]),
        ("a well-known (yes)!", ["▁a", "▁well-known", "▁(", "yes", ")", "!"]),
        ("'tis the dogs' - end", ["▁'", "tis", "▁the", "▁dogs", "'", "▁-", "▁end"]),
        ("1,234.5 %d {name}", ["▁1", ",", "234", ".", "5", "▁%", "d", "▁{", "name", "}"]),
        ("e\u0301te\u0301  क्षि", ["▁e\u0301te\u0301", "▁", "▁क्षि"]),
    ],
)
def test_what_a_word_is(text: str, pieces: list[str]) -> None:
    made = train_tokenizer("words", [text] * 2, 4000)
    assert made.pieces(made.encode([text])[0]) == pieces and made.decode(made.encode([text])) == [text]


def test_vocabularies_hold_what_the_data_holds() -> None:
    """`abc ` has four characters; the one word that fits beside them is the most frequent, others are spelled."""
    assert train_tokenizer("characters", ["abc ab"], 9).size == 24 + 4
    made = train_tokenizer("words", ["ab ab abc"], 24 + 4 + 1)
    assert made.size == 29 and made.pieces(made.encode(["ab abc"])[0]) == ["▁ab", "▁", "a", "b", "c"]
    bare = train_tokenizer("words", ["abc"], 50)  # no space in the text, but one is put before every text
    assert bare.decode(bare.encode(["cab"])) == ["cab"] and bare.unknown not in bare.encode(["cab"])[0]
    assert made.unknown_characters("abcxyz") == {"x", "y", "z"} and made.decode(made.encode(["ax"])) == ["a�"]
    assert TRAINED["bytes"].unknown_characters("你") == TRAINED["bpe"].unknown_characters("你") == set()


@every_kind
def test_a_gap_in_the_ids_is_damage(kind: str) -> None:
    stored = json.loads(TRAINED[kind].to_json())
    vocabulary = stored["tokenizer"]["model"]["vocab"]
    if isinstance(vocabulary, dict):  # unigram stores a list, which has no gaps
        vocabulary["neu"] = len(vocabulary) + 5
        with pytest.raises(RunError, match="ids or letters of its vocabulary are missing"):
            Tokenizer.from_json(json.dumps(stored))
