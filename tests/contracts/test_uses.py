"""The verbs that a task says it serves are those whose protocols it fulfils: an error lists them, and a command asks for them."""

import pytest

from headway.core import registry
from headway.tasks import uses

VERBS = {
    "translate": uses.Translates, "align": uses.Aligns, "generate": uses.Generates, "classify": uses.Classifies, "tag": uses.Tags,
    "answer": uses.Answers, "predict": uses.Predicts, "detect": uses.Detects, "inspect": uses.Attends,
}  # fmt: skip


@pytest.mark.parametrize("name", registry.entries("tasks"))
def test_a_task_serves_what_it_says(name: str) -> None:
    kind = registry.entries("tasks")[name].load()
    assert set(kind.uses) == {verb for verb, protocol in VERBS.items() if issubclass(kind, protocol)}
