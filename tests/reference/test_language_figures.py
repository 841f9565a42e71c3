"""Sampling against the definitions, and nats per token against one forward pass per token."""

import math
from itertools import islice

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from torch import Tensor, nn

from headway.core.errors import DataError
from headway.data.tokens import train_tokenizer
from headway.data.windows import WindowBatch
from headway.decode.sample import next_token_probabilities, sample
from headway.evaluate import language
from headway.evaluate.language import predict
from headway.models.gpt import GPT, Config, presets
from headway.tasks.language import Data, Language


def shaken(seed: int, vocabulary: int, context: int, depth: int = 1) -> GPT:
    """A small model that looks back: as it is made, every block is the identity, and the past changes nothing."""
    torch.manual_seed(seed)
    model = (
        GPT(Config(width=8, depth=depth, heads=2, inner=8, context=context), vocabulary).eval().requires_grad_(False)
    )
    for parameter in model.parameters():
        parameter.add_(0.5 * torch.randn(parameter.shape))
    return model


PUBLISHED = (125e6, 350e6, 760e6, 1.3e9, 2.7e9, 6.7e9, 13e9, 175e9)


@given(
    st.integers(0, 1000),
    st.sampled_from([0.3, 1.0, 2.5]),
    st.sampled_from([None, 1, 3, 50]),
    st.sampled_from([0.01, 0.5, 0.9, 1.0]),
)
def test_what_is_drawn_from(seed: int, temperature: float, top_k: int | None, top_p: float) -> None:
    """Kept tokens are the most probable ones, the fewest that reach p, at most k, and keep their proportions."""
    logits = torch.randn(2, 11, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    for row, found in zip(logits, next_token_probabilities(logits, temperature, top_k, top_p), strict=True):
        p = (row / temperature).softmax(-1).tolist()
        order, kept, mass = sorted(range(11), key=lambda v: -p[v]), [], 0.0
        for v in order:
            if kept and (mass >= top_p - 1e-12 or len(kept) == top_k):
                break
            kept.append(v)
            mass += p[v]
        expected = [p[v] / mass if v in kept else 0.0 for v in range(11)]
        assert found.tolist() == pytest.approx(expected, abs=1e-9)


def test_zero_temperature_is_the_maximum() -> None:
    logits = torch.tensor([[0.1, 3.0, 2.9], [5.0, -1.0, 0.0]])
    assert next_token_probabilities(logits, 0.0, None, 1.0).tolist() == [[0, 1, 0], [1, 0, 0]]


def test_draws_follow_the_probabilities() -> None:
    """4,000 first tokens of a model against its own distribution: chi-square; the same seed draws the same."""
    model = shaken(3, 7, 8)
    prompt = torch.tensor([[1, 2]]).repeat(4000, 1)
    first = next(sample(model, prompt, 1.0, None, 1.0, seed=5))
    p = model.logits(model(prompt[:1]))[0, -1].softmax(-1).numpy().astype(np.float64)
    assert stats.chisquare(np.bincount(first, minlength=7), 4000 * p / p.sum()).pvalue > 1e-4
    assert torch.equal(first, next(sample(model, prompt, 1.0, None, 1.0, seed=5)))


@pytest.mark.parametrize(("length", "context"), [(2, 8), (9, 8), (30, 8), (31, 7), (12, 64)])
@pytest.mark.parametrize("rows", [16, language.ROWS])
def test_each_token_is_judged_once_with_at_least_half_a_context(
    doubles: None, monkeypatch: pytest.MonkeyPatch, length: int, context: int, rows: int
) -> None:
    """In several batches of two windows, or in one."""
    monkeypatch.setattr(language, "ROWS", rows)
    model = shaken(4, 11, 64)
    tokens = np.random.default_rng(5).integers(0, 11, length).astype(np.uint16)
    found = predict(model, tokens, 3 * length - 3, context)
    size = min(context, length - 1)
    half = max(1, size // 2)
    starts = sorted({*range(0, length - size, half), length - 1 - size})
    nats, judged = 0.0, 0
    for target in range(1, length):
        start = next(s for s in starts if target <= s + size)  # the first window that holds it
        log_p = model.logits(model(torch.from_numpy(tokens[start:target].astype(np.int64))[None]))[0, -1].log_softmax(
            -1
        )
        nats, judged = nats - float(log_p[int(tokens[target])]), judged + 1
        assert target - start >= min(target, size // 2), "too little before it"
    assert found.tokens == judged == length - 1 and found.nats == pytest.approx(nats / judged, abs=1e-10)
    assert found.bits_per_byte == pytest.approx(nats / math.log(2) / (3 * length - 3))
    assert found.perplexity == pytest.approx(math.exp(nats / judged))


class Mean(nn.Module):
    """Hidden state: the mean embedding of all tokens that it is given, also of those in its memory."""

    def __init__(self, vocabulary: int, memory: int) -> None:
        super().__init__()
        self.output, self.memory = nn.Embedding(vocabulary, 6), memory
        self.given: list[tuple[int, int]] = []

    def forward(self, ids: Tensor, past: Tensor | None = None) -> Tensor:
        before = ids[:, :0] if past is None else past
        self.given.append((before.shape[1], ids.shape[1]))
        x = self.output(torch.cat((before, ids), 1)).cumsum(1)
        return (x / torch.arange(1, x.shape[1] + 1)[:, None])[:, before.shape[1] :]


@pytest.mark.parametrize(
    ("length", "context", "memory"), [(2, 8, 3), (9, 8, 3), (40, 8, 3), (41, 8, 20), (43, 5, 7), (12, 64, 4)]
)
@pytest.mark.parametrize("rows", [16, language.ROWS])
def test_memory_crosses_windows(
    doubles: None, monkeypatch: pytest.MonkeyPatch, length: int, context: int, memory: int, rows: int
) -> None:
    """Windows follow each other, and each sees `memory` tokens before it. One forward pass per token."""
    monkeypatch.setattr(language, "ROWS", rows)
    model, size = Mean(11, memory).requires_grad_(False), min(context, length - 1)
    tokens = np.random.default_rng(5).integers(0, 11, length).astype(np.uint16)
    found, nats = predict(model, tokens, length, context), 0.0
    starts = sorted({*range(0, length - size, size), length - 1 - size})
    for target in range(1, length):
        start = max(0, next(s for s in starts if target <= s + size) - memory)
        x = model.output.weight[tokens[start:target].astype(np.int64)].mean(0)
        nats -= float((model.output.weight @ x).log_softmax(-1)[int(tokens[target])])
    assert found.tokens == length - 1 and found.nats == pytest.approx(nats / (length - 1), abs=1e-10)
    assert all(past <= memory and new == size for past, new in model.given)
    assert len(starts) < 2 or max(past for past, _ in model.given) == min(memory, length - 1 - size)


def uniform(vocabulary: int) -> Mean:
    model = Mean(vocabulary, 0).requires_grad_(False)
    model.output.weight.zero_()
    return model


@pytest.mark.parametrize("context", [3, 8, 64])
def test_bits_per_byte_of_the_uniform_model(context: int) -> None:
    """Ten bytes, of which nine are predicted, at 8 bits each. An end mark between them is one symbol more."""
    text = b"headway up"
    found = predict(uniform(256), np.frombuffer(text, np.uint8), len(text) - 1, context)
    assert found.bits_per_byte == pytest.approx(8.0, abs=1e-5) and (found.tokens, found.bytes) == (9, 9)
    two = np.array([*text[:5], 256, *text[5:]])
    assert predict(uniform(257), two, 9, context).bits_per_byte == pytest.approx(10 * math.log2(257) / 9, abs=1e-5)


def test_a_text_without_anything_to_predict_is_refused() -> None:
    for tokens, size in ((np.array([7]), 0), (np.array([7, 2]), 0), (np.array([], np.int64), 0)):
        with pytest.raises(DataError, match="too short to evaluate a model on"):
            predict(uniform(9), tokens, size, 8)


def test_the_loss_is_torchs_cross_entropy_of_the_next_token() -> None:
    model, ids = shaken(4, 11, 8), torch.randint(11, (3, 8))
    task = Language(Data(context=8, smoothing=0.1), train_tokenizer("bytes", ["text"], 280))
    found = task.loss(model.train(), WindowBatch(ids, np.zeros(0), np.zeros(0)))
    loss, nll, count = found.total, found.plain, found.count
    plain = task.loss(model.eval(), WindowBatch(ids, np.zeros(0), np.zeros(0)))
    assert float(plain.total) == float(plain.plain), "smoothing is for training"
    logits, wanted = model.logits(model(ids[:, :-1])).flatten(0, 1), ids[:, 1:].flatten()
    for found, smoothing in ((loss, 0.1), (nll, 0.0)):
        torch.testing.assert_close(found, F.cross_entropy(logits, wanted, reduction="sum", label_smoothing=smoothing))
    assert count == 21


def test_the_standard_error_is_that_of_resampled_windows() -> None:
    """Against the bootstrap: windows are drawn with replacement; the spread of their nats per token is the error."""
    model = shaken(4, 11, 8)
    tokens = np.random.default_rng(5).integers(0, 11, 801).astype(np.int64)
    sums, counts = [], []
    for start in range(0, 793, 4):
        log_p = model.logits(model(torch.from_numpy(tokens[start : start + 8])[None]))[0].log_softmax(-1).numpy()
        nats = -log_p[np.arange(8), tokens[start + 1 : start + 9]][4 if start else 0 :]
        sums.append(nats.sum())
        counts.append(len(nats))
    drawn = np.random.default_rng(6).integers(0, len(sums), (20_000, len(sums)))
    resampled = np.array(sums)[drawn].sum(1) / np.array(counts)[drawn].sum(1)
    found = predict(model, tokens.astype(np.uint16), 800, 8)
    assert found.tokens == sum(counts) == 800 and found.nats == pytest.approx(sum(sums) / 800, rel=1e-5)
    assert found.error == pytest.approx(resampled.std(), rel=0.03)


def test_gpt3_is_counted_without_being_made() -> None:
    for (name, config), published in zip(presets().items(), PUBLISHED, strict=True):
        with torch.device("meta"):
            count = sum(p.numel() for p in GPT(config, 50257).parameters())
        assert count == pytest.approx(published, rel=0.02), name
        d, n = config.width, config.depth
        assert count == 50257 * d + 2048 * d + n * (12 * d * d + 13 * d) + 2 * d, "what the lecture counts"


def test_generation_goes_on_beyond_the_context() -> None:
    model = shaken(6, 11, 4, depth=2)
    state = model.start(1)
    for token in islice(sample(model, torch.tensor([[3]]), 1.0, None, 1.0, seed=1), 30):
        _, state = model.step(token, state)
    assert state[1][0].k.shape[2] == 4, "the cache holds the context and no more"
