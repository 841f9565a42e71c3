"""The embedded corpus: a synchronous grammar of English and German, contained in the project as readable rules.

    nouns, verbs, modifiers     the lexicon, as tables one can read and correct
    lexicon                     the tables parsed into values; counts of words
    declension, conjugation     the paradigms: which ending stands where, and why
    tree                        one derivation: what is said, in neither language
    english, german             its two linearisations
    sampler                     which derivations are drawn, and how often
    corpus                      splits, seeds and pairs: `corpus.generate(1000, "train", seed=0)`

A derivation is one tree that is read out twice. Every word remembers the address of the tree node it came from, and two
words are aligned when they share an address; so the gold alignment is a consequence of the derivation, not a guess.
"""
