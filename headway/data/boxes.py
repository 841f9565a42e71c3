"""Boxes on a picture, in shares of its width and height, and how much two of them overlap.

    corners     left, top, right, bottom
    centres     cx, cy, w, h                    what a model predicts

    IoU(A, B) = |A and B| / |A or B|            GIoU(A, B) = IoU(A, B) - |C without A or B| / |C|,  C the smallest box around both

GIoU also says how far boxes are apart that do not touch: it lies between -1 and 1. Rezatofighi et al. 2019,
https://arxiv.org/abs/1902.09630.
"""

import torch
from jaxtyping import Float
from torch import Tensor

Corners = Float[Tensor, "*b 4"]
Centres = Float[Tensor, "*b 4"]


def to_corners(centres: Centres) -> Corners:
    middle, size = centres[..., :2], centres[..., 2:]
    return torch.cat((middle - size / 2, middle + size / 2), -1)


def to_centres(corners: Corners) -> Centres:
    low, high = corners[..., :2], corners[..., 2:]
    return torch.cat(((low + high) / 2, high - low), -1)


def area(corners: Corners) -> Float[Tensor, "*b"]:
    return (corners[..., 2:] - corners[..., :2]).clamp(min=0).prod(-1)


def overlap(a: Corners, b: Corners) -> tuple[Float[Tensor, "*b"], Float[Tensor, "*b"]]:
    """IoU of each pair, and the area that the two cover together; leading axes broadcast."""
    inner = torch.cat((torch.maximum(a[..., :2], b[..., :2]), torch.minimum(a[..., 2:], b[..., 2:])), -1)
    both = area(inner)
    covered = area(a) + area(b) - both
    return both / covered.clamp(min=torch.finfo(covered.dtype).tiny), covered  # of two empty boxes: 0


def iou(a: Corners, b: Corners) -> Float[Tensor, "*b"]:
    """Intersection over union of each pair. Also called Jaccard index, IoU."""
    return overlap(a, b)[0]


def generalised_iou(a: Corners, b: Corners) -> Float[Tensor, "*b"]:
    """IoU less the share of the smallest box around both that neither covers. Also called GIoU."""
    shared, covered = overlap(a, b)
    around = area(torch.cat((torch.minimum(a[..., :2], b[..., :2]), torch.maximum(a[..., 2:], b[..., 2:])), -1))
    return shared - (around - covered) / around.clamp(min=torch.finfo(around.dtype).tiny)
