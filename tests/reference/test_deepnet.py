"""A hundred post-norm layers: with DeepNorm they learn, without it they do not. Wang et al. 2022, https://arxiv.org/abs/2203.00555.

The text is a random walk over 16 tokens: guessing costs ln 16 = 2.77 nats, and whoever reads the last token pays ln 2 = 0.69. How the full
size behaves is in docs/findings.md (`benchmarks/deepnet.py`).
"""

import math
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from headway.models import gpt, transformer
from headway.models.gpt import GPT
from headway.models.transformer import Transformer

DEPTH, WORDS, ROWS, LENGTH, STEPS, RATE, WARMUP = 100, 16, 8, 16, 25, 1e-2, 10


def walk(generator: torch.Generator) -> Tensor:
    steps = torch.randint(0, 2, (ROWS, LENGTH + 1), generator=generator) * 2 - 1
    return (steps.cumsum(1) + torch.randint(0, WORDS, (ROWS, 1), generator=generator)) % WORDS


def learned(residual: Any, seed: int) -> float:
    """Nats per token in the last five of a few steps; every batch is new, so they are those of unseen text."""
    torch.manual_seed(seed)
    sizes: dict[str, Any] = {"width": 16, "depth": DEPTH, "heads": 2, "inner": 32, "context": LENGTH}
    model = GPT(gpt.Config(**sizes, position="sinusoidal", score="scaled", activation="relu", residual=residual), WORDS)
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    generator, losses = torch.Generator().manual_seed(seed), []
    for step in range(STEPS):
        optimizer.param_groups[0]["lr"] = RATE * min(1.0, (step + 1) / WARMUP)
        ids = walk(generator)
        loss = nn.functional.cross_entropy(model.logits(model(ids[:, :-1])).flatten(0, 1), ids[:, 1:].flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    return sum(losses[-5:]) / 5


def test_a_hundred_layers_learn_with_deepnorm_and_not_without() -> None:
    """With seeds 1, 2, 3: 1.74, 1.51, 1.46 nats with DeepNorm and 2.79, 2.89, 2.81 without. At this rate alpha and beta are both needed:
    with alpha = 1 it is 2.28, 2.21, 2.27, with beta = 1 it is 2.83, 2.85 (seeds 1 and 2).
    """
    deep, post = learned("deep", 1), learned("post", 1)
    assert deep < 2.0, f"with DeepNorm: {deep:.2f} nats"
    assert post > 2.6, f"plain post-norm: {post:.2f} nats"


def test_the_numbers_reach_a_hundred_layers_of_gpt() -> None:
    """alpha = 200^(1/4) beside every sublayer, and beta = 800^(-1/4) in the spread of what the sublayers add."""
    torch.manual_seed(1)
    model = GPT(gpt.Config(width=16, depth=DEPTH, heads=2, inner=32, residual="deep"), WORDS)
    check(model.blocks, 200**0.25, 800**-0.25)


def test_the_numbers_reach_a_hundred_layers_of_the_transformer() -> None:
    """N = M = 100: 0.81 (N^4 M)^(1/16) and 0.87 / (N^4 M)^(1/16) in the encoder, (3 M)^(1/4) and (12 M)^(-1/4) in the decoder."""
    torch.manual_seed(1)
    model = Transformer(transformer.Config(width=16, depth=DEPTH, heads=2, inner=32, norm="deep"), WORDS, WORDS)
    check(model.encoder, 0.81 * 10**0.625, 0.87 * 10**-0.625)
    check(model.decoder, 300**0.25, 1200**-0.25)


def check(blocks: Any, alpha: float, beta: float) -> None:
    arounds = [m for m in blocks.modules() if hasattr(m, "alpha")]
    assert len(arounds) == DEPTH * (3 if hasattr(blocks[0], "cross") else 2)
    assert [m.alpha for m in arounds] == pytest.approx([alpha] * len(arounds))
    for linear in ("mixer.output", "feedforward.up", "feedforward.down"):
        weights = torch.stack([block.get_submodule(linear).weight for block in blocks])
        glorot = math.sqrt(2 / (weights.shape[1] + weights.shape[2]))
        assert weights.std().item() == pytest.approx(beta * glorot, rel=0.02), linear  # 25,600 numbers and more: an error of 0.5 %
