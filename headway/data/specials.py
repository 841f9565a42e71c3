"""The 24 special symbols that every vocabulary begins with.

They are reserved from the first day, so that a run can later be fine-tuned on a task it was not made for (masked words,
pairs of segments, tags, placeholders, term hints) without a new vocabulary. No text can spell them: tokenizers of bytes
write `⟨` as three byte letters, and in the tokenizers of words and characters the signs `⟨` and `⟩` stand alone.
"""

SPECIALS = (
    "⟨pad⟩",
    "⟨s⟩",  # begin
    "⟨/s⟩",  # end
    "⟨unk⟩",  # a character that the vocabulary lacks
    "⟨mask⟩",
    "⟨cls⟩",  # stands for a whole text
    "⟨sep⟩",
    "⟨sep2⟩",  # a second kind of border between segments
    *("⟨tag1⟩", "⟨/tag1⟩", "⟨tag2⟩", "⟨/tag2⟩", "⟨tag3⟩", "⟨/tag3⟩"),  # formatting such as `<b>` and `</b>`
    *("⟨ph1⟩", "⟨ph2⟩", "⟨ph3⟩", "⟨ph4⟩"),  # placeholders such as `{name}`, `%d` and numbers
    *("⟨term⟩", "⟨translation⟩", "⟨/term⟩"),  # a hint: this term, its translation, end of the hint
    *("⟨free1⟩", "⟨free2⟩", "⟨free3⟩"),  # nobody uses these yet
)

PAD, BEGIN, END, UNKNOWN, MASK, CLASS, SEPARATOR, SECOND_SEPARATOR = range(8)
TAGS = ((8, 9), (10, 11), (12, 13))  # (open, close)
PLACEHOLDERS = (14, 15, 16, 17)
TERM, TERM_TRANSLATION, TERM_END = 18, 19, 20
FREE = (21, 22, 23)
