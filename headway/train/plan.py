"""What a person did not choose, chosen from the size of the data and the budget, and said aloud.

The dials were set by measurements (docs/findings.md): small data wants a small vocabulary, a narrow model and much dropout;
a short budget wants a model that is fast rather than large.
"""

from dataclasses import dataclass, replace
from typing import Any

from headway.core import registry
from headway.core.config import Choice
from headway.core.errors import UsageError
from headway.core.recipe import Recipe


@dataclass(frozen=True)
class Size:
    """How much there is to learn from."""

    pairs: int  # 0 for a text
    characters: int  # on the target side


def plan(recipe: Recipe, corpus: Any) -> Recipe:
    """Everything but the number of steps."""
    recipe = plan_budget(recipe)
    if recipe.task == "language":
        size = Size(0, corpus.characters)
        return plan_language(plan_tokens(recipe, size), size)
    size = Size(len(corpus.train), sum(map(len, corpus.train.targets)))
    return plan_training(plan_model(plan_tokens(recipe, size), size), size)


def plan_tokens(recipe: Recipe, size: Size) -> Recipe:
    """A vocabulary that the data can fill: every entry should be met some hundred times."""
    if recipe.tokens.size is not None:
        return recipe
    least = 1000 if recipe.tokens.kind == "wordpiece" else 500  # wordpiece needs two entries for each byte
    chosen = max(least, min(16000, round(size.characters / 350 / 500) * 500))
    return replace(recipe, tokens=replace(recipe.tokens, size=chosen))


def plan_budget(recipe: Recipe) -> Recipe:
    """Ten minutes, if nothing was said."""
    training = recipe.training
    if sum(v is not None for v in (training.minutes, training.steps, training.epochs)) > 1:
        raise UsageError("more than one budget was given", "choose one of `--minutes`, `--steps` and `--epochs`.")
    if training.minutes is None and training.steps is None and training.epochs is None:
        training = replace(training, minutes=10.0)
    return replace(recipe, training=training)


def plan_model(recipe: Recipe, size: Size) -> Recipe:
    """Width, depth and dropout by the amount of data; one size smaller if there are only a few minutes to learn it in."""
    hurried = recipe.training.minutes is not None and recipe.training.minutes < 5
    grade = (size.pairs >= 8000) + (size.pairs > 300_000)
    given: dict[str, Any] = recipe.model.options
    width = int(given.get("width") or (128, 256, 512)[max(0, grade - hurried)])
    dials: dict[str, int | float | bool | str | None] = {"width": width, "dropout": (0.3, 0.25, 0.1)[grade]}
    if recipe.model.name == "transformer":
        heads = next(h for h in range(max(1, width // 64), 0, -1) if width % h == 0)
        dials |= {"depth": 3, "heads": heads, "inner": (4 if grade == 2 else 2) * width}
    if not recipe.tokens.joint:
        dials["share"] = False
    known = {option.name for option in registry.get("models", recipe.model.name).options}
    return replace(recipe, model=Choice(recipe.model.name, {k: v for k, v in dials.items() if k in known} | given))


def plan_training(recipe: Recipe, size: Size) -> Recipe:
    t = recipe.training
    chosen: dict[str, Any] = {
        "batch": t.batch or (1024 if size.pairs < 8000 else 2048),
        "rate": t.rate or (3e-3 if t.optimizer == "muon" else 1e-3),
        "smoothing": 0.1 if t.smoothing is None else t.smoothing,
    }
    return replace(recipe, training=replace(t, **chosen))


def plan_language(recipe: Recipe, size: Size) -> Recipe:
    """A context that a short budget can fill, a width that it can train, and no dropout while the text is new."""
    t, minutes = recipe.training, recipe.training.minutes
    hurried = minutes is not None and minutes <= 3
    context = t.context or (128 if hurried else 256)
    dials: dict[str, Any] = {"width": 128 if hurried else 256, "depth": 4, "dropout": 0.0, "context": context}
    given: dict[str, Any] = recipe.model.options
    width = int(given.get("width") or dials["width"])
    dials |= {"inner": 4 * width, "heads": next(h for h in range(max(1, width // 48), 0, -1) if width % h == 0)}
    known = {option.name for option in registry.get("models", recipe.model.name).options}
    model = Choice(recipe.model.name, {k: v for k, v in dials.items() if k in known} | given)
    chosen: dict[str, Any] = {
        "context": context,
        "batch": t.batch or max(context, 1536 if hurried else 4096),
        "rate": t.rate or (8e-3 if t.optimizer == "muon" else 1e-3),
        "smoothing": 0.0 if t.smoothing is None else t.smoothing,
    }
    return replace(recipe, model=model, training=replace(t, **chosen))


def plan_steps(recipe: Recipe, per_epoch: int, seconds: float | None) -> Recipe:
    """The number of steps, once and for all: the schedule is a function of it. `seconds` per step was measured for `--minutes`."""
    training = recipe.training
    total = training.steps
    if training.epochs is not None:
        total = max(1, round(training.epochs * per_epoch / training.accumulate))
    elif training.minutes is not None and seconds is not None:
        total = max(1, int(training.minutes * 60 / seconds))
    total = total or 1
    training = replace(training, steps=total)
    if training.warmup is None:
        training = replace(training, warmup=max(1, min(1000, total // 10)))
    if training.validate is None:
        short = training.minutes is not None and training.minutes < 5
        training = replace(training, validate=min(2000, -(-total // (6 if short else 12))))
    if training.average is None:
        training = replace(training, average=round(1 - 1 / max(2.0, min(1000.0, total / 20)), 6))
    return replace(recipe, training=training)


def said(recipe: Recipe, vocabulary: int, parameters: int, per_epoch: int) -> str:
    """The plan in two sentences."""
    t, options = recipe.training, ", ".join(f"{k} {v}" for k, v in recipe.model.options.items())
    epochs = (t.steps or 0) * t.accumulate / per_epoch
    budget = f"{t.minutes:g} minutes = " if t.minutes else ""
    return (
        f"model: {recipe.model.name} ({options}), {parameters / 1e6:.2f} million parameters, "
        f"{recipe.tokens.kind} vocabulary of {vocabulary:,}\n"
        f"plan: {budget}{t.steps:,} steps of {t.batch:,} tokens = {epochs:.1f} epochs, {t.optimizer} at {t.rate:g} "
        f"({t.schedule}, {t.warmup} steps of warm-up), validation every {t.validate} steps"
    )
