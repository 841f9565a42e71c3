"""What a parameter is for, as its layer declares it: optimizers treat a matrix, a table and a rate differently.

    matrix   a linear map: Muon may orthogonalise its update. A convolution's kernel is one, of shape (out, in * taps)
    map      a linear map that is no single matrix (complex pairs, one block per head): AdamW with weight decay
    table    rows that are looked up (embeddings, learned positions): AdamW with weight decay
    vector   biases, gains and directions: AdamW without decay
    rate     logarithms of rates and frequencies of a recurrence: AdamW without decay

A layer declares its own parameters by name: `roles = {"dt": "rate", "C": "map"}`. The layers of torch are known here; one-dimensional
parameters are vectors unless declared otherwise. What declares nothing is treated as a vector, and `headway check` reports it.
"""

from collections.abc import Mapping
from typing import Literal, get_args

from torch import Tensor, nn
from torch.nn.utils.parametrize import ParametrizationList

Role = Literal["matrix", "map", "table", "vector", "rate"]
ROLES: tuple[Role, ...] = get_args(Role)


def declared(module: nn.Module, name: str, parameter: Tensor) -> Role | None:
    """The role of the parameter `name` of this module, or None if it is not declared."""
    roles: Mapping[str, Role] = getattr(module, "roles", {})
    if name in roles:
        return roles[name]
    if isinstance(module, nn.Linear) and name == "weight":
        return "matrix"
    if isinstance(module, nn.Conv1d | nn.Conv2d) and name == "weight":
        return "matrix" if module.groups == 1 else "map"
    if isinstance(module, nn.Embedding):
        return "table"
    if isinstance(module, ParametrizationList):  # the matrix behind a parametrized `nn.Linear`
        return "matrix"
    return "vector" if parameter.dim() <= 1 else None


def roles(model: nn.Module) -> dict[str, Role]:
    """The role of every parameter, by its full name."""
    found: dict[str, Role] = {}
    for path, module in model.named_modules():
        for name, parameter in module.named_parameters(recurse=False):
            found[f"{path}.{name}" if path else name] = declared(module, name, parameter) or "vector"
    return found
