"""The loss of a set of boxes: each object is matched with one query, at the least cost in total, and the rest should say "nothing".

    cost of object i and query j      C_ij = -p_j(c_i) + 5 |b_i - b_j|_1 + 2 (1 - GIoU(b_i, b_j))
    match                             s = argmin over all injective s of sum_i C_i,s(i)        (Hungarian algorithm)
    loss of a picture                 sum_i -log p_s(i)(c_i) + 5 |b_i - b_s(i)|_1 + 2 (1 - GIoU(b_i, b_s(i)))
                                      + 1/10 sum of -log p_j(nothing) over the queries j without an object

Carion et al. 2020, https://arxiv.org/abs/2005.12872, section 3.1. A sum over pictures, so the loss of a batch does not depend on how the
pictures were put together; it is divided by the number of objects. Kuhn 1955, https://doi.org/10.1002/nav.3800020109, for the matching.

The weight 1/10 makes the p of the loss too sure of objects: where k queries are equally near to one, each is matched with it in 1 of k
cases, and the least loss is at p = 1 / (1 + (k - 1) / 10), more than one half for up to 10 copies. `probabilities` takes the weight out
again, and gives 1 / k.
"""

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from scipy.optimize import linear_sum_assignment
from torch import Tensor

from headway.core.errors import ConfigError
from headway.data.annotated_batches import Objects
from headway.data.boxes import generalised_iou, to_corners

DISTANCE, OVERLAP = 5.0, 2.0  # weights of the L1 distance and of the generalised IoU
NOTHING = 0.1  # weight of a query without an object: there are many


def costs(logits: Float[Tensor, "b q c"], boxes: Float[Tensor, "b q 4"], objects: Objects) -> Float[Tensor, "m q"]:
    """What it costs to match each object with each query of its picture."""
    there = boxes[objects.owners]
    apart = (objects.boxes[:, None] - there).abs().sum(-1)
    shared = generalised_iou(to_corners(objects.boxes)[:, None], to_corners(there))
    likely = logits.softmax(-1)[objects.owners, :, objects.labels]
    return -likely + DISTANCE * apart + OVERLAP * (1 - shared)


def match(cost: Float[Tensor, "m q"], owners: Int[Tensor, "m"]) -> Int[Tensor, "m"]:
    """For each object its query; objects of one picture have different ones."""
    cuts = np.flatnonzero(np.diff(owners.cpu().numpy())) + 1
    parts = np.split(cost.detach().cpu().double().numpy(), cuts)
    most, queries = max(map(len, parts)), cost.shape[1]
    if most > queries:
        words = f"a picture has {most} objects, and the model has {queries} queries, each of which finds one"
        raise ConfigError(words, f"choose `--model.queries {2 * most}`.")
    return torch.from_numpy(np.concatenate([linear_sum_assignment(part)[1] for part in parts])).to(owners.device)


def probabilities(logits: Float[Tensor, "*b c"]) -> Float[Tensor, "*b c"]:
    """How often each class is right: cross-entropy with weights w is least at p ~ w f, f the frequencies, so f ~ p / w."""
    weight = logits.new_ones(logits.shape[-1])
    weight[-1] = NOTHING
    return (logits - weight.log()).softmax(-1)


def set_loss(logits: Float[Tensor, "b q c"], boxes: Float[Tensor, "b q 4"], objects: Objects) -> Float[Tensor, ""]:
    """The sum over the pictures of a batch; the last class is "nothing"."""
    logits, boxes = logits.float(), boxes.float()
    queries = match(costs(logits.detach(), boxes.detach(), objects), objects.owners)
    wanted = torch.full(logits.shape[:2], logits.shape[-1] - 1, device=logits.device)
    wanted[objects.owners, queries] = objects.labels
    weight = logits.new_ones(logits.shape[-1])
    weight[-1] = NOTHING
    named = F.cross_entropy(logits.flatten(0, 1), wanted.flatten(), weight, reduction="sum")
    found = boxes[objects.owners, queries]
    apart = (found - objects.boxes).abs().sum()
    shared = generalised_iou(to_corners(found), to_corners(objects.boxes))
    return named + DISTANCE * apart + OVERLAP * (1 - shared).sum()
