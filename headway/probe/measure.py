"""All probes on one run, in the order of the page."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from headway.core.errors import UsageError
from headway.models.build import build_model
from headway.probe.attention import attention_heads, head_ablation
from headway.probe.batch_parts import first_rows, rows_of
from headway.probe.dimension import effective_rank, intrinsic_dimension
from headway.probe.finding import Finding, NotApplicableError
from headway.probe.gradients import gradient_depth, gradient_time
from headway.probe.linear_regions import linear_regions
from headway.probe.margin import margin
from headway.probe.sharpness import sharpness
from headway.probe.spectra import weight_spectra
from headway.probe.subject import Subject
from headway.probe.symmetry import permutation_symmetry
from headway.probe.trajectory_length import trajectory_length
from headway.runs.run import Run, Value
from headway.tasks.folder import MEMBERS

PROBES: dict[str, Callable[[Subject], Finding]] = {
    "Linear regions along a path": linear_regions,
    "Trajectory length": trajectory_length,
    "Intrinsic dimension": intrinsic_dimension,
    "Effective rank": effective_rank,
    "Attention heads": attention_heads,
    "Ablation of heads": head_ablation,
    "Gradients through depth": gradient_depth,
    "Gradients through time": gradient_time,
    "Sharpness": sharpness,
    "Margin": margin,
    "Permutation symmetry": permutation_symmetry,
    "Weight spectra": weight_spectra,
}


@dataclass(frozen=True, eq=False)
class ProbeResults:
    """What was found on a run, and which probes were left out, each with the reason.

    examples   on how many it was measured: rows of the batches, the nodes of graphs
    """

    examples: int
    findings: dict[str, Finding]
    left_out: dict[str, str]

    def to_json(self, run: str, data: str) -> dict[str, object]:
        found = [
            {"probe": name, "kind": f.kind, "basis": f.basis, "reading": f.reading, "numbers": f.numbers}
            for name, f in self.findings.items()
        ]
        left = [{"probe": name, "reason": reason} for name, reason in self.left_out.items()]
        return {"run": run, "data": data, "examples": self.examples, "findings": found, "left_out": left}


def probe_run(run: Run, given: Mapping[str, Value], examples: int, seed: int) -> ProbeResults:
    """Measure a run on its validation part, or on examples that are given as to `evaluate`."""
    if run.plan.ensemble > 1:
        raise UsageError(
            f"`{run.folder}` is an ensemble of {run.plan.ensemble} models",
            f"probe one: `headway lab probe {run.folder / MEMBERS / '1'}`.",
        )
    with TemporaryDirectory() as folder:
        every = run.batches(Path(folder), **given)
        chosen, count = [], 0
        for number in range(len(every)):
            chosen.append(first_rows(every[number], examples - count))
            count += rows_of(chosen[-1])
            if count >= examples:
                break
        t = run.plan.training
        subject = Subject(run.model, tuple(chosen), run.task.loss, _fresh(run, seed), t.optimizer, t.rate, seed)
        return measure(subject.in_double_precision(), count)


def _fresh(run: Run, seed: int) -> Callable[[], torch.nn.Module]:
    def build() -> torch.nn.Module:
        torch.manual_seed(seed)
        return build_model(run.plan.model, run.task.sizes)

    return build


def measure(subject: Subject, examples: int) -> ProbeResults:
    """Every probe; one that does not apply or fails leaves a sentence, never an empty page."""
    findings, left_out = {}, {}
    for name, probe in PROBES.items():
        try:
            findings[name] = probe(subject)
        except NotApplicableError as reason:
            left_out[name] = str(reason)
        except Exception as problem:  # whatever a model of one's own does, the other probes are still worth reading
            first = (str(problem).strip().splitlines() or [""])[0]
            left_out[name] = f"could not be computed on this model ({type(problem).__name__}: {first[:200]})"
    return ProbeResults(examples, findings, left_out)
