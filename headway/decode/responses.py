"""Responses to prompts: drawn from a language model, and how probable it finds them.

    y_t ~ pi(. | x, y_<t) until the end mark        log pi(y | x) = sum_t log pi(y_t | x, y_<t), the end mark included

Rows have different lengths and are padded on the right: a causal model sees nothing of it.
"""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from headway.data.labelled_batches import LabelledBatch
from headway.models.decoder import LanguageModel


def in_response(batch: LabelledBatch) -> Bool[Tensor, "b s"]:
    """Where the next token belongs to a response: for all tokens but the last."""
    ids, keep = batch.inputs
    return keep[:, 1:] & (torch.arange(1, ids.shape[1], device=ids.device) >= batch.labels[:, None])


def log_probabilities(model: LanguageModel, batch: LabelledBatch) -> Float[Tensor, "b"]:
    """log pi(y | x) of each row.

    batch   prompts with responses; the label of a row is where its response begins, at least 1
    """
    ids, counted = batch.inputs[0], in_response(batch)
    hidden = model(ids[:, :-1])[counted]
    found = model.logits(hidden).log_softmax(-1).gather(-1, ids[:, 1:][counted][:, None])[:, 0]
    return found.new_zeros(counted.shape).masked_scatter(counted, found).sum(1)


@torch.no_grad()
def draw_responses(
    model: LanguageModel, prompts: Int[Tensor, "b t"], lengths: Int[Tensor, "b"], longest: int, end: int
) -> LabelledBatch:
    """Prompts, each followed by one response of at most `longest` tokens; the label of a row is where its response begins.

    Tokens are drawn from the model's own distribution (temperature 1), with torch's global random state. All rows are
    read in step: while one still reads its prompt, another already writes.

    prompts   padded on the right
    lengths   tokens of each prompt, at least 1
    longest   tokens of a response, the end mark included
    end       the end mark; what follows it is padding, which is filled with it
    """
    b, width = prompts.shape
    rows = torch.arange(b, device=prompts.device)
    ids = prompts.new_full((b, width + longest), end)
    ids[:, :width] = torch.where(torch.arange(width, device=ids.device) < lengths[:, None], prompts, end)
    stops = lengths + longest  # one after the last real token
    state = model.start(b)
    for t in range(width + longest - 1):
        hidden, state = model.step(ids[:, t], state)
        drawn = torch.multinomial(model.logits(hidden).float().softmax(-1), 1)[:, 0]
        writing = (t + 1 >= lengths) & (t + 1 < stops)
        ids[:, t + 1] = torch.where(writing, drawn, ids[:, t + 1])
        stops = torch.where(writing & (drawn == end), rows.new_full((), t + 2), stops)
        if bool((stops <= t + 2).all()):
            break
    ids = ids[:, : int(stops.max())]
    return LabelledBatch((ids, torch.arange(ids.shape[1], device=ids.device) < stops[:, None]), lengths)
