"""The end of a run: scores on held-out data, the best place to read alignments from, a few translations, and the report."""

import dataclasses
from pathlib import Path
from typing import Any

from headway.core.config import from_json
from headway.core.errors import ConfigError, RunError
from headway.core.files import read_json, write_json, write_text
from headway.data.grammar.corpus import GoldPair, generate
from headway.evaluate.alignment import aer
from headway.evaluate.translation import bleu, chrf
from headway.inspect.align import View, choose, dice_links, look
from headway.inspect.maps import attention_maps
from headway.inspect.report import report_page
from headway.layers.attention.weights import Weights
from headway.tasks.translation import collect
from headway.train.run import Run


def summarise(folder: Path) -> str:
    """Judge the run, write `scores.json` and `report.html` into it, and return what to print."""
    run = Run(folder)
    scores: list[dict[str, Any]] = []
    samples: list[tuple[str, str, str]] = []
    for split, sources, targets in held_out(run):
        hypotheses = run.translate(sources, beam=5)
        for score in (bleu(hypotheses, targets), chrf(hypotheses, targets)):
            scores.append({"split": split, **dataclasses.asdict(score)})
        samples += list(zip(sources[:5], hypotheses[:5], targets[:5], strict=True))
    view = view_of(run) if attends(run) else None
    if view and run.recipe.data.grammar is not None:
        gold = generate(300, "test", run.recipe.seed)
        rate = aer([looks.links(view) for looks in look(run, *texts(gold))], [set(p.alignment) for p in gold])
        scores.append({"split": "test", "name": "AER", "value": rate, "low": rate, "high": rate, "signature": f"Och-Ney 2003, {view}"})
    write_json(folder / "scores.json", scores)
    write_text(folder / "report.html", _report(run, scores, samples))
    return _text(run, scores, samples)


def held_out(run: Run) -> list[tuple[str, list[str], list[str]]]:
    """Name, sources and targets of each held-out set: the grammar's two test splits, or the validation pairs of the person's data."""
    if run.recipe.data.grammar is not None:
        return [(split, *texts(generate(300, split, run.recipe.seed))) for split in ("test", "combinations")]
    pairs = collect(run.recipe).validation
    return [("validation", list(pairs.sources[:1000]), list(pairs.targets[:1000]))]


def texts(gold: list[GoldPair]) -> tuple[list[str], list[str]]:
    return [p.source for p in gold], [p.target for p in gold]


def attends(run: Run) -> bool:
    return any(isinstance(module, Weights) for module in run.model.modules())


def view_of(run: Run) -> View:
    """Where this run shows its alignments: chosen once on validation pairs, by gold links or by word co-occurrence, then kept."""
    path = run.folder / "alignment.json"
    if path.exists():
        try:
            view = from_json(View, read_json(path), str(path))
        except ConfigError as problem:
            raise RunError(problem.message, "delete the file; it is made anew.") from problem
        return view
    if run.recipe.data.grammar is not None:
        gold = generate(200, "validation", run.recipe.seed)
        view = choose(look(run, *texts(gold)), [set(p.alignment) for p in gold])
    else:
        corpus = collect(run.recipe)
        pairs = corpus.validation
        sources, targets = list(pairs.sources[:200]), list(pairs.targets[:200])
        train = corpus.train
        counted = list(zip(train.sources[:20_000], train.targets[:20_000], strict=True))
        rough = dice_links(sources, targets, counted)
        view = choose(look(run, sources, targets), rough)
    write_json(path, dataclasses.asdict(view))
    return view


def _report(run: Run, scores: list[dict[str, Any]], samples: list[tuple[str, str, str]]) -> str:
    t = run.recipe.training
    facts = {
        "model": f"{run.recipe.model.name} " + ", ".join(f"{k} {v}" for k, v in run.recipe.model.options.items()),
        "parameters": f"{run.parameters:,}",
        "vocabulary": f"{run.recipe.tokens.kind}, {run.task.target.size:,} entries",
        "budget": f"{t.minutes:g} minutes = {t.steps:,} steps" if t.minutes else f"{t.steps:,} steps",
        "optimizer": f"{t.optimizer}, rate {t.rate:g}, {t.schedule} schedule, {t.warmup} steps of warm-up, batches of {t.batch:,} tokens",
        "seed": str(run.recipe.seed),
    }
    maps = attention_maps(run, samples[0][0])[0] if samples else []
    return report_page(
        title=run.folder.name,
        summary=facts,
        scores=scores,
        metrics=run.metrics,
        samples=samples,
        doctor=read_json(run.folder / "doctor.json"),
        maps=maps,
        next_steps=next_steps(run, samples[0][0] if samples else "..."),
    )


def next_steps(run: Run, sentence: str) -> list[str]:
    folder = run.folder
    steps = [f'headway translate {folder} "{sentence}"', f'headway inspect {folder} "{sentence}" --out maps.html']
    if run.recipe.data.grammar is not None:
        return [*steps, "headway train translation --source YOUR.en --target YOUR.de --minutes 30 --out runs/mine"]
    return [*steps, f"headway evaluate {folder} --source test.src --target test.trg"]


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
