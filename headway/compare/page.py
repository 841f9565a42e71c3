"""The table and the page of a comparison of language models."""

import io
import math
from pathlib import Path

from headway.inspect.outcome import Outcome
from headway.inspect.page import document, escape, heading


def interval(values: list[float]) -> str:
    """Mean and 95 % interval (Student's t) over seeds."""
    mean = sum(values) / len(values)
    if len(values) < 2:
        return f"{mean:.4f}"
    from scipy.stats import t

    deviation = math.sqrt(sum((v - mean) ** 2 for v in values) / (len(values) - 1))
    return f"{mean:.4f} ± {t.ppf(0.975, len(values) - 1) * deviation / math.sqrt(len(values)):.4f}"


HEAD = (
    "model", "nats per token", "bits per byte", "parameters", "steps", "minutes", "train tok/s", "generate tok/s", "memory MiB",
    "GFLOP/token",
)  # fmt: skip


def rows(outcomes: list[Outcome]) -> list[tuple[str, ...]]:
    """One row per model, best first."""
    names = sorted({o.model for o in outcomes}, key=lambda n: sum(o.nats for o in outcomes if o.model == n))
    made: list[tuple[str, ...]] = []
    for name in names:
        mine = [o for o in outcomes if o.model == name]
        mean = {f: sum(getattr(o, f) for o in mine) / len(mine) for f in (
            "parameters", "steps", "seconds", "training_speed", "generation_speed", "memory", "flops_per_token")}  # fmt: skip
        made.append((
            name, interval([o.nats for o in mine]), interval([o.bits_per_byte for o in mine]), f"{mean['parameters']:,.0f}",
            f"{mean['steps']:,.0f}", f"{mean['seconds'] / 60:.1f}", f"{mean['training_speed']:,.0f}", f"{mean['generation_speed']:,.0f}",
            f"{mean['memory']:,.0f}", f"{mean['flops_per_token'] / 1e9:.4f}",
        ))  # fmt: skip
    return made


def table(outcomes: list[Outcome]) -> str:
    lines = [HEAD, *rows(outcomes)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(HEAD))]
    padded = ([c.rjust(w) if i else c.ljust(w) for i, (c, w) in enumerate(zip(line, widths, strict=True))] for line in lines)
    return "\n".join("  ".join(line) for line in padded)


def figure(outcomes: list[Outcome]) -> str:
    """Held-out loss against time, steps and FLOPs, as inline SVG."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    colours = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#888888")
    names = list(dict.fromkeys(o.model for o in outcomes))
    with plt.rc_context({"svg.hashsalt": "headway", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False}):
        drawing, axes = plt.subplots(1, 3, figsize=(12, 3.6), sharey=True, layout="constrained")
        for o in outcomes:
            batch = o.training_speed * o.seconds / o.steps
            xs = (
                [s / 60 for _, s, _ in o.curve],
                [n for n, _, _ in o.curve],
                [n * batch * o.flops_per_token / 1e12 for n, _, _ in o.curve],
            )
            for axis, x in zip(axes, xs, strict=True):
                axis.plot(x, [y for _, _, y in o.curve], color=colours[names.index(o.model) % 8], marker="o", ms=3,
                          label=o.model if o.seed == 1 else None)  # fmt: skip
        for axis, label in zip(axes, ("minutes", "steps", "TFLOP (matrix products)"), strict=True):
            axis.set(xlabel=label)
            axis.grid(alpha=0.3)
        axes[0].set(ylabel="nats per token, held out")
        drawing.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=8, frameon=False)
        buffer = io.StringIO()
        drawing.savefig(buffer, format="svg", metadata={"Date": None})
        plt.close(drawing)
    return buffer.getvalue()[buffer.getvalue().index("<svg") :].replace("<svg", '<svg style="width:100%;height:auto"', 1)


def page(text: str, outcomes: list[Outcome]) -> str:
    seeds = len({o.seed for o in outcomes})
    head = "".join(f"<th>{escape(cell)}</th>" for cell in HEAD)
    labelled = ("".join(f'<td data-label="{n}">{escape(c)}</td>' for n, c in zip(HEAD, row, strict=True)) for row in rows(outcomes))
    body = "".join(f"<tr>{cells}</tr>" for cells in labelled)
    samples = "".join(
        f'<tr><td style="width:8rem">{escape(o.model)}</td><td class="text">{escape(o.sample.strip())}</td></tr>'
        for o in outcomes
        if o.seed == 1
    )
    parts = [
        heading("Comparison of language models"),
        f"<p class='soft'>{escape(Path(text).name)}, {seeds} seed{'s' * (seeds != 1)}; intervals are 95 % over seeds.</p>",
        '<div class="panel" style="overflow-x:auto;white-space:nowrap"><table style="table-layout:auto">',
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>",
        f'<h2>Learning</h2><div class="panel" style="background:#fff">{figure(outcomes)}</div>',
        f'<h2>What they write</h2><div class="panel"><table><tbody>{samples}</tbody></table></div>',
    ]
    return document("Comparison of language models", "".join(parts), {"maps": [], "charts": []}, ("report.css", "curves.js"))
