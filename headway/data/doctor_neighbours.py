"""Labels of pictures that their neighbours contradict: candidates for a person to look at, not errors for certain.

    z = W (x - mean)        W the first 32 principal components of the pixels (in blocks, at most 16 along each side)
    picture i is doubtful if at least 8 of the 10 pictures nearest to z_i carry one other label than i does

Neighbours on pixels know digits and clothes well and photographs badly, so they are asked only where they can answer: both
labels must belong to classes of which they name at least two thirds of the pictures. Nearest neighbours against wrong labels:
Wilson 1972, "Asymptotic properties of nearest neighbor rules using edited data", https://doi.org/10.1109/TSMC.1972.4309137.
"""

import numpy as np
import torch
from jaxtyping import Float, Int, UInt8
from torch import Tensor

NEIGHBOURS, NEARLY_ALL = 10, 8
TRUSTED = 2 / 3  # of the pictures of a class: neighbours that name fewer of them are not asked about it
REFERENCES = 10_000  # pictures that neighbours are looked for among; every picture is examined
SIDE, COMPONENTS = 16, 32
CHUNK = 1024  # pictures that are compared at once


def doubtful_labels(images: UInt8[np.ndarray, "n y x c"], labels: Int[np.ndarray, "n"]) -> dict[int, int]:
    """The pictures whose label their neighbours contradict, by number, each with the label of these neighbours."""
    if len(images) <= NEIGHBOURS:
        return {}
    references = np.sort(np.random.default_rng(0).permutation(len(images))[:REFERENCES])
    points, known = principal_components(images, references), torch.from_numpy(labels).long()
    votes = count_labels(points, known, torch.from_numpy(references))
    most, winner = votes.max(1)
    classes = votes.shape[1]
    named = torch.bincount(known[winner == known], minlength=classes)
    trusted = named >= TRUSTED * torch.bincount(known, minlength=classes)
    doubtful = (winner != known) & (most >= NEARLY_ALL) & trusted[known] & trusted[winner]
    return {i: int(winner[i]) for i in doubtful.nonzero().flatten().tolist()}


def principal_components(
    images: UInt8[np.ndarray, "n y x c"], references: Int[np.ndarray, "r"]
) -> Float[Tensor, "n e"]:
    """The pictures in the coordinates along which the references vary most."""
    sample = blocks(images[references])
    mean = sample.mean(0)
    sample -= mean
    _, directions = torch.linalg.eigh(sample.T @ sample)  # by variance, the largest last
    chunks = (images[start : start + CHUNK] for start in range(0, len(images), CHUNK))
    return torch.cat([(blocks(chunk) - mean) @ directions[:, -COMPONENTS:] for chunk in chunks])


def blocks(images: UInt8[np.ndarray, "n y x c"]) -> Float[Tensor, "n p"]:
    """The sum of the pixels in each block, from 0 to 1 per pixel; small pictures as they are."""
    step = -(-max(images.shape[1:3]) // SIDE)
    for axis in (1, 2):
        images = np.add.reduceat(images, np.arange(0, images.shape[axis], step), axis, dtype=np.float32)
    return torch.from_numpy(images.reshape(len(images), -1)) / 255


def count_labels(
    points: Float[Tensor, "n e"], labels: Int[Tensor, "n"], references: Int[Tensor, "r"]
) -> Int[Tensor, "n c"]:
    """How many of the nearest references carry each label; a picture is no neighbour of its own."""
    among = points[references]
    own = torch.full((len(points),), -1)  # where a picture stands among the references
    own[references] = torch.arange(len(references))
    votes = torch.zeros(len(points), int(labels.max()) + 1, dtype=torch.long)
    for rows in torch.arange(len(points)).split(CHUNK):
        distances = torch.addmm(among.square().sum(1), points[rows], among.T, alpha=-2)  # + |z|^2, the same for a row
        there = own[rows] >= 0
        distances[there.nonzero().flatten(), own[rows][there]] = torch.inf
        nearest = distances.topk(NEIGHBOURS, largest=False, sorted=False).indices
        near = labels[references[nearest]]
        votes[rows] = votes[rows].scatter_add(1, near, torch.ones_like(near))
    return votes
