"""An estimate of what a training would cost, as a table in 100 columns and as JSON."""

from headway.core.config import to_json
from headway.inspect.estimate import KEPT, LOADED, Estimate, Memory

HEAD = ("GB on one device", "weights", "gradients", "moments", "average", "activations", "exchange", "total", "")


def training_cost_text(e: Estimate) -> str:
    """The estimate for a person to read."""
    rows = [
        ("model", e.draft.model.describe()),
        ("parameters", f"{e.step.parameters:,}: " + ", ".join(f"{n} {amount(c)}" for n, c in e.step.parts.items())),
        ("training", _training(e)),
        (
            "arithmetic",
            f"{amount(e.flops, 'FLOP')} in products of matrices, counted; 6 N D would be {amount(e.rule, 'FLOP')}",
        ),
        ("devices", _devices(e)),
        ("time", _time(e)),
        ("energy", _energy(e)),
    ]
    lines = [
        f"{name:12} {line}"
        for name, text in rows
        for name, line in zip([name, *[""] * 9], wrapped(text, 86), strict=False)
    ]
    return "\n".join([*lines, "", *_table(e), "", *_notes(e)])


def training_cost_json(e: Estimate) -> dict[str, object]:
    """The same numbers: bytes, seconds, joules, FLOPs."""
    return {
        "name": e.draft.name,
        "model": to_json(e.draft.model),
        "parameters": e.step.parameters,
        "parts": e.step.parts,
        "training": to_json(e.settings),
        "precision": e.draft.precision,
        "unit": e.draft.unit,
        "units": e.units,
        "flops": e.flops,
        "flops_6nd": e.rule,
        "devices": to_json(e.devices),
        "memory": {m.kind: to_json(m) | {"total": m.total, "fits": e.fits(m)} for m in e.memory},
        "memory_of_checkpoint": e.checkpoint,
        "memory_of_process": e.process,
        "seconds_per_step": e.seconds,
        "processor_seconds_per_step": e.timed.processor if e.timed else None,
        "seconds": e.time,
        "energy": e.energy,
    }


def _training(e: Estimate) -> str:
    s, members = e.settings, f"{e.draft.members} models, each " if e.draft.members > 1 else ""
    batch = f"{s.accumulate:,} x {s.batch:,}" if s.accumulate > 1 else f"{s.batch:,}"
    return (
        f"{members}{s.steps:,} steps of {batch} {e.draft.unit}, together {amount(e.units, e.draft.unit)}; "
        f"{s.optimizer} at {s.rate:g}, {s.schedule}, warm-up of {s.warmup:,}, in {e.draft.precision}"
    )


def _devices(e: Estimate) -> str:
    d = e.devices
    if e.rates is None:
        return d.describe()
    return (
        f"this machine: {d.memory / 1e9:.1f} GB available, {e.rates.products / 1e9:,.0f} GFLOP/s in products and "
        f"{e.rates.copies / 1e9:,.1f} GB/s in copies, measured"
    )


def _time(e: Estimate) -> str:
    how = f"at {e.devices.utilisation:.0%} of the rate of products"
    if e.timed is None:
        return f"{duration(e.time)}, {duration(e.seconds)} a step, {how} (assumed; `--utilisation` sets it)"
    size = f"{e.timed.depth} blocks and " if e.timed.depth is not None else ""
    copy = f"a copy with {size}batches of {e.timed.batch:,}"
    return f"{duration(e.time)}, {duration(e.seconds)} a step, {how}: measured with {copy}"


def _energy(e: Estimate) -> str:
    if e.energy is None:
        return 'unknown without the power of a device: `--devices "... @700W"`'
    return f"{amount(e.energy / 3.6e6, 'kWh')}, of the devices alone"


def _table(e: Estimate) -> list[str]:
    rows = [HEAD, *(_row(memory, e) for memory in e.memory)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(HEAD))]
    return [
        "  ".join(c.ljust(w) if i in (0, len(HEAD) - 1) else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True))).rstrip()
        for row in rows
    ]  # fmt: skip


def _row(m: Memory, e: Estimate) -> tuple[str, ...]:
    kind = m.kind if m.kind == "one process" else f"{m.kind}, {e.devices.count}"
    sizes = (m.weights, m.gradients, m.moments, m.average, m.activations, m.exchange, m.total)
    fits = "fits" if e.fits(m) else "too much"
    return (kind, *(f"{size / 1e9:,.{1 if m.total > 1e10 else 3}f}" for size in sizes), fits)


def _notes(e: Estimate) -> list[str]:
    notes = [f"Writing a checkpoint takes {e.checkpoint / 1e9:,.3g} GB in one process."]
    if e.process is not None and e.draft.held is not None:
        base = (e.draft.held + LOADED) / 1e9
        notes[:0] = [
            f"The process as a whole: about {e.process / 1e9:,.3g} GB. {base:.2g} GB of it are Python, torch and the data;",
            f"tensors take {KEPT:g} times their size, because freed pieces of memory are not all used again.",
        ]
    if e.settings.accumulate > 1:
        notes.append(
            f"A device computes {e.settings.batch:,} {e.draft.unit} at a time and adds up gradients until a step is full."
        )
    if e.timed and e.seconds > 1.3 * e.timed.processor:
        share = e.timed.processor / e.seconds
        notes.append(f"Other programs are using this machine: the steps had a processor for {share:.0%} of the time.")
    if not any(e.fits(m) for m in e.memory):
        notes.append(
            "It does not fit: take more or larger devices, a smaller batch, or a smaller model (docs/scale.md)."
        )
    return notes


def amount(value: float, unit: str = "") -> str:
    """A number with the prefix of its size: 174.6 B tokens; FLOPs in powers of ten."""
    if unit == "FLOP":
        return f"{value:.3g} FLOP"
    for size, name in ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:,.4g} {name} {unit}".rstrip()
    return f"{value:,.4g} {unit}".rstrip()


def duration(seconds: float) -> str:
    for size, name in ((365.25 * 86400, "years"), (86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:,.1f} {name}"
    return f"{seconds:,.3g} seconds" if seconds >= 1 else f"{1000 * seconds:,.3g} ms"


def wrapped(text: str, width: int) -> list[str]:
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
    return lines
