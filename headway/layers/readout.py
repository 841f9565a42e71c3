"""The last linear map of a model whose outputs are few."""

from typing import ClassVar

from torch import nn

from headway.layers.roles import Role


class Readout(nn.Linear):
    """A linear map y = W h + b to a few outputs.

    Muon makes the update of a matrix orthogonal, so a matrix of one row would move by the same length in every step,
    whatever its gradient; such maps are for AdamW (Jordan et al. 2024, https://kellerjordan.github.io/posts/muon).

    in_features, out_features   entries of h and of y
    bias                        whether b is added
    """

    roles: ClassVar[dict[str, Role]] = {"weight": "map"}
