import torch
from jaxtyping import Bool, Int
from torch import Tensor

from headway.decode.hypothesis import Hypothesis
from headway.decode.largest import largest
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
    alive = list(range(count))  # the sentence that each row belongs to
    token, total = torch.full((count,), bos, device=device), torch.zeros(count, device=device)
    tokens: list[list[int]] = [[] for _ in range(count)]
    found: dict[int, Hypothesis] = {}
    for position in range(max(limits) + 1):
        hidden, state = model.step(token, state, memory)
        log_p = model.logits(hidden).log_softmax(-1)
        best, token = (y[:, 0] for y in largest(log_p[:, None], 1))
        words = token.tolist()
        # A sentence ends by itself or at its limit.
        ends = [w == eos or limits[s] <= position for s, w in zip(alive, words, strict=True)]
        if any(ends):
            values = (total + log_p[:, eos]).tolist()
            for row, sentence in enumerate(alive):
                if ends[row]:
                    found[sentence] = Hypothesis(tuple(tokens[sentence]), values[row], words[row] != eos)
        if all(ends):
            break
        total = total + best
        if any(ends):
            going = [row for row, end in enumerate(ends) if not end]
            alive, words = [alive[row] for row in going], [words[row] for row in going]
            token, total, state, memory = pick((token, total, state, memory), torch.tensor(going, device=device))
        for sentence, word in zip(alive, words, strict=True):
            tokens[sentence].append(word)
    return [found[sentence] for sentence in range(count)]
