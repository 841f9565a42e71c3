"""How text is cut before a vocabulary is looked up: into bytes written as letters, into words, or into characters.

Byte letters: every byte of UTF-8 is written as one of 256 printable letters (GPT-2, Radford et al. 2019). A vocabulary
that holds all 256 can spell any Unicode text.
"""

import tokenizers
from tokenizers import Regex, decoders, models, normalizers, pre_tokenizers

from headway.data.specials import SPECIALS, UNKNOWN

FROM_DATA = ("words", "characters", "bert")  # kinds whose vocabulary holds the characters of the data instead of bytes
UNSPACED = (
    "characters",
    "bytes",
)  # the other kinds put one space before a text: its first word looks like every other word
CONTINUED = "￭"  # a WordPiece that continues a word; "##" would clash with text that contains "##"


def gpt2_alphabet() -> dict[str, int]:
    """Letter -> byte. Printable Latin-1 stands for itself, the other bytes are counted up from U+0100."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [b for b in range(256) if b not in printable]
    return {chr(b): b for b in printable} | {chr(0x100 + i): b for i, b in enumerate(others)}


BYTE = gpt2_alphabet()
ALPHABET = tuple(sorted(BYTE, key=BYTE.__getitem__))
INSIDE = frozenset(
    letter for letter, byte in BYTE.items() if 0x80 <= byte < 0xC0
)  # second to fourth byte of a character
REPLACEMENT = "�"
REPLACEMENT_LETTERS = "".join(ALPHABET[byte] for byte in REPLACEMENT.encode())

# White space is what `str.split` takes for it; a run of it ends before the one space that belongs to the next word.
SPACE = r"\s\x1c-\x1f"
GAP = rf"[{SPACE}]{{1,64}}(?![^{SPACE}])|[{SPACE}]"
# For pieces of words (bpe, wordpiece, unigram): letters with their combining marks and joiners (so Hindi and decomposed
# accents stay whole), or up to three digits, or a run of other signs (an emoji with its joiners), each with the one
# space before it. Lengths are bounded because WordPiece takes quadratic time in the length of a word.
STRETCH = (
    r" ?[\p{L}\p{M}\x{200c}\x{200d}]{1,64}"
    r"| ?\p{N}{1,3}"
    rf"| ?[^{SPACE}\p{{L}}\p{{M}}\p{{N}}][^{SPACE}\p{{L}}\p{{N}}]{{0,63}}"
    rf"|{GAP}"
)
# For whole words: a word is a maximal run of letters, digits, marks and underscores, with apostrophes and hyphens
# inside it; every other sign stands alone. `GO_LEFT`, `x2`, `don't` and `well-known` are one word each, `(yes)!` is
# four tokens.
IN_WORD = r"[\p{L}\p{M}\p{N}_\x{200c}\x{200d}]"
WORD = rf" ?{IN_WORD}+(?:['’\-‐]{IN_WORD}+)*| ?[^{SPACE}]|{GAP}"
CHARACTER = r"[\s\S]"


def pipeline(kind: str, model: models.Model) -> tokenizers.Tokenizer:
    """`model` behind what cuts the text of a tokenizer of this kind, and before what joins it again."""
    library = tokenizers.Tokenizer(model)
    letters = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    unknown = decoders.Replace(SPECIALS[UNKNOWN], REPLACEMENT if kind in FROM_DATA else REPLACEMENT_LETTERS)
    if kind == "bytes":
        library.pre_tokenizer, library.decoder = letters, decoders.Sequence([unknown, decoders.ByteLevel()])
    elif kind == "characters":
        library.pre_tokenizer = pre_tokenizers.Split(Regex(CHARACTER), "isolated")
        library.decoder = decoders.Sequence([unknown, decoders.Fuse()])
    elif kind == "words":
        library.normalizer = normalizers.Prepend(" ")
        library.pre_tokenizer = pre_tokenizers.Split(Regex(WORD), "isolated")
        library.decoder = decoders.Sequence([unknown, decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    else:
        library.normalizer = normalizers.Prepend(" ")
        library.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(STRETCH), "isolated"), letters])
        continued = decoders.Replace(CONTINUED, "")
        library.decoder = decoders.Sequence([unknown, continued, decoders.ByteLevel(), decoders.Strip(" ", 1, 0)])
    return library
