from headway.reproduce.table import Bench, Row, Table

# (BLEU en-de, BLEU en-fr, FLOPs en-de, FLOPs en-fr) as lecture A prints them; its two Transformers have one cost for both (erratum A16)
SYSTEMS: dict[str, tuple[float | None, float | None, float | None, float | None]] = {
    "ByteNet": (23.75, None, None, None),
    "Deep-Att + PosUnk": (None, 39.2, None, 1.0e20),
    "GNMT + RL": (24.6, 39.92, 2.3e19, 1.4e20),
    "ConvS2S": (25.16, 40.46, 9.6e18, 1.5e20),
    "MoE": (26.03, 40.56, 2.0e19, 1.2e20),
    "Deep-Att + PosUnk ensemble": (None, 40.4, None, 8.0e20),
    "GNMT + RL ensemble": (26.30, 41.16, 1.8e20, 1.1e21),
    "ConvS2S ensemble": (26.36, 41.29, 7.7e19, 1.2e21),
    "Transformer (base)": (27.3, 38.1, 3.3e18, 3.3e18),
    "Transformer (big)": (28.4, 41.8, 2.3e19, 2.3e19),
}
SUSTAINED = 9.5e12  # FLOP/s of one P100, as the paper assumes
GPUS = 8
HOURS = {"Transformer (base)": 12.0, "Transformer (big)": 84.0}


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
                (SYSTEMS[name][2] or 0.0) / 1e18,
                lambda seed, h=hours: h * 3600 * GPUS * SUSTAINED / 1e18,  # type: ignore[misc]
                tolerance=0.05 if hours < 20 else 0.5,
                digits=2,
                random=False,
            )
            for name, hours in HOURS.items()
        ]
        leads = [
            Row("lead of the big model, en-de", 2.0, lambda seed: lead(0), "at least", digits=2, random=False),
            Row(
                "systems that the base model beats at lower cost, en-de",
                6.0,
                lambda seed: dominated(),
                digits=0,
                random=False,
            ),
        ]
        return [*costs, *leads]


def lead(column: int) -> float:
    """BLEU of the big Transformer over the best of the systems before."""
    others = [row[column] for name, row in SYSTEMS.items() if not name.startswith("Transformer")]
    best = max(value for value in others if value is not None)
    return float((SYSTEMS["Transformer (big)"][column] or 0.0) - best)


def dominated() -> float:
    """How many other systems with a known cost or none are below the base model in BLEU and not cheaper, on English to German."""
    bleu, _, cost, _ = SYSTEMS["Transformer (base)"]
    rows = [row for name, row in SYSTEMS.items() if not name.startswith("Transformer") and row[0] is not None]
    return float(sum(row[0] < bleu and (row[2] is None or row[2] >= cost) for row in rows))  # type: ignore[operator]
