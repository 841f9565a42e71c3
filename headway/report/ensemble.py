"""What each member of an ensemble comes to alone, beside what they come to together."""

import dataclasses

from headway.runs.run import Run
from headway.tasks.panels import Mark, Plot
from headway.tasks.task import Judgement, Score


def with_members(run: Run, judgement: Judgement) -> Judgement:
    """The judgement of an ensemble with a sentence and a picture of its members; that of a single model as it is."""
    if not run.members:
        return judgement
    first = judgement.scores[0]
    values = [score.value for member in run.members if (score := same_score(member, first))]
    alone = ", ".join(f"{value:.{first.digits}f}" for value in values)
    note = f"{first.name} of each member ({first.part}): {alone}; together {first.value:.{first.digits}f}"
    numbers = list(range(1, len(values) + 1))
    marks = (
        Mark("points", numbers, values, "one member"),
        Mark("line", [1, len(run.members)], [first.value, first.value], "all members together"),
    )
    plot = Plot("Members of the ensemble", marks, "member", first.name, note + ".")
    return dataclasses.replace(judgement, notes=(*judgement.notes, note), panels=(*judgement.panels, plot))


def same_score(member: Run, score: Score) -> Score | None:
    """The score of a member by the same name and of the same part; the member is judged now if it was not yet."""
    found = member.scores or member.judge().scores
    return next((s for s in found if (s.part, s.name) == (score.part, score.name)), None)
