"""The end of a run: scores on held-out data, the best place to read alignments from, a few translations, and the report."""

import dataclasses
from pathlib import Path
from typing import Any

from headway.core.config import from_json
from headway.core.errors import ConfigError, RunError
from headway.core.files import read_json, write_json, write_text
from headway.data.grammar.corpus import GoldPair, generate
from headway.data.pairs import read_pairs
from headway.evaluate.alignment import aer
from headway.evaluate.translation import bleu, chrf
from headway.inspect.align import View, aligned, choose, dice_links, look, views
from headway.inspect.commands import command, quoted
from headway.inspect.maps import attention_maps
from headway.inspect.report import report_page, run_facts
from headway.inspect.text_summary import summarise_text
from headway.layers.attention.attend import Attend
from headway.train.run import Run


def summarise(folder: Path) -> str:
    """Judge the run, write `scores.json` and `report.html` into it, and return what to print."""
    run = Run(folder)
    if run.recipe.task == "language":
        return summarise_text(run)
    scores: list[dict[str, Any]] = []
    samples: list[tuple[str, str, str]] = []
    for split, sources, targets in held_out(run):
        hypotheses = run.translate(sources, beam=5)
        for score in (bleu(hypotheses, targets), chrf(hypotheses, targets)):
            scores.append({"split": split, **dataclasses.asdict(score)})
        samples += list(zip(sources[:5], hypotheses[:5], targets[:5], strict=True))
    view = choose_view(run) if attends(run) else None
    if view and run.recipe.data.grammar is not None:
        gold = generate(300, "test", run.recipe.seed)
        rate = aer(aligned(run, view, *texts(gold)), [set(p.alignment) for p in gold])
        scores.append({"split": "test", "name": "AER", "value": rate, "low": rate, "high": rate, "signature": f"Och-Ney 2003, {view}"})
    write_json(folder / "scores.json", scores)
    write_text(folder / "report.html", _report(run, scores, samples))
    return _text(run, scores, samples)


def held_out(run: Run) -> list[tuple[str, list[str], list[str]]]:
    """Name, sources and targets of each held-out set: the grammar's two test splits, or the validation pairs of the person's data."""
    if run.recipe.data.grammar is not None:
        return [(split, *texts(generate(300, split, run.recipe.seed))) for split in ("test", "combinations")]
    pairs = read_pairs(pairs=str(run.folder / "validation.jsonl"))
    return [("validation", list(pairs.sources[:1000]), list(pairs.targets[:1000]))]


def texts(gold: list[GoldPair]) -> tuple[list[str], list[str]]:
    return [p.source for p in gold], [p.target for p in gold]


def attends(run: Run) -> bool:
    return any(isinstance(module, Attend) for module in run.model.modules())


def view_of(run: Run) -> View:
    """Where this run shows its alignments: the view that was kept, or a new choice."""
    path = run.folder / "alignment.json"
    if not path.exists():
        return choose_view(run)
    try:
        view = from_json(View, read_json(path), str(path))
    except ConfigError as problem:
        raise RunError(problem.message, "delete the file; it is made anew.") from problem
    if view not in views(look(run, ["a"], ["b"])[0]):
        raise RunError(f"`{path}` names {view}, which this model does not have", "delete the file; it is made anew.")
    return view


def choose_view(run: Run) -> View:
    """Chosen on validation pairs, by gold links where there are any, else by word co-occurrence; kept in the run."""
    if run.recipe.data.grammar is not None:
        gold = generate(200, "validation", run.recipe.seed)
        sources, targets = texts(gold)
        wanted = [set(p.alignment) for p in gold]
    else:
        _, sources, targets = held_out(run)[0]
        wanted = dice_links(sources, targets)
    view = choose(look(run, sources[:200], targets[:200]), wanted[:200])
    write_json(run.folder / "alignment.json", dataclasses.asdict(view))
    return view


def _report(run: Run, scores: list[dict[str, Any]], samples: list[tuple[str, str, str]]) -> str:
    maps = attention_maps(run, samples[0][0])[0] if samples else []
    metrics, doctor, path = run.metrics, read_json(run.folder / "doctor.json"), run.folder / "doctor.json"
    try:
        return report_page(
            title=run.folder.name,
            summary=run_facts(run),
            scores=scores,
            metrics=metrics,
            samples=samples,
            doctor=doctor,
            maps=maps,
            next_steps=next_steps(run, samples[0][0] if samples else "..."),
        )
    except (TypeError, ValueError, AttributeError, LookupError) as problem:  # all but the doctor's words was checked or made here
        raise RunError(f"`{path}` is damaged: {problem}", "restore it from a copy, or train again.") from problem


def next_steps(run: Run, sentence: str) -> list[str]:
    folder, headway = run.folder, command()
    steps = [f"{headway} translate {folder} {quoted(sentence)}", f"{headway} inspect {folder} {quoted(sentence)} --out maps.html"]
    if run.recipe.data.grammar is not None:
        return [*steps, f"{headway} train translation --source YOUR.en --target YOUR.de --minutes 30 --out runs/mine"]
    return [*steps, f"{headway} evaluate {folder} --source test.src --target test.trg"]


def _text(run: Run, scores: list[dict[str, Any]], samples: list[tuple[str, str, str]]) -> str:
    lines = ["", "held-out scores (beam 5):"]
    for s in scores:
        interval = f"  (95 % {s['low']:.1f} to {s['high']:.1f})" if s["name"] != "AER" else ""
        name = "alignment error rate" if s["name"] == "AER" else s["name"]
        value = f"{s['value']:.3f}" if s["name"] == "AER" else f"{s['value']:.1f}"
        lines.append(f"  {s['split']:13} {name} {value}{interval}   {s['signature']}")
    lines += ["", "translations of sentences it has never seen:"]
    for source, hypothesis, reference in samples[:4]:
        mark = "" if hypothesis == reference else f"\n     expected: {reference}"
        lines.append(f"  {source}\n  -> {hypothesis}{mark}")
    lines += ["", f"curves, attention maps and more: {run.folder / 'report.html'}", "what to type next:"]
    return "\n".join([*lines, *(f"  {step}" for step in next_steps(run, samples[0][0] if samples else "..."))])
