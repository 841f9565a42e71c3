import torch
from jaxtyping import Bool, Int
from torch import Tensor

from headway.decode.hypothesis import Hypothesis
from headway.decode.state import pick
from headway.models.encoder_decoder import EncoderDecoder


@torch.inference_mode()
def greedy(
    model: EncoderDecoder, source: Int[Tensor, "b s"], keep: Bool[Tensor, "b s"], bos: int, eos: int, limits: list[int]
) -> list[Hypothesis]:
    """Greedy decoding: at every position the most probable token, y_t = argmax_v p(v | y_<t, x).

    One hypothesis per sentence of at most `limits[i]` tokens; finished sentences leave the batch.
    Also called greedy decoding, greedy search.
    """
    memory, state = model.read(source, keep)
    count = len(source)
    alive = torch.arange(count)  # which sentence a row belongs to
    token = torch.full((count,), bos)
    limit, shortest = torch.tensor(limits), min(limits)
    tokens: list[list[int]] = [[] for _ in range(count)]
    total = torch.zeros(count)
    for position in range(max(limits) + 1):
        hidden, state = model.step(token, state, memory)
        logits = model.logits(hidden)
        largest, token = logits.max(-1)
        if position >= shortest:  # at its limit a sentence has to end
            token = torch.where(limit[alive] <= position, eos, token)
        chosen = logits.gather(1, token[:, None])[:, 0] - largest
        best = chosen - logits.sub_(largest[:, None]).exp_().sum(-1).log()  # log softmax, at a third of what torch's takes
        total[alive] += best
        for sentence, word in zip(alive.tolist(), token.tolist(), strict=True):
            if word != eos:
                tokens[sentence].append(word)
        going = (token != eos).nonzero()[:, 0]
        if not len(going):
            break
        if len(going) < len(token):
            alive, token, state, memory = alive[going], token[going], pick(state, going), pick(memory, going)
    return [Hypothesis(tuple(ids), score) for ids, score in zip(tokens, total.tolist(), strict=True)]
