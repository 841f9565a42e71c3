"""The loss of pairs of sentences: cross-entropy of the next target token.

In training, tokens are hidden with some probability, in the source and in what the decoder has written, so that the model relies on no
single one: the dropout of words of Gal & Ghahramani 2016, https://arxiv.org/abs/1512.05287, and of UniDrop, Wu et al. 2021,
https://arxiv.org/abs/2104.04946.
"""

import torch
from jaxtyping import Int
from torch import Tensor

from headway.data.batches import PairBatch
from headway.data.tokens import Tokenizer
from headway.layers.cross_entropy import output_cross_entropy
from headway.models.encoder_decoder import EncoderDecoder
from headway.tasks.task import Loss


def pair_loss(model: EncoderDecoder, batch: PairBatch, smoothing: float, token_dropout: float) -> Loss:
    """The sum over target tokens; padding costs nothing here, as its positions are left out before the output layer."""
    if not model.training:
        smoothing = token_dropout = 0.0
    source, target, wanted = batch.source, batch.target, batch.wanted.flatten()
    if token_dropout:
        source, target = hide(source, token_dropout), hide(target, token_dropout)
    hidden = model(source, batch.keep, target).flatten(0, 1)
    real = wanted != Tokenizer.pad
    if not bool(real.all()):
        rows = real.nonzero()[:, 0]
        hidden, wanted = hidden.index_select(0, rows), wanted[rows]
    total, plain = output_cross_entropy(model.output, hidden, wanted, smoothing)
    return Loss(total, plain, len(wanted))


def hide(ids: Int[Tensor, "b t"], probability: float) -> Int[Tensor, "b t"]:
    """The same sentences, with some tokens replaced by the mask: words only, neither ends nor padding."""
    hidden = (torch.rand(ids.shape, device=ids.device) < probability) & (ids >= Tokenizer.specials)
    return ids.masked_fill(hidden, Tokenizer.mask)
