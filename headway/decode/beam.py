import torch
from jaxtyping import Bool, Int
from torch import Tensor

from headway.decode.arguments import check_search
from headway.decode.hypothesis import Hypothesis
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
    space it is exhaustive search. Returns for each sentence its finished hypotheses, best first (at most k = `beam`);
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
    prefixes: list[list[tuple[int, ...]]] = [[()] * beam for _ in range(count)]
    state = pick(state, torch.arange(count, device=device).repeat_interleave(beam))
    token = torch.full((count * beam,), bos, device=device)
    score = torch.full((count, beam), float("-inf"), device=device)
    score[:, 0] = 0.0  # all hypotheses are the same at first; only one of them counts

    for position in range(max(limits) + 1):
        hidden, state = model.step(token, state, memory)
        log_p = model.logits(hidden).log_softmax(-1).view(len(alive), beam, -1)
        at_limit = [limits[sentence] <= position for sentence in alive]
        goes_on: list[list[bool]] = []  # whether a hypothesis would have continued beyond its limit
        if any(at_limit):  # these sentences have to end now
            goes_on = (log_p.argmax(-1) != eos).tolist()
            ended = torch.full_like(log_p, float("-inf"))
            ended[..., eos] = log_p[..., eos]
            log_p = torch.where(torch.tensor(at_limit, device=device)[:, None, None], ended, log_p)
        vocabulary = log_p.shape[-1]
        total = (score[:, :, None] + log_p).flatten(1)
        best, index = total.topk(min(2 * beam, total.shape[1]), dim=1)
        values, parents, words = best.tolist(), (index // vocabulary).tolist(), (index % vocabulary).tolist()

        rows, tokens, scores, going = [], [], [], []
        for place, sentence in enumerate(alive):
            before = prefixes[sentence]
            after: list[tuple[int, ...]] = []
            chosen: list[tuple[int, int, float]] = []
            for rank, value in enumerate(values[place]):
                if value == float("-inf") or len(chosen) == beam:
                    break
                parent, word = parents[place][rank], words[place][rank]
                if word == eos:
                    if rank < beam:  # an ending that is not among the k best continuations does not compete
                        cut = at_limit[place] and goes_on[place][parent]
                        done[sentence].append(Hypothesis(before[parent], value, cut))
                else:
                    chosen.append((place * beam + parent, word, value))
                    after.append((*before[parent], word))
            done[sentence] = sorted(done[sentence], key=lambda h: -h.score(penalty))[:beam]
            if not chosen or len(done[sentence]) == beam:
                continue
            filler = beam - len(chosen)
            prefixes[sentence] = after + [()] * filler
            going.append(place)
            rows += [row for row, _, _ in chosen] + [place * beam] * filler
            tokens += [word for _, word, _ in chosen] + [eos] * filler
            scores.append([value for _, _, value in chosen] + [float("-inf")] * filler)
        if not going:
            break
        if len(going) < len(alive):
            memory = pick(memory, torch.tensor(going, device=device))
            alive = [alive[place] for place in going]
        state = pick(state, torch.tensor(rows, device=device))
        token, score = torch.tensor(tokens, device=device), torch.tensor(scores, device=device)
    return done
