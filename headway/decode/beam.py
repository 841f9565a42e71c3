import math

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from headway.decode.arguments import check_search
from headway.decode.hypothesis import Hypothesis
from headway.decode.largest import largest
from headway.decode.state import pick
from headway.models.encoder_decoder import EncoderDecoder


@torch.inference_mode()
def beam_search(
    model: EncoderDecoder,
    source: Int[Tensor, "b s"],
    keep: Bool[Tensor, "b s"],
    bos: int,
    eos: int,
    limits: list[int],
    beam: int = 5,
    penalty: float = 1.0,
) -> list[list[Hypothesis]]:
    """Beam search: the k best beginnings are continued; finished ones compete by score with length penalty.

    At each position every one of the k hypotheses of a sentence is continued by every token, and of all continuations
    the best 2k are examined: those that end among the first k are finished, and the first k others are continued. A
    sentence is done when k of its hypotheses are finished. With k = 1 this is greedy decoding, with k as large as the
    space it is exhaustive search. Returns for each sentence its finished hypotheses, best first (at most k = `beam`: if
    more end at the last position, the most probable ones);
    one that ends only because `limits[i]` tokens are reached is marked `cut`. `beam` is 1 or more; `penalty` is finite
    and 0 or more. Also called beam decoding, length penalty.
    """
    check_search(beam, penalty)
    count, device = len(source), source.device
    if not count:
        return []
    memory, state = model.read(source, keep)
    alive = list(range(count))  # sentences still searched
    done: list[list[Hypothesis]] = [[] for _ in range(count)]
    token, score = torch.full((count,), bos, device=device), torch.zeros(count, 1, device=device)
    prefix = token.new_empty(count, 1, 0)  # the tokens of each hypothesis; at first a sentence has only the empty one

    for position in range(max(limits) + 1):
        hidden, state = model.step(token, state, memory)
        log_p = model.logits(hidden).log_softmax(-1).unflatten(0, score.shape)
        cut = torch.zeros_like(score, dtype=torch.bool)  # whether the limit ends a hypothesis that would have continued
        if any(limits[sentence] <= position for sentence in alive):  # these sentences have to end now
            at_limit = torch.tensor([limits[sentence] <= position for sentence in alive], device=device)[:, None]
            cut = at_limit & (log_p.argmax(-1) != eos)
            end = log_p[..., eos].clone()
            log_p.masked_fill_(at_limit[..., None], -math.inf)[..., eos] = end
        vocabulary = log_p.shape[-1]
        best, index = largest(log_p, min(2 * beam, score.shape[1] * vocabulary), score)
        parent, word = index // vocabulary, index % vocabulary

        # An ending that is not among the k best continuations does not compete.
        ended = ((word == eos) & (best > -math.inf))[:, :beam].nonzero().tolist()
        if ended:
            values, parents, cuts, prefixes = best.tolist(), parent.tolist(), cut.tolist(), prefix.tolist()
            for place, rank in ended:
                before = parents[place][rank]
                ids = tuple(prefixes[place][before])
                done[alive[place]].append(Hypothesis(ids, values[place][rank], cuts[place][before]))
        for sentence in {alive[place] for place, _ in ended}:
            done[sentence] = sorted(done[sentence], key=lambda h: -h.log_probability)[:beam]

        order = (word == eos).byte().argsort(dim=1, stable=True)[:, :beam]  # the first k others, best first
        best, parent, word = (y.gather(1, order) for y in (best, parent, word))
        best = best.masked_fill_(word == eos, -math.inf)
        rows = parent + torch.arange(len(alive), device=device)[:, None] * score.shape[1]
        continued = zip(alive, best[:, 0].tolist(), strict=True)
        going = [
            place for place, (sentence, top) in enumerate(continued) if len(done[sentence]) < beam and top > -math.inf
        ]
        if not going:
            break
        if len(going) < len(alive):
            alive = [alive[place] for place in going]
            memory, rows, word, best = pick((memory, rows, word, best), torch.tensor(going, device=device))
        state, token, score = pick(state, rows.flatten()), word.flatten(), best
        prefix = torch.cat((prefix.flatten(0, 1)[rows], word[..., None]), -1)
    return [sorted(found, key=lambda h: -h.score(penalty)) for found in done]
