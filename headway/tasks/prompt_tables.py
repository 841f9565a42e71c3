"""Prompts with responses: from a person's table to a part to learn from and parts that are held out, kept in the run."""

from collections.abc import Hashable, Mapping, Sequence

from headway.core.errors import UsageError
from headway.data.doctor_preferences import PROMPT, examine_responses
from headway.data.findings import Report
from headway.data.table import Table, glance, read_table
from headway.tasks.labels import LabelledCorpus, set_apart

RESPONSE, CHOSEN, REJECTED = "response", "chosen", "rejected"  # columns of a table in the run, beside the prompt
PAIR = (CHOSEN, REJECTED)
COLUMNS = (PROMPT, *PAIR)
WHICH = "which pairs? `--preferences`: a prompt, a chosen and a rejected response per row"
FEW = 30  # different prompts below which the held-out parts have prompts that training has, too


def collect_prompts(
    path: str, columns: Mapping[str, str], brought: Mapping[str, str], seed: int, unit: str
) -> LabelledCorpus[Table]:
    """Read, examine, set apart: whole prompts are held out, with all their responses, unless there are only a few prompts.

    columns   what each column is here -> its name in the table
    brought   held-out tables of the person, by part
    unit      what a row is, in the plural
    """
    held_out, reports = {}, []
    for name, other in brought.items():
        held_out[name], report = read_prompts(other, columns)
        reports.append(report)
    hidden = frozenset(cell for part in held_out.values() for cell in part.column(PROMPT))
    train, report = read_prompts(path, columns, hidden)
    parts = _split_prompts(train, held_out, seed, path)
    return LabelledCorpus(*parts, (report, *reports), unit)


def collect_pairs(
    path: str | None, brought: Mapping[str, str | None], seed: int, example: str
) -> LabelledCorpus[Table]:
    """Pairs of a chosen and a rejected response.

    example   a command that brings some
    """
    if path is None:
        raise UsageError(WHICH, f"`{example}`.")
    given = {name: other for name, other in brought.items() if other is not None}
    return collect_prompts(path, dict(zip(COLUMNS, COLUMNS, strict=True)), given, seed, "pairs")


def read_pairs(path: str | None) -> tuple[Table, tuple[str, ...]]:
    """The pairs that a person brings to a finished run, and what was left out of them."""
    if path is None:
        raise UsageError(WHICH, "`--preferences pairs.jsonl`.")
    part, report = read_prompts(path, dict(zip(COLUMNS, COLUMNS, strict=True)))
    return part, report.left_out


def read_prompts(path: str, columns: Mapping[str, str], hidden: frozenset[str] = frozenset()) -> tuple[Table, Report]:
    """The rows of a table that can be learned from, under the names of this package; and what was found."""
    table = read_table(path, list(columns.values()))
    found = {role: table.column(name) for role, name in columns.items()}
    responses = [role for role in columns if role != PROMPT]
    return examine_responses(Table(found, table.lines, path, table.problems), responses, hidden)


def _split_prompts(train: Table, held_out: dict[str, Table], seed: int, origin: str) -> tuple[Table, dict[str, Table]]:
    prompts = train.column(PROMPT)
    first = {prompt: row for row, prompt in reversed(list(enumerate(prompts)))}
    if len(first) < FEW:
        rows: list[Hashable] = list(zip(*train.columns.values(), strict=True))
        return set_apart(train, held_out, [""] * len(train), rows, seed, origin)
    single = train.select(sorted(first.values()))  # one row for each prompt: which prompts are set apart
    kept, parts = set_apart(single, held_out, [""] * len(single), single.column(PROMPT), seed, origin)
    if parts is held_out:
        return train, held_out

    def of(part: Table) -> Table:
        chosen = set(part.column(PROMPT))
        return train.select([row for row, prompt in enumerate(prompts) if prompt in chosen])

    return of(kept), {name: part if name in held_out else of(part) for name, part in parts.items()}


def recognised(paths: Sequence[str], columns: Sequence[str]) -> bool:
    """Whether this is one table that has these columns."""
    return len(paths) == 1 and set(columns) <= set(glance(paths[0]))
