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
    count, device = len(source), source.device
    if not count:
        return []
    memory, state = model.read(source, keep)
    alive = torch.arange(count, device=device)  # the sentence that each row belongs to
    token = torch.full((count,), bos, device=device)
    limit, shortest = torch.tensor(limits, device=device), min(limits)
    tokens: list[list[int]] = [[] for _ in range(count)]
    total, cut = torch.zeros(count, device=device), torch.zeros(count, dtype=torch.bool, device=device)
    for position in range(max(limits) + 1):
        hidden, state = model.step(token, state, memory)
        logits = model.logits(hidden)
        largest, token = logits.max(-1)
        if position >= shortest:  # at its limit a sentence has to end
            at_limit = limit[alive] <= position
            cut[alive] = at_limit & (token != eos)
            token = torch.where(at_limit, eos, token)
        chosen = logits.gather(1, token[:, None])[:, 0] - largest
        # log softmax, in a third of the time of torch's
        best = chosen - logits.sub_(largest[:, None]).exp_().sum(-1).log()
        total[alive] += best.to(total.dtype)
        for sentence, word in zip(alive.tolist(), token.tolist(), strict=True):
            if word != eos:
                tokens[sentence].append(word)
        going = (token != eos).nonzero()[:, 0]
        if not len(going):
            break
        if len(going) < len(token):
            alive, token, state, memory = alive[going], token[going], pick(state, going), pick(memory, going)
    found = zip(tokens, total.tolist(), cut.tolist(), strict=True)
    return [Hypothesis(tuple(ids), log_p, at_limit) for ids, log_p, at_limit in found]
