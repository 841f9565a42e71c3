"""The end of a run of a language model: how well it predicts held-out text, what it writes, and the report."""

from itertools import islice
from typing import Any

import numpy as np
import torch

from headway.core.files import read_json, write_json, write_text
from headway.evaluate.language import Prediction, predict
from headway.inspect.commands import command, quoted
from headway.inspect.cost import cost
from headway.inspect.page import Map
from headway.inspect.report import report_page, run_facts
from headway.layers.attention.weights import recorded
from headway.tasks.language import opening
from headway.train.run import Run
from headway.train.session import task_of

SAMPLE = 400  # tokens


def summarise_text(run: Run) -> str:
    """Judge the run on all of its held-out text, write `scores.json` and `report.html` into it, and return what to print."""
    found = judged(run)
    prompt = opening(run.task.tokenizer.decode([held_out(run)[:400].tolist()])[0])
    texts = [(prompt, prompt + "".join(islice(run.generate(prompt, seed=seed), SAMPLE)), "") for seed in (1, 2)]
    write_json(run.folder / "scores.json", cards(found))
    doctor, context = read_json(run.folder / "doctor.json"), run.task.context
    price = cost(run.model, torch.zeros(1, context, dtype=torch.long), per=context)
    page = report_page(
        title=run.folder.name,
        summary={"text": str(doctor.get("text", ""))} | run_facts(run) | {"cost": f"{price}, at {context:,} tokens of context"},
        scores=cards(found),
        metrics=run.metrics,
        samples=texts,
        doctor={},
        maps=text_maps(run, texts[0][1][:80]),
        next_steps=next_steps(run, prompt),
        words=("prompt", "continuation", ""),
    )
    write_text(run.folder / "report.html", page)
    lines = ["", f"held-out text, all of it ({found.tokens:,} tokens, {found.bytes:,} bytes):"]
    lines += [f"  {found.nats:.4f} nats per token (standard error {found.error:.4f})   {found.bits_per_byte:.4f} bits per byte   "
              f"perplexity {found.perplexity:.3f}"]  # fmt: skip
    lines += ["", "what it writes:", *(f"  {line}" for line in texts[0][1].split("\n"))]
    lines += ["", f"curves, maps and more: {run.folder / 'report.html'}", "what to type next:"]
    return "\n".join([*lines, *(f"  {step}" for step in next_steps(run, prompt))])


def held_out(run: Run) -> np.ndarray:
    kind = np.uint16 if run.task.tokenizer.size <= 1 << 16 else np.uint32
    return np.memmap(run.folder / "cache" / "validation.tokens", dtype=kind, mode="r")


def judged(run: Run) -> Prediction:
    corpus = task_of(run.recipe).collect(run.recipe)
    size = sum(len(piece.encode()) for document in corpus.validation.documents() for piece in document)
    return predict(run.model, held_out(run), size, run.task.context)


def cards(found: Prediction) -> list[dict[str, Any]]:
    half = 1.96 * found.error
    return [
        {"split": "held out", "name": "nats per token", "value": found.nats, "low": found.nats - half, "high": found.nats + half,
         "signature": "windows overlap by half"},
        {"split": "held out", "name": "bits per byte", "value": found.bits_per_byte, "signature": f"{found.bytes:,} bytes"},
        {"split": "held out", "name": "perplexity", "value": found.perplexity, "signature": f"{found.tokens:,} tokens"},
    ]  # fmt: skip


def text_maps(run: Run, text: str) -> list[Map]:
    """Maps of every layer and head for a text; none if the model does not attend."""
    ids = run.task.tokenizer.encode([text])[0]
    with torch.inference_mode(), recorded(run.model) as maps:
        run.model(torch.tensor([ids]))
    labels = tuple(run.task.tokenizer.pieces(ids))
    made = []
    for number, (name, calls) in enumerate(maps.items(), 1):
        for weights in calls:
            if tuple(weights.shape[-2:]) == (len(ids), len(ids)):  # memories and windows have shapes of their own
                made.append(Map(name, "decoder", number, weights[0].numpy(), labels, labels))
    return made


def next_steps(run: Run, prompt: str) -> list[str]:
    folder, headway = run.folder, command()
    first = quoted(prompt.strip().split("\n")[0] or "Once")
    return [
        f"{headway} generate {folder} --prompt {first} --temperature 0.8",
        f"{headway} evaluate {folder} --text held_out.txt",
        f"{headway} inspect {folder} {first} --out maps.html",
    ]
