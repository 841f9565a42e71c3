"""The contracts of models that write token by token.

WRITERS     language models, and the decoders of translation models
LANGUAGE    language models only
"""

from typing import Any

import torch
from torch import Tensor

from headway.contracts.contract import Broken, Contract, require_equal
from headway.contracts.examples import BATCH, VOCABULARY, pairs, texts
from headway.contracts.models import Case
from headway.decode.state import pick


def begin(model: Any, gives: str, inputs: tuple[Tensor, ...]) -> tuple[Any, tuple[Any, ...]]:
    """The state before the first token, and what else a step is given: the memory of a source."""
    if gives == "next token":
        return model.start(BATCH), ()
    memory, state = model.read(*inputs[:2])
    return state, (memory,)


def stepping_equals_forward(case: Case) -> None:
    """Stepping equals forward."""
    model, batch, gives = case.scattered(), case.examples, case.kind[1]
    whole, ids = model(*batch.inputs), batch.inputs[-1]
    state, seen = begin(model, gives, batch.inputs)
    for t in range(ids.shape[1]):
        hidden, state = model.step(ids[:, t], state, *seen)
        require_equal(hidden[:, None], whole[:, t : t + 1], "when it was computed by `step`", first=t)


def the_state_is_a_value(case: Case) -> None:
    """The state is a value.

    A second step from the same state gives the same, and its rows can be reordered.
    """
    model, batch, rows = case.scattered(), case.examples, torch.tensor([2, 0, 1])
    state, seen = begin(model, case.kind[1], batch.inputs)
    for t, token in enumerate(batch.inputs[-1].unbind(1)):
        first, after = model.step(token, state, *seen)
        second, _ = model.step(token, state, *seen)
        require_equal(second[:, None], first[:, None], "in a second step from the same state", tolerance=0.0, first=t)
        moved, _ = model.step(token[rows], *pick((state, *seen), rows))
        when = "when the rows of the batch and the state were put into another order, as beam search does"
        require_equal(moved[:, None], first[rows][:, None], when, first=t)
        state = after


def the_future_is_not_seen(case: Case) -> None:
    """The future is not seen, and the present is."""
    model = case.scattered()
    *given, ids = (texts() if case.kind[1] == "next token" else pairs([4, 2, 1], [6, 6, 6])).inputs
    y = model(*given, ids)
    for t in range(ids.shape[1]):
        later = ids.clone()
        later[:, t:] = (later[:, t:] + 1) % VOCABULARY
        changed = model(*given, later)
        require_equal(changed[:, :t], y[:, :t], f"when the tokens from {t} on were changed", tolerance=1e-12)
        if not (changed[:, t] - y[:, t]).abs().amax(-1).min() > 1e-6:
            raise Broken(f"position {t} did not change when its own token was changed")


def outside_of_training_every_position_is_predicted(case: Case) -> None:
    """Outside of training every position is predicted."""
    model, (ids,) = case.scattered(), case.examples.inputs
    hidden, counted = model.predicted(ids)
    if counted.shape != ids.shape or not bool(counted.all()):
        raise Broken(f"{int(counted.sum())} of {ids.numel()} positions are predicted")
    require_equal(hidden.unflatten(0, ids.shape), model(ids), "in `predicted`")


def the_past_reaches_as_far_as_the_memory(case: Case) -> None:
    """The past is seen as far as `memory` says.

    The past are the tokens before a window of text.
    """
    model, (ids,) = case.scattered(), case.examples.inputs
    (past,) = texts(length=model.memory + 2, seed=12).inputs
    seen = model(ids, past)
    if model.memory == 0:
        return require_equal(seen, model(ids), "when a past was given, although `memory` is 0")
    if not (seen - model(ids))[:, 0].abs().amax(-1).min() > 1e-6:
        raise Broken(f"`memory` is {model.memory}, but position 0 did not change when a past was given")
    further = past.clone()
    further[:, :2] = (further[:, :2] + 1) % VOCABULARY
    when = f"when tokens further back than the memory of {model.memory} were changed"
    return require_equal(model(ids, further), seen, when)


WRITERS: tuple[Contract, ...] = (
    stepping_equals_forward,
    the_state_is_a_value,
    the_future_is_not_seen,
)
LANGUAGE: tuple[Contract, ...] = (
    outside_of_training_every_position_is_predicted,
    the_past_reaches_as_far_as_the_memory,
)
