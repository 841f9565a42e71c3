"""The verbs that use a run: translate, generate, evaluate, align. Heavy rooms are imported inside the verb that needs them."""

import argparse
import dataclasses
import json
import sys
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from headway.core.errors import UsageError
from headway.core.files import expect_writable
from headway.verbs.asked import pairs_of, path_of, positive, run_of, written

if TYPE_CHECKING:
    pass


def do_translate(a: argparse.Namespace) -> None:
    if a.text and a.input:
        raise UsageError("sentences and `--input` were both given", "choose one of them.")
    from headway.data.pairs import read_lines

    positive(a, "beam", "batch", "n_best")
    if a.output:
        expect_writable(Path(a.output))
    run = run_of(a)
    texts = a.text or read_lines(a.input or "-")
    lines = []
    if a.n_best == 1:
        lines = run.translate(texts, a.beam, a.penalty, a.batch)
    else:
        for number, found in enumerate(run.search(texts, max(a.beam, a.n_best), a.penalty, a.batch)):
            lines += [f"{number}\t{h.score(a.penalty):.4f}\t{text}" for text, h in found[: a.n_best]]
    written(lines, a.output)


def do_generate(a: argparse.Namespace) -> None:

    if not 0 < a.top_p <= 1 or a.temperature < 0:
        raise UsageError("`--top-p` should be above 0 and at most 1, and `--temperature` at least 0")
    positive(a, "count", "length", *(["top_k"] if a.top_k is not None else []))
    run = run_of(a)
    run.expect("language", "generate")
    for number in range(a.count):
        print(a.prompt, end="", flush=True)
        for piece in islice(run.generate(a.prompt, a.temperature, a.top_k, a.top_p, a.seed + number), a.length):
            print(piece, end="", flush=True)
        print("\n" + ("-" * 20 if number + 1 < a.count else ""), flush=True)


def do_evaluate(a: argparse.Namespace) -> None:
    if a.text:
        return _evaluate_text(a)
    from headway.evaluate.translation import bleu, chrf

    positive(a, "beam", "batch")
    pairs = pairs_of(a)
    run = run_of(a)
    hypotheses = run.translate(pairs.sources, a.beam, a.penalty, a.batch)
    scores = [bleu(hypotheses, list(pairs.targets)), chrf(hypotheses, list(pairs.targets))]
    if a.json:
        print(json.dumps({"run": a.run, "pairs": len(pairs), "beam": a.beam, "scores": [dataclasses.asdict(s) for s in scores]}, indent=2))
        return
    print(f"{len(pairs):,} pairs, beam {a.beam}")
    for s in scores:
        print(f"{s.name:5} {s.value:5.1f}   95 % interval {s.low:.1f} to {s.high:.1f}   {s.signature}")


def _evaluate_text(a: argparse.Namespace) -> None:
    import tempfile

    from headway.data.text import Text

    path = path_of(a.text, "text")
    run = run_of(a)
    run.expect("language", "evaluate --text")
    with tempfile.TemporaryDirectory() as folder:
        found = run.task.judge(run.model, Text(path), Path(folder))
    if a.json:
        print(json.dumps({"run": a.run, "text": a.text, **found.to_json()}, indent=2))
        return
    print(f"{found.tokens:,} tokens, {found.bytes:,} bytes")
    print(f"{found.nats:.4f} nats per token (standard error {found.error:.4f})")
    print(f"{found.bits_per_byte:.4f} bits per byte\nperplexity {found.perplexity:.3f}")


def do_align(a: argparse.Namespace) -> None:
    from headway.data.pairs import read_lines
    from headway.evaluate.alignment import measure, read_pharaoh, write_pharaoh
    from headway.inspect.align import aligned
    from headway.inspect.summary import view_of

    if a.output:
        expect_writable(Path(a.output))
    pairs = pairs_of(a)
    run = run_of(a)
    gold = read_pharaoh(read_lines(a.gold), f"`{a.gold}`") if a.gold else None
    view = view_of(run)
    links = aligned(run, view, pairs.sources, pairs.targets)
    written(write_pharaoh(links), a.output)
    print(f"{len(links):,} pairs, read from {view}", file=sys.stderr)
    if gold:
        score = measure(links, *gold)
        print(f"alignment error rate {score.aer:.3f}  precision {score.precision:.3f}  recall {score.recall:.3f}", file=sys.stderr)
