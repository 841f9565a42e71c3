"""Parts of a batch whose type only its task knows: dataclasses of tensors, of tuples of tensors, and of other dataclasses."""

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor


def tensors_of(batch: object) -> Iterator[Tensor]:
    """All tensors of a batch, in the order of its fields."""
    if isinstance(batch, Tensor):
        yield batch
    elif dataclasses.is_dataclass(batch):
        for field in dataclasses.fields(batch):
            yield from tensors_of(getattr(batch, field.name))
    elif isinstance(batch, tuple | list):
        for item in batch:
            yield from tensors_of(item)


def map_tensors(batch: Any, change: Callable[[Any], Any]) -> Any:
    """The batch with every tensor and array changed."""
    if isinstance(batch, Tensor | np.ndarray):
        return change(batch)
    if dataclasses.is_dataclass(batch) and not isinstance(batch, type):
        names = [field.name for field in dataclasses.fields(batch) if field.init]
        return dataclasses.replace(batch, **{name: map_tensors(getattr(batch, name), change) for name in names})
    if isinstance(batch, tuple | list):
        return type(batch)(map_tensors(item, change) for item in batch)
    return batch


def as_double(batch: Any) -> Any:
    """Its floating-point numbers in double precision."""
    return map_tensors(batch, lambda t: t.double() if isinstance(t, Tensor) and t.is_floating_point() else t)


def rows_of(batch: object) -> int:
    """How many examples a batch has; of a graph, the nodes."""
    return len(next(tensors_of(batch)))


def first_rows(batch: Any, rows: int) -> Any:
    """The first examples of a batch; the whole batch where its tensors do not share their first axis, as in a graph."""
    sizes = {len(t) for t in tensors_of(batch) if t.ndim}
    if len(sizes) != 1 or sizes <= set(range(rows + 1)):
        return batch
    (size,) = sizes
    return map_tensors(batch, lambda t: t[:rows] if t.ndim and len(t) == size else t)


def mask_of(batch: object, shape: tuple[int, ...]) -> Tensor | None:
    """Which positions "b t" are no padding: a mask of the batch, or the tokens that differ from those that another mask hides."""
    tensors = [t for t in tensors_of(batch) if t.ndim == 2]
    masks, ids = [t for t in tensors if t.dtype == torch.bool], [t for t in tensors if t.dtype == torch.long]
    if fitting := [mask for mask in masks if tuple(mask.shape) == shape]:
        return fitting[0]
    hidden = [t[~mask].unique() for mask in masks for t in ids if t.shape == mask.shape]
    padding = next((values for values in hidden if len(values) == 1), None)
    return next((t != padding for t in ids if padding is not None and tuple(t.shape) == shape), None)
