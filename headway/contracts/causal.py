"""The contracts of mixers that see nothing after a position: `start(batch)` and `step(x, state)` beside `forward`."""

import torch

from headway.contracts.contract import Broken, Contract, require_equal
from headway.contracts.mixers import BATCH, LENGTH, Case
from headway.decode.state import pick


def stepping_equals_forward(case: Case) -> None:
    """Stepping equals forward."""
    mixer, x = case.build(), case.sequence()
    whole = mixer(x)
    for without_gradients in (False, True):
        with torch.inference_mode(without_gradients):
            state = mixer.start(BATCH)
            for t in range(LENGTH):
                y, state = mixer.step(x[:, t], state)
                require_equal(y[:, None], whole[:, t : t + 1], "when it was computed by `step`", first=t)


def the_future_leaves_the_past_alone(case: Case) -> None:
    """The future leaves the past alone."""
    mixer, x, other = case.build(), case.sequence(), case.sequence(seed=4)
    y = mixer(x)
    for t in range(1, LENGTH):
        changed = torch.cat((x[:, :t], other[:, t:]), 1)
        last = f"positions {t} to {LENGTH - 1} were" if t < LENGTH - 1 else f"position {t} was"
        require_equal(mixer(changed)[:, :t], y[:, :t], f"when {last} changed", tolerance=1e-12)


def the_state_is_a_value(case: Case) -> None:
    """The state is a value.

    A step does not change the state it is given, so a second step from it gives the same, and a step that goes another
    way changes neither.
    """
    mixer, x, other = case.build(), case.sequence(), case.sequence(seed=4)
    for without_gradients in (False, True):
        with torch.inference_mode(without_gradients):
            plain, state = [], mixer.start(BATCH)
            for t in range(LENGTH):
                y, state = mixer.step(x[:, t], state)
                plain.append(y)
            state = mixer.start(BATCH)
            for t in range(LENGTH):
                first, after = mixer.step(x[:, t], state)
                second, _ = mixer.step(x[:, t], state)
                mixer.step(other[:, t], state)
                for y, expected, which in ((second, first, "second step"), (first, plain[t], "step after another way")):
                    if not torch.equal(y, expected):
                        size = (y - expected).abs().max()
                        raise Broken(
                            f"the {which} at position {t} differs by {size:.2g}: a step changed a state in place"
                        )
                state = after


def rows_of_the_state_can_be_reordered(case: Case) -> None:
    """The rows of the state can be reordered.

    Each of its tensors has the batch as its first axis; beam search relies on it.
    """
    mixer, x, rows = case.build(), case.sequence(), torch.tensor([2, 0, 1])
    state = mixer.start(BATCH)
    for t in range(LENGTH - 1):
        _, state = mixer.step(x[:, t], state)
    moved, _ = mixer.step(x[rows, -1], pick(state, rows))
    y, _ = mixer.step(x[:, -1], state)
    when = "when the rows of the batch and the state were put into another order, as beam search does"
    require_equal(moved[:, None], y[rows][:, None], when, first=LENGTH - 1)


CONTRACTS: tuple[Contract, ...] = (
    stepping_equals_forward,
    the_future_leaves_the_past_alone,
    the_state_is_a_value,
    rows_of_the_state_can_be_reordered,
)
