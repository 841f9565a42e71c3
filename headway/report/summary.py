"""The end of a run: judge it, write its report, and say in the terminal what came out."""

import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from headway.core.config import from_json
from headway.core.errors import ConfigError, RunError
from headway.core.files import read_json, write_text
from headway.data.findings import Report
from headway.data.messages import count_noun
from headway.inspect.cost import run_cost
from headway.report.ensemble import with_members
from headway.report.report import report_page
from headway.runs.run import Run
from headway.tasks.task import Judgement, Score
from headway.tasks.uses import Attends, Explains, Map
from headway.training.progress import sample_lines


@dataclass(frozen=True)
class Summary:
    """What a run came to, as text for a terminal."""

    judgement: Judgement
    text: str


def summarise(run: Run) -> Summary:
    """Judge the run, write `scores.json` and `report.html` into it."""
    judgement, base = with_members(run, run.judge()), run.judge_base()
    maps = first_maps(run, judgement)
    looks = maps or isinstance(run.task, Explains)
    words = [w for w in run.task.commands(str(run.folder), judgement) if looks or not w.startswith("inspect ")]
    steps = [f"{command()} {w}" for w in words]
    page = report_page(
        title=run.folder.name,
        verdict=judgement.verdict,
        kept=run.kept(),
        summary=run_facts(run, judgement),
        scores=judgement.scores,
        base=base,
        metrics=run.metrics,
        figures=run.task.figures,
        loss_unit=run.task.loss_unit,
        columns=run.task.columns,
        samples=judgement.samples,
        worst=judgement.worst,
        doctor=read_doctor(run.folder),
        maps=maps,
        next_steps=steps,
        notes=judgement.notes,
        panels=judgement.panels,
    )
    write_text(run.folder / "report.html", page)
    return Summary(judgement, terminal_text(run, judgement, base, steps))


def first_maps(run: Run, judgement: Judgement) -> list[Map]:
    """The attention for the first sample, where that is a text and the model attends."""
    if not judgement.samples or run.task.reads != "tokens" or not isinstance(run.task, Attends):
        return []
    text = (judgement.samples[0][0] + (judgement.samples[0][1] if len(run.task.columns) == 2 else ""))[:200]
    return run.attention(text)[0] if text.strip() else []


def read_doctor(folder: Path) -> list[Report]:
    path = folder / "doctor.json"
    value = read_json(path)
    try:
        return [from_json(Report, item, str(path)) for item in (value if isinstance(value, list) else [value])]
    except ConfigError as problem:
        raise RunError(
            f"`{path}` is damaged: {problem.message}", "restore it from a copy, or train again."
        ) from problem


def run_facts(run: Run, judgement: Judgement) -> dict[str, str]:
    """What a run is made of, for the table at the end of its report."""
    plan, t, state = run.plan, run.plan.training, run.state()
    steps = count_noun(state.total if state else t.steps, "step")  # fewer or more than planned, if the speed of the machine was another
    parts = ", ".join(f"{count:,} for {name}" for name, count in judgement.sizes.items())
    return {
        "task": plan.task,
        "model": plan.model.describe(),
        "parameters": f"{run.parameters:,}",
        "state": run.task.describe(),
        "held out": parts,
        "budget": f"{t.minutes:g} minutes = {steps}" if t.minutes else steps,
        "optimizer": f"{t.optimizer}, rate {t.rate:g}, {t.schedule} schedule, {t.warmup} steps of warm-up",
        "batch": f"{t.batch:,} {run.task.unit}",
        "cost": str(run_cost(run)),
        "begun with": plan.start or "random weights",
        "seed": str(plan.seed),
    }


def terminal_text(
    run: Run, judgement: Judgement, base: tuple[Sequence[Score], Sequence[Score]] | None, steps: Sequence[str]
) -> str:
    lines = ["", f"weights kept: {run.kept()}"]
    for part in dict.fromkeys(score.part for score in judgement.scores):
        size = judgement.sizes.get(part)
        called = "" if part != "validation" else ", which the weights were chosen by"
        lines.append(f"{part} part" + (f" ({size:,} {judgement.unit}{called})" if size else "") + ":")
        lines += [f"  {score.describe()}" for score in judgement.scores if score.part == part]
    lines += [f"note: {note}" for note in judgement.notes]
    if base:
        then = {(s.part, s.name): s.value for s in base[0]}
        lines.append("on the held-out data of the run it began with (before -> now):")
        pairs = [s for s in base[1] if (s.part, s.name) in then]
        lines += [f"  {s.name} ({s.part}) {then[s.part, s.name]:.{s.digits}f} -> {s.value:.{s.digits}f}" for s in pairs]
    lines += ["", f"verdict: {judgement.verdict}", "", "samples:"]
    lines += [line for sample in judgement.samples[:4] for line in sample_lines(sample, run.task.columns, _short)]
    lines += ["", f"curves, samples and more: {run.folder / 'report.html'}", "what to type next:"]
    return "\n".join([*lines, *(f"  {step}" for step in steps)])


def _short(text: str, width: int = 300) -> str:
    text = text.strip()
    cut = text if len(text) <= width else text[: width - 3] + "..."
    return cut.replace("\n", "\n     ")


def command() -> str:
    """How this person calls the command: `headway`, or `.venv/bin/headway` if that is not on the path."""
    here = Path(sys.argv[0])
    return "headway" if here.name != "headway" or shutil.which("headway") else os.path.relpath(here)
