from functools import partial

from headway.core.config import Choice, to_json
from headway.models.build import count_parameters
from headway.models.gpt import presets
from headway.models.gpt3_sizes import MILLIONS, VOCABULARY
from headway.reproduce.table import Bench, Row, Table


class GPT3Parameters(Table):
    """Parameters of GPT-3: the eight sizes, counted on models that hold no numbers.

    Brown et al. 2020, https://arxiv.org/abs/2005.14165, table 2.1; lecture B. The printed numbers are rounded, so ours
    may differ by 2 %.
    """

    aliases = ("parameters of GPT-3", "GPT-3 sizes")
    minutes = 0.1

    def rows(self, bench: Bench) -> list[Row]:
        sizes = presets()
        return [
            Row(
                name,
                float(millions),
                partial(count, name),
                tolerance=0.02 * millions,
                digits=0,
                unit=" M",
                random=False,
            )
            for name, millions in MILLIONS.items()
            if name in sizes
        ]


def count(name: str, seed: int) -> float:
    """Millions of parameters."""
    options = to_json(presets()[name])
    return count_parameters(Choice("gpt", options), {"vocabulary": VOCABULARY}) / 1e6
