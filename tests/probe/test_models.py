"""Every kind of model can be probed: what does not apply is left out with a reason, and nothing fails."""

import dataclasses

import pytest
import torch
from torch import Tensor

from headway.contracts.examples import KINDS, Examples, Kind
from headway.contracts.models import Case
from headway.core import registry
from headway.probe.measure import PROBES, measure
from headway.probe.subject import Subject
from headway.tasks.task import Loss


@dataclasses.dataclass(frozen=True)
class Batch:
    inputs: tuple[Tensor, ...]


def first_of(kind: Kind) -> Case:
    """The default of the tasks of a kind, or else the first model that reads and gives it."""
    entries = registry.entries("models").values()
    usual = {registry.get("tasks", name).load().model for name in registry.entries("tasks")}
    fitting = [e for e in entries if kind[0] in e.load().reads and kind[1] in e.load().gives]
    return Case(next((e for e in fitting if e.name in usual), fitting[0]), kind)


@pytest.mark.parametrize("kind", list(KINDS), ids=" to ".join)
def test_every_kind_of_model_can_be_probed(kind: Kind) -> None:
    case, examples = first_of(kind), KINDS[kind].to_learn()

    def loss(model: torch.nn.Module, batch: Batch) -> Loss:
        total = case.logits(model, batch.inputs).square().mean()
        return Loss(total, total.detach(), 1)

    subject = Subject(case.scattered(), (Batch(examples.inputs),), loss, case.build, "adam", 1e-3).in_double_precision()
    probed = measure(subject, len(examples.wanted))
    assert isinstance(examples, Examples) and set(probed.findings) | set(probed.left_out) == set(PROBES)
    failed = {name: reason for name, reason in probed.left_out.items() if "could not be computed" in reason}
    assert not failed
    assert {"Trajectory length", "Sharpness", "Gradients through depth", "Effective rank"} <= set(probed.findings)
    for finding in probed.findings.values():
        numbers = [n for v in finding.numbers.values() for n in (v if isinstance(v, list) else [v])]
        assert finding.reading.endswith(".") and finding.basis and all(n == n for n in numbers)


def test_a_probe_that_fails_leaves_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(subject: Subject) -> None:
        raise ValueError("no such axis")

    monkeypatch.setitem(PROBES, "Sharpness", broken)
    case = first_of(("vectors", "one vector"))

    def loss(model: torch.nn.Module, batch: Batch) -> Loss:
        total = case.logits(model, batch.inputs).square().sum()
        return Loss(total, total.detach(), 7)

    inputs = KINDS[case.kind].to_learn().inputs
    subject = Subject(case.scattered(), (Batch(inputs),), loss, case.build, "sgd", 1.0).in_double_precision()
    probed = measure(subject, 7)
    assert "ValueError: no such axis" in probed.left_out["Sharpness"] and "Effective rank" in probed.findings
