"""Three ways to learn from preferences, each an object with a loss. pi is the model, pi_ref a frozen copy of where it began.

    h = log pi(c | x) / pi_ref(c | x) - log pi(r | x) / pi_ref(r | x)        c chosen, r rejected

    dpo      -(1 - e) log sigmoid(beta h) - e log sigmoid(-beta h)           Rafailov et al. 2023, https://arxiv.org/abs/2305.18290;
                                                                             e > 0: conservative, a share e of the choices is wrong
    ipo      (h - 1 / (2 beta))^2                                            Azar et al. 2023, https://arxiv.org/abs/2310.12036
    policy   maximise E_(y ~ pi)[r(x, y)] - beta KL(pi || pi_ref)            Ouyang et al. 2022, https://arxiv.org/abs/2203.02155

The gradient of the last is estimated with k responses to each prompt, each compared with the mean of the others (REINFORCE
with a leave-one-out baseline; Williams 1992, https://doi.org/10.1007/BF00992696; Ahmadian et al. 2024,
https://arxiv.org/abs/2402.14740):

    R_i = r(x, y_i) - beta log pi(y_i | x) / pi_ref(y_i | x)        A_i = R_i - 1/(k-1) sum_(j != i) R_j
    gradient = 1/k sum_i A_i grad log pi(y_i | x)

It is lecture E's L(theta) = -E[sum_i r(s_i)] with one reward, at the end of a response.
"""

from dataclasses import dataclass
from typing import Protocol

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from headway.data.labelled_batches import LabelledBatch
from headway.data.preference_batches import PreferenceBatch
from headway.decode.responses import draw_responses, log_probabilities
from headway.models.decoder import LanguageModel
from headway.tasks.ratings import ratings
from headway.tasks.task import Loss

Numbers = Float[Tensor, "b"]


class PairLoss(Protocol):
    """The loss of pairs, as a function of h."""

    def of(self, h: Numbers) -> Numbers: ...


@dataclass(frozen=True)
class Dpo:
    """Direct preference optimisation: the margin beta h of an implicit rating is learned like that of a reward model."""

    beta: float  # how close the model stays to where it began: the larger, the closer
    smoothing: float = 0.0  # e, the share of choices that are taken to be wrong

    def of(self, h: Numbers) -> Numbers:
        e = self.smoothing
        return -(1 - e) * F.logsigmoid(self.beta * h) - e * F.logsigmoid(-self.beta * h)


@dataclass(frozen=True)
class Ipo:
    """Identity preference optimisation: h is drawn to 1 / (2 beta) and not beyond, also where all raters agree."""

    beta: float  # how close the model stays to where it began: the larger, the closer

    def of(self, h: Numbers) -> Numbers:
        return (h - 1 / (2 * self.beta)) ** 2


def log_ratios(model: LanguageModel, batch: PreferenceBatch) -> Numbers:
    """h of each pair."""
    moved = log_probabilities(model, batch.texts).float() - batch.reference
    chosen, rejected = moved.chunk(2)
    return chosen - rejected


def pair_loss(method: PairLoss, model: LanguageModel, batch: PreferenceBatch) -> Loss:
    total = method.of(log_ratios(model, batch)).sum()
    return Loss(total, total.detach(), len(batch))


def leave_one_out(
    logs: Float[Tensor, "b k"], reference: Float[Tensor, "b k"], rewards: Float[Tensor, "b k"], beta: float
) -> tuple[Float[Tensor, ""], Float[Tensor, "b k"]]:
    """A number whose gradient is minus the estimate above, summed over prompts and responses; and R.

    logs        log pi of k responses to each of b prompts, with gradients
    reference   log pi_ref of the same
    rewards     r of the same
    beta        what a nat of distance from pi_ref costs
    """
    k = logs.shape[1]
    kept = rewards - beta * (logs.detach() - reference)
    advantage = kept - (kept.sum(1, keepdim=True) - kept) / (k - 1)
    return -(advantage * logs).sum(), kept


@dataclass(frozen=True)
class PolicyGradient:
    """Reinforcement from a reward model, held back by the distance to where the model began."""

    beta: float  # what a nat of distance costs
    responses: int  # k, drawn for each prompt, at least 2
    longest: int  # tokens of a response
    end: int  # the end mark
    reference: LanguageModel  # pi_ref
    rater: LanguageModel  # r

    def loss(self, model: LanguageModel, batch: LabelledBatch) -> Loss:
        """Responses are drawn with torch's global random state, which the loop sets for each step: step n is a function of n."""
        ids, keep = (tensor.repeat_interleave(self.responses, 0) for tensor in batch.inputs)
        drawn = draw_responses(model, ids, keep.sum(1), self.longest, self.end)
        with torch.no_grad():
            before, rewards = log_probabilities(self.reference, drawn), ratings(self.rater, drawn)
        logs = log_probabilities(model, drawn)
        by_prompt = (len(batch.labels), self.responses)
        total, kept = leave_one_out(
            logs.float().view(by_prompt), before.float().view(by_prompt), rewards.float().view(by_prompt), self.beta
        )
        return Loss(total, -kept.sum(), len(ids))
