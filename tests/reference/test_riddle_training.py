"""What `headway compare mixers` trains on and judges by, seen through models that know the answers and riddles that keep a diary."""

from typing import Any

import numpy as np
import pytest
import torch.nn.functional as F
from torch import Tensor, nn

from headway.compare import riddles
from headway.compare.riddles import SIZES, Cell, judge, train
from headway.data.riddles import RIDDLES, VOCABULARY

TINY = SIZES | {"width": "16", "heads": "2", "inner": "16", "depth": "1"}


class Reader(nn.Module):
    """A model that answers at each place with what a rule makes of the text so far."""

    def __init__(self, rule: Any) -> None:
        super().__init__()
        self.rule = rule

    def forward(self, ids: Tensor) -> Tensor:
        return F.one_hot(self.rule(ids), len(VOCABULARY)).float()

    def logits(self, hidden: Tensor) -> Tensor:
        return hidden


def test_right_answers_are_counted_where_they_are_asked() -> None:
    """Whoever knows the rule gets 1; whoever repeats what was read gets what a loop counts."""
    length = 8

    def copied(ids: Tensor) -> Tensor:  # after the question at place `length` the text begins again
        return F.pad(ids, (length, 0))[:, : ids.shape[1]]

    assert judge(Reader(copied), "copy", length, 300, seed=5) == 1.0
    ids, wanted = RIDDLES["sort"](np.random.default_rng(5), 300, length)
    repeated = [ids[row, t - 1] == ids[row, t] for row, t in zip(*wanted.nonzero(), strict=True)]
    assert judge(Reader(lambda ids: ids), "sort", length, 300, seed=5) == pytest.approx(np.mean(repeated), abs=1e-6)


def test_every_batch_is_new_and_none_is_judged_by(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[tuple[int, Any]] = []

    def diary(rng: np.random.Generator, batch: int, length: int) -> Any:
        ids, wanted = RIDDLES["copy"](rng, batch, length)
        drawn.append((batch, {tuple(row) for row in ids.tolist()}))
        return ids, wanted

    monkeypatch.setitem(RIDDLES, "diary", diary)
    monkeypatch.setattr(riddles, "LOOK", 3)
    train(Cell("diary", "min_gru", 20, 1, 6, TINY))
    counted = [batch for batch, _ in drawn]
    blind, looks = [2048, 1024], [64, 64, 64, 256]
    assert counted == [*blind, *looks, *looks, 64, 1024], "six batches with two looks, one to see that the weights are good, the verdict"
    seen: set[tuple[int, ...]] = set()
    for batch, rows in drawn:
        assert len(rows) == batch and not rows & seen, "rows of 20 random digits do not come twice by chance"
        seen |= rows


def test_what_is_asked_is_learned() -> None:
    """A digit, a dot, the digit again: with all the steps there are this is easy; trained on other places nothing is learned."""
    cell = train(Cell("memory", "min_gru", 1, 1, 150, TINY | {"width": "32"}))
    assert cell.blind < 0.2 and cell.solved, cell.line()
