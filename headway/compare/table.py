"""The outcomes of a comparison as two tables for a terminal: what the models came to, and what they cost."""

from collections.abc import Sequence

from headway.compare.interval import Interval, differences, interval, ranking
from headway.compare.outcome import Outcome

WIDTH = 100  # columns of a terminal
LONGEST = 28  # characters of a model's name
Table = tuple[list[str], list[list[str]]]  # the head, and a row for each model


def by_model(outcomes: Sequence[Outcome]) -> dict[str, list[Outcome]]:
    """The outcomes of each model, the best model first."""
    names = ranking(first_scores(outcomes), outcomes[0].better)
    return {name: [o for o in outcomes if o.model == name] for name in names}


def first_scores(outcomes: Sequence[Outcome]) -> dict[str, Interval]:
    """The score that ranks, over the seeds of each model."""
    names = dict.fromkeys(o.model for o in outcomes)
    return {name: interval([o.scores[0].value for o in outcomes if o.model == name]) for name in names}


def sentences(outcomes: Sequence[Outcome]) -> list[str]:
    """Which differences of the first score are real."""
    return differences(first_scores(outcomes), outcomes[0].better)


def score_table(outcomes: Sequence[Outcome]) -> Table:
    """Every score, with its interval over seeds."""
    kinds = {(s.part, s.name): s for o in outcomes for s in o.scores}
    several = len({part for part, _ in kinds}) > 1
    head = ["model", *(f"{name} ({part})" if several else name for part, name in kinds)]
    rows = []
    for model, mine in by_model(outcomes).items():
        cells = []
        for (part, name), score in kinds.items():
            values = [s.value for o in mine for s in o.scores if (s.part, s.name) == (part, name)]
            cells.append(interval(values).format(score.digits) if values else "-")
        rows.append([model, *cells])
    return head, rows


def cost_table(outcomes: Sequence[Outcome]) -> Table:
    """What each model costs; means over seeds."""
    unit = outcomes[0].unit
    head = ["model", "parameters", "steps", "minutes", f"{unit}/s", "memory MiB", f"MFLOP/{unit.removesuffix('s')}"]
    generates = any(o.generation_speed is not None for o in outcomes)
    rows = []
    for model, mine in by_model(outcomes).items():
        count = len(mine)
        memory = [o.memory for o in mine if o.memory is not None]
        cells = [
            f"{mine[0].parameters:,}",
            f"{sum(o.steps for o in mine) / count:,.0f}",
            f"{sum(o.minutes for o in mine) / count:.1f}",
            f"{sum(o.training_speed for o in mine) / count:,.0f}",
            f"{sum(memory) / len(memory):,.0f}" if memory else "-",
            f"{sum(o.flops for o in mine) / count / 1e6:,.2f}",
        ]
        if generates:
            speeds = [o.generation_speed for o in mine if o.generation_speed is not None]
            cells.append(f"{sum(speeds) / len(speeds):,.0f}" if speeds else "-")
        rows.append([model, *cells])
    return [*head, *(["generated/s"] if generates else [])], rows


def lines(table: Table) -> list[str]:
    """The table as text; columns that do not fit into a terminal are left out."""
    head, rows = table
    short = [[row[0] if len(row[0]) <= LONGEST else row[0][: LONGEST - 3] + "...", *row[1:]] for row in [head, *rows]]
    widths = [max(len(row[i]) for row in short) for i in range(len(head))]
    while sum(widths) + 2 * (len(widths) - 1) > WIDTH and len(widths) > 2:
        widths.pop()
    made = []
    for name, *cells in short:
        numbers = [cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=False)]
        made.append("  ".join([name.ljust(widths[0]), *numbers]))
    return made


def terminal_text(outcomes: Sequence[Outcome]) -> str:
    seeds = len({o.seed for o in outcomes})
    text = [f"{seeds} seed{'s' * (seeds != 1)}" + (", ± is the 95 % interval over seeds" if seeds > 1 else ""), ""]
    text += [*lines(score_table(outcomes)), "", *lines(cost_table(outcomes)), ""]
    others = max(1, len(by_model(outcomes)) - 1)  # the best model against each other one; the page has all pairs
    return "\n".join([*text, *sentences(outcomes)[:others]])
