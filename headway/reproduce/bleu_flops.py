from headway.evaluate.translation_costs import HOURS, SYSTEMS, lead, points, training_flops
from headway.reproduce.table import Bench, Row, Table


class BLEUFLOPs(Table):
    """BLEU and FLOPs: what the Transformer's table says of its cost and of its lead, recomputed from hours and processors.

        FLOPs = hours * 3600 * processors * sustained FLOP/s

    Vaswani et al. 2017, https://arxiv.org/abs/1706.03762, table 2 and section 6.1; lecture A.
    """

    aliases = ("BLEU against FLOPs", "cost of training the Transformer")
    minutes = 0.1

    def rows(self, bench: Bench) -> list[Row]:
        costs = [
            Row(
                f"cost of {name}, 10^18 FLOPs",
                (SYSTEMS[name].german_cost or 0.0) / 1e18,
                lambda seed, h=hours: training_flops(h) / 1e18,  # type: ignore[misc]
                tolerance=0.05 if hours < 20 else 0.5,
                digits=2,
                random=False,
            )
            for name, hours in HOURS.items()
        ]
        leads = [
            Row("lead of the big model, en-de", 2.0, lambda seed: lead("german"), "at least", digits=2, random=False),
            Row(
                "systems that the base model beats at lower cost, en-de",
                6.0,
                lambda seed: dominated(),
                digits=0,
                random=False,
            ),
        ]
        return [*costs, *leads]


def dominated() -> float:
    """How many other systems with a known cost or none are below the base model in BLEU and not cheaper, on English to German."""
    cost, bleu = points("german")["Transformer (base)"]
    rows = [s for name, s in SYSTEMS.items() if not name.startswith("Transformer")]
    return float(sum(s.german is not None and s.german < bleu and (s.german_cost or cost) >= cost for s in rows))
