"""What the trials of a search came to: a table for a terminal, and `search.html` with the score over trials and over every option."""

from collections.abc import Sequence

from headway.compare.page import html_table
from headway.compare.table import Table, lines
from headway.core.config import Value
from headway.report.page import document, heading
from headway.report.panels import panels_section
from headway.report.report import PARTS
from headway.tasks.panels import Mark, Plot
from headway.training.search import Trial, best_trial, describe

SHOWN = 10  # trials of the table in a terminal


def trial_table(done: Sequence[Trial]) -> Table:
    """A row for each trial, the best first; failed ones last."""
    ranked = sorted(done, key=lambda trial: (trial.score is None, -(trial.score or 0.0), trial.number))
    names, figures = list(done[0].values), list(best_trial(done).figures)
    rows = []
    for trial in ranked:
        numbers = [f"{trial.figures[name]:.4f}" if name in trial.figures else "-" for name in figures]
        rows.append([f"{trial.number:03d}", *numbers, *(format_value(trial.values[name]) for name in names)])
    return ["trial", *figures, *names], rows


def format_value(value: Value) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def trials_text(done: Sequence[Trial]) -> str:
    """The best trials, for a terminal."""
    head, rows = trial_table(done)
    best = best_trial(done)
    failed = sum(trial.score is None for trial in done)
    note = f"; {failed} failed" if failed else ""
    return "\n".join([f"{len(done)} trials{note}; the best: {describe(best.values)}", *lines((head, rows[:SHOWN]))])


def trials_page(title: str, done: Sequence[Trial]) -> str:
    """The page: the score of each trial, the best so far, and the score against each option."""
    plots = [progress_plot(done), *(option_plot(name, done) for name in done[0].values)]
    failed = "".join(f" Trial {t.number} failed: {t.problem}." for t in done if t.score is None)
    about = f"The best: {describe(best_trial(done).values)}. Scores are of validation, the higher the better.{failed}"
    parts = {"Trials": html_table(trial_table(done)), "Pictures": panels_section(plots)}
    body = heading(title, about) + "".join(f"<h2>{name}</h2>\n{part}\n" for name, part in parts.items())
    return document(title, body, {"maps": [], "charts": []}, PARTS)


def progress_plot(done: Sequence[Trial]) -> Plot:
    scored = [(trial.number, trial.score) for trial in done if trial.score is not None]
    numbers, scores = [n for n, _ in scored], [s for _, s in scored]
    best = [max(scores[: i + 1]) for i in range(len(scores))]
    marks = Mark("points", numbers, scores, "trial"), Mark("line", numbers, best, "best so far")
    return Plot("Score over trials", marks, "trial", "score", "Each point is one trial.")


def option_plot(name: str, done: Sequence[Trial]) -> Plot:
    """The score against one option; what is not a number has places 1, 2 ... in the order of the caption."""
    scored = [(trial.values[name], trial.score, trial) for trial in done if trial.score is not None]
    labels = [f"trial {trial.number}: {describe(trial.values)}" for _, _, trial in scored]
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value, _, _ in scored)
    places = {value: i for i, value in enumerate(sorted({value for value, _, _ in scored}, key=str), 1)}
    x = [float(value) if numbers else float(places[value]) for value, _, _ in scored]  # type: ignore[arg-type]
    caption = "" if numbers else ", ".join(f"{place}: {value}" for value, place in places.items())
    mark = Mark("points", x, [score for _, score, _ in scored], labels=labels)
    return Plot(f"Score against {name}", (mark,), name, "score", caption)
