"""Whole models against something written independently: torch's layers, and equations with loops over positions."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from headway.core.errors import ConfigError
from headway.layers.attention.attend import recorded
from headway.layers.embedding import Embedding
from headway.layers.ngrams import NGrams
from headway.models import attention_seq2seq, encoder, gpt, rnn_seq2seq, transformer

pytestmark = pytest.mark.usefixtures("doubles")
V, W, H, F, L = 13, 22, 2, 17, 2
SOURCE = torch.tensor([[4, 5, 6, 7, 2], [8, 9, 2, 0, 0], [3, 2, 0, 0, 0]])
TARGET = torch.tensor([[1, 5, 6, 4, 3, 8, 7], [1, 10, 11, 12, 3, 3, 4], [1, 4, 4, 5, 6, 7, 8]])
KEEP = SOURCE != 0
CLOSE = {"rtol": 0.0, "atol": 1e-11}


def stirred(model: Any) -> Any:
    """Biases and norms away from 0 and 1, where a missing one would not be noticed."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.2 * torch.randn(parameter.shape))
    return model.eval()


def attention(reference: nn.MultiheadAttention, weight: Tensor, bias: Tensor, output: nn.Linear) -> None:
    reference.in_proj_weight.copy_(weight)
    reference.in_proj_bias.copy_(bias)
    reference.out_proj.load_state_dict(output.state_dict())


def copy(block: Any, layer: Any) -> None:
    """The weights of one of our blocks into one of torch's layers."""
    attention(layer.self_attn, block.mixer.project.weight, block.mixer.project.bias, block.mixer.output)
    norms = [block.around_mixer.norm, block.around_feedforward.norm]
    if hasattr(block, "cross"):
        query, memory = block.cross.query, block.cross.memory
        both = torch.cat((query.weight, memory.weight)), torch.cat((query.bias, memory.bias))
        attention(layer.multihead_attn, *both, block.cross.output)
        norms.insert(1, block.around_cross.norm)
    for number, norm in enumerate(norms, 1):
        getattr(layer, f"norm{number}").load_state_dict(norm.state_dict())
    layer.linear1.load_state_dict(block.feedforward.up.state_dict())
    layer.linear2.load_state_dict(block.feedforward.down.state_dict())


def positions(length: int) -> Tensor:
    rows = [[(math.sin, math.cos)[i % 2](t * 10000 ** (-(i - i % 2) / W)) for i in range(W)] for t in range(length)]
    return torch.tensor(rows)


@pytest.mark.parametrize("norm", ["pre", "post"])
@torch.no_grad()
def test_transformer_is_that_of_torch(norm: str) -> None:
    config = transformer.Config(width=W, depth=L, heads=H, inner=F, dropout=0.0, norm=norm, share=False)  # type: ignore[arg-type]
    ours = stirred(transformer.Transformer(config, V, V))
    kind = {"norm_first": norm == "pre", "batch_first": True, "dropout": 0.0}
    final = [nn.LayerNorm(W), nn.LayerNorm(W)] if norm == "pre" else [None, None]
    for theirs, mine in zip(final, (ours.encoder_norm, ours.decoder_norm), strict=True):
        assert len(list(mine.parameters())) == (2 if norm == "pre" else 0)
        if theirs is not None:
            theirs.load_state_dict(mine.state_dict())
    reader = nn.TransformerEncoder(nn.TransformerEncoderLayer(W, H, F, **kind), L, final[0], enable_nested_tensor=False)
    decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(W, H, F, **kind), L, final[1])
    for blocks, layers in ((ours.encoder, reader.layers), (ours.decoder, decoder.layers)):
        for block, layer in zip(blocks, layers, strict=True):
            copy(block, layer)
    x = math.sqrt(W) * ours.source.weight[SOURCE] + positions(5)
    y = math.sqrt(W) * ours.target.weight[TARGET] + positions(7)
    memory = reader.train()(
        x, src_key_padding_mask=~KEEP
    )  # in eval torch takes a fast path that reports padding as zeros
    future = torch.ones(7, 7, dtype=torch.bool).triu(1)
    expected = decoder.train()(y, memory, tgt_mask=future, memory_key_padding_mask=~KEEP)
    torch.testing.assert_close(ours(SOURCE, KEEP, TARGET), expected, **CLOSE)
    torch.testing.assert_close(ours.logits(expected), expected @ ours.target.weight.T, **CLOSE)


@torch.no_grad()
def test_encoder_is_that_of_torch() -> None:
    ours = stirred(encoder.Encoder(encoder.Config(width=W, depth=L, heads=H, inner=F, dropout=0.0), V, 3))
    layer = nn.TransformerEncoderLayer(W, H, F, 0.0, lambda z: z.relu() ** 2, batch_first=True, norm_first=True)
    theirs = nn.TransformerEncoder(layer, L, nn.LayerNorm(W), enable_nested_tensor=False).train()
    for block, layer in zip(ours.blocks, theirs.layers, strict=True):
        copy(block, layer)
    theirs.norm.load_state_dict(ours.norm.state_dict())
    expected = theirs(math.sqrt(W) * ours.embedding.weight[SOURCE] + positions(5), src_key_padding_mask=~KEEP)
    for row, (states, keep) in enumerate(zip(expected, KEEP, strict=True)):
        torch.testing.assert_close(ours.states(SOURCE, KEEP)[row][keep], states[keep], **CLOSE)
        mean = states[keep].mean(0)
        torch.testing.assert_close(ours(SOURCE, KEEP)[row], mean, **CLOSE)
        torch.testing.assert_close(ours.logits(mean[None])[0], ours.head.weight @ mean + ours.head.bias, **CLOSE)


def first_states(model: Any, ids: list[int]) -> tuple[Tensor, list[tuple[Tensor, Tensor]]]:
    """Encoder states of one sentence and the decoder's first states: LSTM cells one by one, in both directions."""
    x = [math.sqrt(W) * model.encoder.embedding.weight[i] for i in ids]
    first = []
    for both, bridge in zip(model.encoder.layers.layers, model.encoder.bridge, strict=True):
        ends, outputs = [], []
        for cell, line in ((both.ahead, x), (both.back, x[::-1])):
            h = c = torch.zeros(W // 2)
            outputs.append([])
            for v in line:
                h, c = (s[0] for s in cell.cell(cell.input(v)[None], (h[None], c[None])))
                outputs[-1].append(h)
            ends.append((h, c))
        x = [torch.cat(pair) for pair in zip(outputs[0], outputs[1][::-1], strict=True)]
        first.append(tuple(torch.tanh(bridge(torch.cat(pair))) for pair in zip(*ends, strict=True)))
    return torch.stack(x), first


def advance(layers: Any, x: Tensor, states: list[tuple[Tensor, ...]]) -> Tensor:
    """One word read by cells on top of each other, called one by one; `states` is changed."""
    for number, cell in enumerate(layers):
        states[number] = tuple(s[0] for s in cell.cell(cell.input(x)[None], tuple(s[None] for s in states[number])))
        x = states[number][0]
    return x


def embedded(model: Any, ids: list[int]) -> list[Tensor]:
    return [math.sqrt(W) * model.target.weight[i] for i in ids]


@torch.no_grad()
def test_rnn_seq2seq_is_its_equations() -> None:
    model = stirred(rnn_seq2seq.RNNSeq2seq(rnn_seq2seq.Config(W, L, "lstm", True, 0.0, False), V, V))
    found = model(SOURCE, KEEP, TARGET)
    for row in range(3):
        _, first = first_states(model, SOURCE[row][KEEP[row]].tolist())
        expected = [advance(model.decoder.layers, x, first) for x in embedded(model, TARGET[row].tolist())]
        torch.testing.assert_close(found[row], torch.stack(expected), **CLOSE)


@pytest.mark.parametrize("order", ["luong", "feeding", "bahdanau"])
@pytest.mark.parametrize("score", ["dot", "multiplicative", "additive"])
@torch.no_grad()
def test_attention_seq2seq_is_its_equations(score: str, order: str) -> None:
    config = attention_seq2seq.Config(W, L, "lstm", True, score, 0.0, False, order)
    model = stirred(attention_seq2seq.AttentionSeq2seq(config, V, V))
    found, decoder = model(SOURCE, KEEP, TARGET), model.decoder
    s, layers = decoder.attention.attend.score, decoder.layers.layers
    rules = {
        "dot": lambda q, k: q @ k,
        "multiplicative": lambda q, k: q @ s.weight @ k,
        "additive": lambda q, k: s.vector @ torch.tanh(s.key.weight @ k + s.query.weight @ q),
    }
    for row in range(3):
        encoded, states = first_states(model, SOURCE[row][KEEP[row]].tolist())

        def context(q: Tensor, encoded: Tensor = encoded) -> Tensor:
            return torch.stack([rules[score](q, k) for k in encoded]).softmax(0) @ encoded

        out = torch.zeros(W)
        for t, y in enumerate(embedded(model, TARGET[row].tolist())):
            if order == "bahdanau":
                c = context(states[-1][0])
                h = advance(layers, torch.cat((y, c)), states)
                out = torch.tanh(decoder.combine(torch.cat((h, c, y))))
            else:
                h = advance(layers, y if order == "luong" else torch.cat((y, out)), states)
                out = torch.tanh(decoder.combine(torch.cat((h, context(h)))))
            torch.testing.assert_close(found[row, t], out, **CLOSE)


@pytest.mark.parametrize("order", ["luong", "feeding", "bahdanau"])
@torch.no_grad()
def test_attention_seq2seq_records_one_map_of_all_positions(order: str) -> None:
    model = stirred(attention_seq2seq.AttentionSeq2seq(attention_seq2seq.Config(W, L, order=order), V, V))
    with recorded(model) as maps:
        model(SOURCE, KEEP, TARGET)
    (found,) = maps["decoder.attention"]
    assert found.shape == (3, 1, 7, 5)
    torch.testing.assert_close(found.sum(-1), torch.ones(3, 1, 7), **CLOSE)
    assert not found.masked_select(~KEEP[:, None, None, :]).any()


def test_embedding_scales_inputs_and_shares_its_matrix() -> None:
    e = Embedding(1000, 100)
    assert float(e.weight.detach().var()) == pytest.approx(1 / 100, rel=0.02)
    assert torch.equal(e(torch.tensor([[3, 5]])), 10 * e.weight[[3, 5]][None])
    torch.testing.assert_close(e.logits(torch.ones(2, 100)), e.weight.sum(1).expand(2, -1))


@pytest.mark.parametrize("order", [2, 3, 5])
@pytest.mark.parametrize("rows", [1, 7, V**3], ids=["one row", "shared rows", "a row for each pair"])
def test_ngrams_add_a_row_of_each_order(rows: int, order: int) -> None:
    layer = stirred(NGrams(V, rows, W, order))
    tables = layer.table.view(order - 1, rows, W)
    for ids, found in zip(TARGET.tolist(), layer(TARGET, layer.before(TARGET)), strict=True):
        assert not found[0].any()  # nothing stands before the first token
        for t in range(1, len(ids)):
            expected = tables[0, (V * ids[t - 1] + ids[t]) % rows]
            for n in range(3, min(order, t + 1) + 1):
                number = sum(V**i * ids[t - i] for i in range(n))
                expected = expected + tables[n - 2, (2654435761 * number // 128) % rows]
            torch.testing.assert_close(found[t], expected * math.sqrt(W), **CLOSE)


def test_ngrams_of_a_large_vocabulary() -> None:
    """Their numbers do not fit into 64 bits."""
    layer, ids = stirred(NGrams(250_000, 11, W, 5)), torch.randint(250_000, (2, 30))
    found = layer(ids, layer.before(ids))
    assert found.isfinite().all() and len(found.flatten(0, 1).unique(dim=0)) > 50


def test_ngrams_need_to_know_the_tokens_before() -> None:
    with pytest.raises(ConfigError, match="does not know the tokens before its memory"):
        gpt.Config(mixer="transformer_xl", ngrams=5)
