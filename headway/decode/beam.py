import torch
from jaxtyping import Bool, Int
from torch import Tensor

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
    width: int = 5,
    penalty: float = 1.0,
) -> list[list[Hypothesis]]:
    """Beam search: the k best beginnings are carried on; finished ones compete by score with length penalty.

    At each position every one of the k hypotheses of a sentence is continued by every token, and the best 2k continuations are looked
    at: those that end among the first k are put aside, the first k others go on. A sentence is done when k of its hypotheses have ended.
    With k = 1 this is greedy decoding, with k as large as the space it is exhaustive search. Returns for each sentence its finished
    hypotheses, best first (at most k = `width`). Also called beam decoding, length penalty.
    """
    memory, state = model.read(source, keep)
    count = len(source)
    alive = list(range(count))  # sentences still searched
    done: list[list[Hypothesis]] = [[] for _ in range(count)]
    prefixes: list[list[tuple[int, ...]]] = [[()] * width for _ in range(count)]
    state = pick(state, torch.arange(count).repeat_interleave(width))
    token = torch.full((count * width,), bos)
    score = torch.full((count, width), float("-inf"))
    score[:, 0] = 0.0  # all hypotheses are the same at first; only one of them counts

    for position in range(max(limits) + 1):
        hidden, state = model.step(token, state, memory)
        log_p = model.logits(hidden).log_softmax(-1).view(len(alive), width, -1)
        at_limit = torch.tensor([limits[s] <= position for s in alive])
        if at_limit.any():  # these sentences have to end now
            ended = torch.full_like(log_p, float("-inf"))
            ended[..., eos] = log_p[..., eos]
            log_p = torch.where(at_limit[:, None, None], ended, log_p)
        vocabulary = log_p.shape[-1]
        total = (score[:, :, None] + log_p).flatten(1)
        best, index = total.topk(min(2 * width, total.shape[1]), dim=1)
        parents, words = (index // vocabulary).tolist(), (index % vocabulary).tolist()

        rows, tokens, scores, going = [], [], [], []
        for place, sentence in enumerate(alive):
            before = prefixes[sentence]
            after: list[tuple[int, ...]] = []
            chosen: list[tuple[int, int, float]] = []
            for rank, value in enumerate(best[place].tolist()):
                if value == float("-inf") or len(chosen) == width:
                    break
                parent, word = parents[place][rank], words[place][rank]
                if word == eos:
                    if rank < width:  # an ending that is not among the k best continuations is not worth a place
                        done[sentence].append(Hypothesis(before[parent], value))
                else:
                    chosen.append((place * width + parent, word, value))
                    after.append((*before[parent], word))
            done[sentence] = sorted(done[sentence], key=lambda h: -h.score(penalty))[:width]
            if not chosen or len(done[sentence]) == width:
                continue
            filler = width - len(chosen)
            prefixes[sentence] = after + [()] * filler
            going.append(place)
            rows += [row for row, _, _ in chosen] + [place * width] * filler
            tokens += [word for _, word, _ in chosen] + [eos] * filler
            scores.append([value for _, _, value in chosen] + [float("-inf")] * filler)
        if not going:
            break
        if len(going) < len(alive):
            memory = pick(memory, torch.tensor(going))
            alive = [alive[place] for place in going]
        state, token, score = pick(state, torch.tensor(rows)), torch.tensor(tokens), torch.tensor(scores)
    return done
