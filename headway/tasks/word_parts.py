"""Words as pieces: what a model reads of a sentence whose words are tagged, and where each word begins in it."""

from collections.abc import Sequence

from headway.data.tokens import Tokenizer

Part = tuple[list[int], list[int]]  # the ids of `⟨cls⟩ pieces ⟨sep⟩`, and where each of its words begins


def word_parts(tokenizer: Tokenizer, words: Sequence[str], longest: int) -> list[Part]:
    """The sentence as parts of at most `longest` pieces, cut between words; nearly always it is one.

    Of a single word with more pieces the first `longest` are read.
    """
    ids, owners = tokenizer.words(" ".join(words))
    firsts = [owners.index(word) for word in range(len(words))]
    ends = [*firsts[1:], len(ids)]
    cuts = [0]  # words that a part begins with
    for word in range(1, len(words)):
        if ends[word] - firsts[cuts[-1]] > longest:
            cuts.append(word)
    parts = []
    for first, stop in zip(cuts, [*cuts[1:], len(words)], strict=True):
        begin = firsts[first]
        pieces = ids[begin : min(ends[stop - 1], begin + longest)]
        row = [tokenizer.cls, *pieces, tokenizer.separator]
        parts.append((row, [1 + place - begin for place in firsts[first:stop]]))
    return parts
