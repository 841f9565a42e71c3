"""The doctor of prompts with responses: is there something to read, something to prefer, and no bias that is easier to learn?

Dropped, reported:  rows with an empty response; pairs whose two responses are equal; rows whose prompt is held out.
Kept, reported:     duplicates; pairs that are also there with the opposite choice; chosen responses that are mostly
                    longer (or shorter) than the rejected ones: a rating may learn the length and nothing else.
"""

from collections.abc import Sequence, Set

import numpy as np

from headway.core.errors import DataError
from headway.data.findings import Examination, Report
from headway.data.messages import count_noun, excerpt
from headway.data.symptoms import is_blank
from headway.data.table import Table

LEAST_ROWS = 200  # with fewer a model learns them by heart
BIAS = 0.65  # the share of pairs with the longer response chosen that is reported, or 1 less this
SURE = 3.0  # standard errors by which that share must differ from a half

PROMPT = "prompt"


def examine_responses(table: Table, responses: Sequence[str], held_out: Set[str] = frozenset()) -> tuple[Table, Report]:
    """The rows that can be learned from, and what was found.

    table       a column `prompt`, and one for each of the responses
    responses   the columns of the responses: one, or the chosen and the rejected one
    held_out    prompts that the model is to be judged by: nothing is learned from them
    """
    prompts, texts = table.column(PROMPT), [table.column(name) for name in responses]
    seen = Examination(table.lines, "row", lambda i: f"{excerpt(prompts[i], 28)} -> {excerpt(texts[0][i], 48)}")
    seen.report_unreadable(table.problems)
    for name, cells in zip(responses, texts, strict=True):
        empty = np.array([is_blank(cell) for cell in cells], dtype=bool)
        seen.drop("empty-response", empty, f"with nothing in column `{name}`")
    if len(texts) == 2:
        equal = np.array([a.strip() == b.strip() for a, b in zip(*texts, strict=True)], dtype=bool)
        seen.drop("equal-responses", equal, "whose chosen and rejected responses are equal")
    hidden = np.array([cell in held_out for cell in prompts], dtype=bool)
    seen.drop("held-out", hidden, "whose prompt is also in the held-out tables")
    kept = np.flatnonzero(seen.alive).tolist()
    if not kept:
        reasons = "; ".join(finding.message for finding in seen.finish())
        hint = f"every row needs a {PROMPT} and {' and '.join(f'`{name}`' for name in responses)}."
        raise DataError(f"nothing is left of {table.origin}: {reasons}", hint)
    examine_copies(seen, list(zip(prompts, *texts, strict=True)), kept)
    words = {name: np.array([len(c[i].split()) for i in kept]) for name, c in zip(responses, texts, strict=True)}
    longer = examine_length(seen, *words.values()) if len(texts) == 2 else None
    if len(kept) < LEAST_ROWS:
        message = f"too little data: {count_noun(len(kept), 'row')}; a model needs at least about {LEAST_ROWS:,}"
        seen.report_all("little-data", "warning", message, len(kept))
    different = len({prompts[i] for i in kept})
    statistics: dict[str, object] = {"rows": len(kept), "prompts": different}
    statistics |= {f"words {name}": float(counts.mean()) for name, counts in words.items()}
    spread = ", ".join(f"`{name}` {counts.mean():.1f}" for name, counts in words.items())
    summary = [f"{count_noun(different, 'different prompt')}; words per response: {spread}"]
    if longer is not None:
        statistics["chosen longer"] = longer
        summary.append(f"the chosen response is the longer one in {longer:.0%} of the pairs of unequal length")
    total = len(table) + len(table.problems)
    return table.select(kept), Report(table.origin, total, len(kept), seen.finish(), statistics, "row", tuple(summary))


def examine_copies(seen: Examination, rows: Sequence[tuple[str, ...]], kept: Sequence[int]) -> None:
    """Rows that come again, and pairs that come again with the opposite choice."""
    first: dict[tuple[str, ...], int] = {}
    again = [i for i in kept if first.setdefault(rows[i], i) != i]
    seen.report("duplicate", again, "note", f"{count_noun(len(again), 'row')} seen before")
    torn = [i for i in kept if len(rows[i]) == 3 and (rows[i][0], rows[i][2], rows[i][1]) in first]
    message = f"{count_noun(len(torn), 'row')} that also come with the opposite choice: raters disagree"
    seen.report("contradiction", torn, "warning", message)


def examine_length(seen: Examination, chosen: np.ndarray, rejected: np.ndarray) -> float | None:
    """The share of pairs whose longer response was chosen, among those of unequal length; None if there are none."""
    unequal = chosen != rejected
    n = int(unequal.sum())
    if not n:
        return None
    share = float((chosen > rejected)[unequal].mean())
    far = abs(share - 0.5) > SURE * 0.5 / np.sqrt(n)
    if far and not 1 - BIAS <= share <= BIAS:
        which = "longer" if share > 0.5 else "shorter"
        message = f"the {which} response was chosen in {max(share, 1 - share):.0%} of {count_noun(n, 'pair')}"
        message += " of unequal length: a rating may learn the length and nothing else"
        seen.report_all("length-bias", "warning", message, n)
    return share
