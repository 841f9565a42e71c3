"""What makes training on few pairs harder: in training alone, and only where it should."""

import pytest
import torch
from torch import Tensor, nn

from headway.core.errors import ConfigError
from headway.data.batches import PairBatch
from headway.data.tokens import Tokenizer, train_tokenizer
from headway.layers.cross_entropy import linear_cross_entropy
from headway.tasks.search import Seen
from headway.tasks.translation import Data, Translation

TOKENS = train_tokenizer("bytes", ["some text"], 300)
LENGTH, WIDTH = 400, 6


class Watched(nn.Module):
    """Remembers what it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.output = nn.Embedding(TOKENS.size, WIDTH)

    def forward(self, source: Tensor, keep: Tensor, target: Tensor) -> Tensor:
        self.source, self.keep, self.target = source, keep, target
        return self.output(target)


def batch() -> PairBatch:
    ids = torch.randint(Tokenizer.specials, TOKENS.size, (3, LENGTH))
    source, target, wanted = ids.clone(), ids.clone(), ids.flip(1)
    source[0, -100:], wanted[0, -100:], target[:, 0] = Tokenizer.pad, Tokenizer.pad, Tokenizer.bos
    source[:, 200] = Tokenizer.eos
    return PairBatch(source, source != Tokenizer.pad, target, wanted)


def task(data: Data) -> Translation:
    return Translation(data, TOKENS, TOKENS, Seen(1, 1, 1, 1.0, ""))


def test_words_are_hidden_and_nothing_else() -> None:
    given, model = batch(), Watched()
    task(Data(token_dropout=0.25)).loss(model, given)  # type: ignore[arg-type]
    for shown, true in ((model.source, given.source), (model.target, given.target)):
        word, hidden = true >= Tokenizer.specials, shown == Tokenizer.mask
        assert torch.equal(shown[~hidden], true[~hidden]) and not (hidden & ~word).any()
        assert float(hidden[word].float().mean()) == pytest.approx(0.25, abs=0.05)
    assert torch.equal(model.keep, given.keep)


def test_judged_by_all_tokens() -> None:
    given, model = batch(), Watched().eval()
    found = task(Data(token_dropout=0.25, smoothing=0.1)).loss(model, given)  # type: ignore[arg-type]
    assert torch.equal(model.source, given.source) and torch.equal(model.target, given.target)
    real = given.wanted != Tokenizer.pad
    plain = linear_cross_entropy(model.output(given.target)[real], model.output.weight, given.wanted[real])[0]
    torch.testing.assert_close(found.total, plain)
    assert found.count == int(real.sum())


@pytest.mark.parametrize(
    "options, message",
    [
        ({"token_dropout": 1.0}, "`--token-dropout` must be in"),
        ({"both_ways": 1.5}, "`--both-ways` must be between 0 and 1"),
        ({"both_ways": 0.5, "joint": False}, "needs one vocabulary of both languages"),
    ],
)
def test_wrong_values_are_refused(options: dict[str, float], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Data(**options)  # type: ignore[arg-type]
