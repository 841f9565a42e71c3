from importlib.resources import files

import torch

from headway.data.masked_batches import CHOSEN, UNASKED, mask_words
from headway.data.specials import MASK, SPECIALS
from headway.data.tokens import train_tokenizer
from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, equal, headline, mean_is, np, param, published, share_is
from headway.models import vit

SHORT = 7  # words of a short text


class TokenStats(Experiment):
    """Small numbers about tokens: what BERT masks, how many patches a picture has, how long a token is.

        BERT   15 % of the words are chosen: 80 % → [MASK], 10 % → another word, 10 % unchanged     (12 %, 1.5 %, 1.5 % of all)
        ViT    (H/16)(W/16) + 1 = 197 tokens for a picture of 224×224
        text   a token is 4 characters or ¾ of a word, so a word is 16/3 ≈ 5.3 characters, its space included

    Of a short text 15 % is no whole number: it is rounded up or down at random, so that the mean is right.

    Notes: B, C. Source: Devlin et al. 2019, appendix A, https://arxiv.org/abs/1810.04805
    Assumes: the number of chosen words is rounded at random; patches of 16×16 that fill the picture.
    Deviates: lengths of tokens are those of a byte-pair encoder trained on the small English text that scikit-learn brings.
    Also: masked language modelling shares; tokens of a Vision Transformer; characters per token.
    """

    cost = "M"
    words = param(200_000, "words of the text that is masked", least=10_000, most=2_000_000, small=50_000)
    texts = param(4000, "short texts", least=500, most=20_000)
    vocabulary = param(30_000, "tokens that a random word is drawn from", least=100, most=100_000)
    sizes = param((300, 1000, 4000), "vocabularies of the byte-pair encoder", least=300, most=8000, small=(300, 1000))

    def measure(self, rng: Generator) -> Checks:
        ids = rng.integers(len(SPECIALS), self.vocabulary, self.words)
        share = float((mask_words(ids, self.vocabulary, rng)[1] != UNASKED).mean())
        yield at_most("|share that is chosen - 15 %|, at most one word", abs(share - CHOSEN), 1 / self.words)
        marked = np.concatenate([np.arange(len(SPECIALS)), ids[:1000]])
        touched = mask_words(marked, self.vocabulary, rng)[1][: len(SPECIALS)]
        yield equal("special symbols that are chosen", int((touched != UNASKED).sum()), 0)
        with torch.device("meta"):
            model = vit.ViT(vit.Config(patch=16), 3, 224, 224, 10)
            grid = model.patches(torch.empty(1, 3, 224, 224)).shape[1:3]
        places = np.array([grid[0] * grid[1] + len(model.token), model.position.table.shape[0]])
        yield equal("patches and class token of a picture of 224×224, and positions of the model", places, [197, 197])
        pages = sorted((p for p in files("sklearn.datasets.descr").iterdir() if p.name.endswith(".rst")), key=str)
        prose = [w for p in pages for w in p.read_text(encoding="utf-8").split() if w.strip("().,:;").isalpha()]
        text = " ".join(prose)
        found = np.array([len(train_tokenizer("bpe", [text], size).encode([text])[0]) for size in self.sizes])
        self.letters, self.shares = len(text) / found, len(prose) / found
        yield published("characters of a word and its space, English text", len(text) / len(prose), 16 / 3, 1.2)

    def sample(self, rng: Generator) -> Checks:
        ids = rng.integers(len(SPECIALS), self.vocabulary, self.words)
        changed, wanted = mask_words(ids, self.vocabulary, rng)
        chosen, room = wanted != UNASKED, 0.1 / (self.vocabulary - len(SPECIALS))  # a random word may be the same again
        count = int(chosen.sum())
        masked, same = int((chosen & (changed == MASK)).sum()), int((chosen & (changed == ids)).sum())
        self.found = np.array([masked, count - masked - same, same]) / len(ids)
        yield headline(share_is("of the chosen: [MASK]", masked, count, 0.8))
        yield share_is("of the chosen: another word", count - masked - same, count, 0.1 - room)
        yield share_is("of the chosen: unchanged", same, count, 0.1 + room)
        yield equal("words that were not chosen and changed", int((~chosen & (changed != ids)).sum()), 0)
        short = [(mask_words(ids[k : k + SHORT], self.vocabulary, rng)[1] != UNASKED).mean() for k in range(self.texts)]
        yield mean_is(f"share chosen of texts of {SHORT} words", short, CHOSEN)

    def control(self, rng: Generator) -> Checks:
        down = np.full(self.texts, int(CHOSEN * SHORT) / SHORT)
        yield because("the number of words is always rounded down", mean_is(f"share chosen of texts of {SHORT} words", down, CHOSEN))
        with torch.device("meta"):
            rows, columns = vit.ViT(vit.Config(patch=16), 3, 225, 225, 10).grid
        check = equal("tokens of 225×225: ⌊225/16⌋² + 1", rows * columns + 1, 197)
        yield because("225 is no multiple of 16, and the border makes patches of its own", check)

    def plots(self) -> list[Panel]:
        left = Panel("What happens to 15 % of the words", "fate of a chosen word", "share of all words (%)")
        left.bars(("[MASK]", "another word", "unchanged"), 100 * self.found)
        right = Panel("Tokens get longer with the vocabulary", "tokens in the vocabulary", "length of a token", log="x")
        right.series(self.sizes, self.letters, "characters").series(self.sizes, self.shares, "words")
        return [left, right.level(4, "4 characters").level(0.75, "¾ of a word")]
