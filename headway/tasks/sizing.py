"""The size of a model that a person left open: a width, the heads that divide it, a feed-forward network some times as wide."""

from collections.abc import Mapping

from headway.core import registry
from headway.core.config import Choice, Value
from headway.core.errors import UsageError
from headway.data.segments import SINGLE
from headway.tasks.recipe import Training
from headway.tasks.task import Base


def sized(
    choice: Choice,
    *,
    width: int,
    depth: int | None,
    inner: int,
    head_width: int,
    dropout: float,
    more: Mapping[str, Value] | None = None,
) -> Choice:
    """The choice with every size set that the model has and the person did not choose.

    width, depth   of the model, where they are open (`depth=None`: as the architecture comes)
    inner          times the width is the feed-forward network
    head_width     entries of one attention head, about; heads divide the width, and a width that is open is a multiple of given heads
    """
    given, known = choice.options, {option.name for option in registry.get("models", choice.name).options}
    heads, wide = given.get("heads"), given.get("width")
    if isinstance(heads, int) and heads > 0 and wide is None:
        width = heads * -(-width // heads)
    if isinstance(wide, int) and wide > 0:
        width = wide
    fitting = next(h for h in range(max(1, width // head_width), 0, -1) if width % h == 0)
    dials: dict[str, Value] = {
        "width": width,
        "heads": fitting,
        "inner": inner * width,
        "dropout": dropout,
        **(more or {}),
    }
    if depth is not None:
        dials["depth"] = depth
    return Choice(choice.name, {key: value for key, value in dials.items() if key in known} | given)


def width_of(base: Base | None, otherwise: int) -> int:
    """The width of the model that training begins with: only weights of the same width can be taken over."""
    before = base.model.options.get("width") if base else None
    return before if isinstance(before, int) else otherwise


def default_rate(optimizer: str, muon: float = 5e-3) -> float:
    """The highest learning rate that an optimizer is used with, as its class declares it; a task knows that of Muon better.

    muon   the rate of Muon for this task
    """
    entry = registry.get("optimizers", optimizer)
    return muon if entry.name == "muon" else float(entry.facts.get("rate", 1e-3))


def gentler(examples: int) -> float:
    """The share of the usual learning rate for weights that have learned something already: less data may change less."""
    return 0.2 if examples < 2000 else 0.33 if examples < 20_000 else 0.5


def usual_rate(training: Training, base: Base | None, examples: int, muon: float = 5e-3) -> float:
    """The learning rate that was asked for, or the usual one; a gentler one for weights that have learned something already."""
    return training.rate or default_rate(training.optimizer, muon) * (gentler(examples) if base else 1.0)


def longest_text(model: Choice, asked: int | None, usual: int) -> int:
    """How many tokens of a text are read between its two marks; some models can read only so many (their `context`).

    asked, usual   what the person asked for, and what is read if neither the person nor the model says otherwise
    """
    context = model.options.get("context")
    if not isinstance(context, int):
        return asked or usual
    most = max(1, context - SINGLE)
    if asked is not None and asked > most:
        hint = f"choose at most {most}, or train from the beginning with another `--model.context`."
        raise UsageError(f"`--longest {asked}` is more than the {most} tokens that the model can read", hint)
    return asked or most


def readable_length(model: Choice, longest: int) -> int:
    """`longest` tokens with their marks, or fewer if the model can read only so many; what is longer is read in parts."""
    context = model.options.get("context")
    return min(longest, context) if isinstance(context, int) else longest
