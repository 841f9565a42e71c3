"""Classes as numbers, and the messages of scikit-learn where they cannot be."""

import numpy as np
from jaxtyping import Float, Int
from sklearn.utils.multiclass import check_classification_targets, type_of_target


def numbered(y: np.ndarray) -> tuple[np.ndarray, Int[np.ndarray, "n"]]:
    """The different classes in order, and for each example which one it is of."""
    check_classification_targets(y)
    classes, which = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"the classes must be at least two; the only one is {classes[0]!r} (one class)")
    return classes, which


def two_classes(y: np.ndarray) -> tuple[np.ndarray, Float[np.ndarray, "n"]]:
    """The two classes, and -1 or +1 for each example."""
    kind = type_of_target(y, input_name="y", raise_unknown=True)
    if kind not in ("binary",) and len(np.unique(y)) > 2:
        raise ValueError(f"Only binary classification is supported. The type of the target is {kind}.")
    classes, which = numbered(y)
    return classes, 2.0 * which - 1.0
