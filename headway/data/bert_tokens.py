"""The vocabulary that was published with a BERT: `tokenizer.json`, or `vocab.txt` and `tokenizer_config.json`.

A text is cleaned (controls go, white space is one space), lower-cased and freed of its accents if the files say so, and
cut at white space and punctuation. Each word becomes the longest piece that the vocabulary holds, then the longest one
of the rest, marked by `##`, and so on; a word that cannot be spelled so becomes the unknown symbol as a whole.
Wu et al. 2016, https://arxiv.org/abs/1609.08144; Devlin et al. 2019, https://arxiv.org/abs/1810.04805.

The ids here begin with our special symbols (`specials.py`), so the published ids are another order of the same pieces:
`rows[i]` is the published id of the id i, and row `rows[i]` of a published table becomes row i.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tokenizers
from tokenizers import decoders, models, normalizers, pre_tokenizers

from headway.core.errors import DataError, RunError
from headway.core.files import read_json
from headway.data.alphabet import REPLACEMENT
from headway.data.specials import CLASS, MASK, PAD, SEPARATOR, SPECIALS, UNKNOWN
from headway.data.tokens import BLANK, Tokenizer
from headway.data.vocabulary import as_dict

KIND = "bert"
MARKS = {PAD: "[PAD]", UNKNOWN: "[UNK]", MASK: BLANK, CLASS: "[CLS]", SEPARATOR: "[SEP]"}  # ours: theirs
CONTINUED = "##"
LONGEST_WORD = 100  # characters; a longer word is unknown
HINT = "expected `tokenizer.json`, or `vocab.txt` with one piece per line, as published with a BERT."


class BertTokenizer(Tokenizer):
    """The tokenizer of a published BERT. Unlike the others it does not give the same text back: case and spaces are lost."""

    kinds = (KIND,)

    @property
    def adds_space(self) -> bool:
        return False

    def unknown_characters(self, text: str) -> set[str]:
        """The characters of `text` that no word can be spelled with."""
        return {c for c in set(text) if self.unknown in self.encode([c])[0]}

    def words(self, text: str) -> tuple[list[int], list[int]]:
        """The ids of `text`, and for each the index of its word in `text.split()`; each word has at least one id."""
        found = [ids or [self.unknown] for ids in self.encode(text.split())]  # of a zero-width space nothing is left
        return [i for ids in found for i in ids], [word for word, ids in enumerate(found) for _ in ids]

    def encode_blanks(self, text: str) -> list[int]:
        first, *others = self.encode(text.split(BLANK))
        return first + [i for ids in others for i in (self.mask, *ids)]


def read_bert_tokens(folder: Path) -> tuple[BertTokenizer, list[int]]:
    """The tokenizer of a Hugging Face folder, and for each of its ids the published one.

    The special symbols that BERT lacks have the published id of its padding.
    """
    tokens, normalizer = _read_json(folder) if (folder / "tokenizer.json").exists() else _read_text(folder)
    place = {token: i for i, token in enumerate(tokens)}
    missing = [name for name in MARKS.values() if name not in place]
    if missing:
        raise DataError(f"the vocabulary of `{folder}` lacks {', '.join(f'`{name}`' for name in missing)}", HINT)
    if len(place) < len(tokens):
        twice = next(token for i, token in enumerate(tokens) if place[token] != i)
        raise DataError(f"the vocabulary of `{folder}` holds `{twice}` twice", HINT)
    pieces = [i for token, i in place.items() if token not in MARKS.values()]
    rows = [place[MARKS.get(special, MARKS[PAD])] for special in range(len(SPECIALS))] + pieces
    vocabulary = {token: i for i, token in enumerate([*SPECIALS, *(tokens[i] for i in pieces)])}
    return _tokenizer(vocabulary, normalizer), rows


def _tokenizer(vocabulary: Mapping[str, int], normalizer: normalizers.Normalizer) -> BertTokenizer:
    model = models.WordPiece(
        dict(vocabulary),
        unk_token=SPECIALS[UNKNOWN],
        max_input_chars_per_word=LONGEST_WORD,
        continuing_subword_prefix=CONTINUED,
    )
    library = tokenizers.Tokenizer(model)
    library.normalizer, library.pre_tokenizer = normalizer, pre_tokenizers.BertPreTokenizer()
    unknown = decoders.Replace(SPECIALS[UNKNOWN], REPLACEMENT)
    library.decoder = decoders.Sequence([unknown, decoders.WordPiece(CONTINUED, cleanup=True)])
    return BertTokenizer.from_json(json.dumps({"kind": KIND, "tokenizer": as_dict(library)}))


def _read_json(folder: Path) -> tuple[list[str], normalizers.Normalizer]:
    """The pieces by their ids, and how a text is cleaned, from `tokenizer.json`."""
    path = folder / "tokenizer.json"
    stored = _read_object(path)
    parts = {"model": "WordPiece", "normalizer": "BertNormalizer", "pre_tokenizer": "BertPreTokenizer"}
    for name, kind in parts.items():
        part = stored.get(name)
        found = part.get("type", kind) if isinstance(part, dict) else part
        if found != kind:
            raise DataError(f"`{name}` of `{path}` is `{found}`: only `{kind}` can be read", HINT)
    ids, prefix = stored["model"].get("vocab"), stored["model"].get("continuing_subword_prefix", CONTINUED)
    if not isinstance(ids, dict) or sorted(map(str, ids.values())) != sorted(map(str, range(len(ids)))):
        raise DataError(f"`{path}` is damaged: ids of its vocabulary are missing", HINT)
    if prefix != CONTINUED:
        raise DataError(f"pieces inside a word begin with `{prefix}` in `{path}`: only `{CONTINUED}` can be read", HINT)
    n = stored["normalizer"]
    return sorted(ids, key=ids.__getitem__), _normalizer(
        n, "lowercase", "handle_chinese_chars", n.get("clean_text", True)
    )


def _read_text(folder: Path) -> tuple[list[str], normalizers.Normalizer]:
    """The same from `vocab.txt`, and `tokenizer_config.json` if there is one."""
    path, settings = folder / "vocab.txt", folder / "tokenizer_config.json"
    try:
        tokens = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    except FileNotFoundError as problem:
        raise DataError(f"there is no vocabulary in `{folder}`", HINT) from problem
    except (OSError, ValueError) as problem:
        raise DataError(f"`{path}` is damaged: {problem}", HINT) from problem
    return tokens, _normalizer(
        _read_object(settings) if settings.exists() else {}, "do_lower_case", "tokenize_chinese_chars"
    )


def _normalizer(found: Mapping[str, Any], lower: str, chinese: str, clean: bool = True) -> normalizers.Normalizer:
    """`strip_accents` that is not said follows `lowercase`, which is on unless said otherwise."""
    return normalizers.BertNormalizer(
        clean_text=clean,
        handle_chinese_chars=found.get(chinese, True),
        strip_accents=found.get("strip_accents"),
        lowercase=found.get(lower, True),
    )


def _read_object(path: Path) -> dict[str, Any]:
    try:
        value = read_json(path)
    except RunError as problem:
        raise DataError(problem.message, HINT) from problem
    if not isinstance(value, dict):
        raise DataError(f"`{path}` is not an object", HINT)
    return value
