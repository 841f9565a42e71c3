"""A scaling law in words: tables of the runs, the law and what it predicts, notes, and all of it as JSON."""

import dataclasses
from pathlib import Path
from textwrap import wrap

import numpy as np

from headway.compare.scaling.forecast import VARIABLES, Estimate, Prediction, Scaling
from headway.compare.table import WIDTH, Table, lines
from headway.data.messages import count_noun
from headway.report.equations import to_unicode

EQUATIONS = {
    ("parameters", "units"): "L(N, D) = E + A N^{-α} + B D^{-β}",
    ("parameters",): "L(N) = E + A N^{-α}",
    ("flops",): "L(C) = E + A C^{-γ}",
}
EARLY = 0.8  # a run whose best weights were found before this share of its training has overfitted
STEPS = {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}


def short(number: float) -> str:
    """20,000 as `20.0k`, 3e14 as `300T`."""
    name, step = next(((n, s) for n, s in reversed(STEPS.items()) if number >= s), ("", 1.0))
    scaled = number / step
    return f"{scaled:.{0 if scaled >= 100 or not name else 1}f}{name}"


def between(e: Estimate, digits: int) -> str:
    return f"{e.low:.{digits}f} to {e.high:.{digits}f}"


def run_table(found: Scaling) -> Table:
    """Every run with its loss, and how far above the law it lies."""
    rows = []
    for p, distance in zip(found.points.each, found.distances, strict=True):
        name = Path(p.folder).name
        rows.append(
            [
                name,
                f"{p.parameters:,}",
                short(p.units),
                short(p.flops),
                f"{p.loss:.4f}",
                f"{p.loss / (1 + distance):.4f}",
                f"{distance:+.1%}",
            ]
        )
    return ["run", "parameters", found.points.unit, "FLOPs", "loss", "of the law", "distance"], rows


def law_table(found: Scaling) -> Table:
    """The irreducible loss and the exponents."""
    rows = [["E (irreducible loss)", f"{found.irreducible.value:.3f}", between(found.irreducible, 3)]]
    names = {"parameters": "parameters", "units": found.points.unit, "flops": "FLOPs, used best"}
    for variable, e in found.exponents.items():
        rows.append([f"{VARIABLES[variable]} ({names[variable]})", f"{e.value:.3f}", between(e, 3)])
    return ["", "value", "90 % interval"], rows


def next_table(predictions: list[Prediction], unit: str) -> Table:
    rows = []
    for p in predictions:
        cells = [short(p.parameters), short(p.units), short(p.flops), f"{p.loss.value:.3f}", between(p.loss, 3)]
        rows.append([p.about, *cells, f"{p.gain.value:.3f}", between(p.gain, 3)])
    return ["next", "parameters", unit, "FLOPs", "loss", "90 % interval", "gain", "90 % interval"], rows


def held_back_text(found: Scaling) -> str:
    held = found.held_back
    if held is None:
        return "held back: no run; without the largest one the others are too few for this law"
    verdict = "inside" if held.predicted.holds(held.measured) else "outside"
    return (
        f"held back: `{Path(held.folder).name}`, the largest run, is predicted from the others as {held.predicted.value:.4f} "
        f"(90 % interval {between(held.predicted, 4)}); measured: {held.measured:.4f}, {verdict} the interval; error {held.error:+.1%}"
    )


def notes(found: Scaling, predictions: list[Prediction]) -> list[str]:
    """What a person should know before trusting it."""
    each, unit = found.points.each, found.points.unit
    shares = [p.embeddings / p.parameters for p in each]
    typical = float(np.sqrt(np.mean(np.square(found.distances))))
    text = [f"{p.about}: {warning}" for p in predictions for warning in p.warnings]
    for p in predictions:
        if p.best_size:
            text.append(
                f"{p.about}: the best size is between {short(p.best_size.low)} and {short(p.best_size.high)} parameters (90 % interval)"
            )
    if found.irreducible.low < 0.01 * found.irreducible.high or found.irreducible.value < 0.01 * found.largest.loss:
        text.append("E is not determined by these runs: they are too far from the least possible loss")
    for variable in found.undetermined():
        text.append(
            f"{VARIABLES[variable]} is not determined by these runs: train more, of sizes and lengths that differ more"
        )
    if found.held_back and not found.held_back.predicted.holds(found.held_back.measured):
        text.append("the law missed the largest run, so its intervals are too narrow for larger ones")
    early = [p for p in each if p.kept < EARLY]
    if early:
        runs = "; ".join(f"`{Path(p.folder).name}` at {p.kept:.0%}" for p in early[:4]) + (
            " ..." if len(early) > 4 else ""
        )
        some = f"{count_noun(len(early), 'run')} had the best weights before the end of training ({runs})"
        text.append(f"{some}: more {unit} of the same data would not help there, which the law does not know")
    models = sorted({p.model for p in each})
    if len(models) > 1:
        text.append(f"the runs are of different models ({', '.join(models)}): a law describes one kind of model")
    embeddings = f"parameters include embeddings, {min(shares):.0%} to {max(shares):.0%} of them"
    return [*text, f"the runs lie {typical:.1%} from the law (root mean square); {embeddings}"]


def terminal_text(found: Scaling, predictions: list[Prediction]) -> str:
    equation = to_unicode(EQUATIONS[found.variables])
    head = f"{len(found.points.each)} runs of {found.points.task}; loss: {found.points.loss}"
    tables = [
        lines(run_table(found)),
        [equation, *lines(law_table(found))],
        lines(next_table(predictions, found.points.unit)),
    ]
    remarks = [
        line
        for note in notes(found, predictions)
        for line in wrap(note, WIDTH, initial_indent="- ", subsequent_indent="  ")
    ]
    parts = [[head], *tables, wrap(held_back_text(found), WIDTH), remarks]
    return "\n\n".join("\n".join(part) for part in parts)


def as_json(found: Scaling, predictions: list[Prediction]) -> dict[str, object]:
    held = found.held_back
    coefficients = dict(zip(found.variables, found.law.factors.tolist(), strict=True))
    return {
        "task": found.points.task,
        "unit": found.points.unit,
        "loss": found.points.loss,
        "runs": [dataclasses.asdict(p) for p in found.points.each],
        "law": EQUATIONS[found.variables],
        "irreducible": dataclasses.asdict(found.irreducible),
        "coefficients": coefficients,
        "exponents": {v: dataclasses.asdict(e) for v, e in found.exponents.items()},
        "flops": dataclasses.asdict(found.cost),
        "held_back": dataclasses.asdict(held) | {"error": held.error} if held else None,
        "next": [dataclasses.asdict(p) for p in predictions],
        "notes": notes(found, predictions),
    }
