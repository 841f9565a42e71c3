"""BLEU and training cost of the translation systems that Vaswani et al. 2017 compare: table 2, https://arxiv.org/abs/1706.03762.

FLOPs = hours * 3600 * processors * sustained FLOP/s
"""

from dataclasses import dataclass

SUSTAINED = 9.5e12  # FLOP/s of one P100, as the paper assumes
GPUS = 8
HOURS = {"Transformer (base)": 12.0, "Transformer (big)": 84.0}


@dataclass(frozen=True)
class System:
    """What is printed of one system; None: not printed."""

    german: float | None  # BLEU, English to German
    french: float | None  # BLEU, English to French
    german_cost: float | None  # FLOPs
    french_cost: float | None  # FLOPs


SYSTEMS = {  # as lecture A prints them; its two Transformers have one cost for both (erratum A16)
    "ByteNet": System(23.75, None, None, None),
    "Deep-Att + PosUnk": System(None, 39.2, None, 1.0e20),
    "GNMT + RL": System(24.6, 39.92, 2.3e19, 1.4e20),
    "ConvS2S": System(25.16, 40.46, 9.6e18, 1.5e20),
    "MoE": System(26.03, 40.56, 2.0e19, 1.2e20),
    "Deep-Att + PosUnk ensemble": System(None, 40.4, None, 8.0e20),
    "GNMT + RL ensemble": System(26.30, 41.16, 1.8e20, 1.1e21),
    "ConvS2S ensemble": System(26.36, 41.29, 7.7e19, 1.2e21),
    "Transformer (base)": System(27.3, 38.1, 3.3e18, 3.3e18),
    "Transformer (big)": System(28.4, 41.8, 2.3e19, 2.3e19),
}


def training_flops(hours: float) -> float:
    return hours * 3600 * GPUS * SUSTAINED


def points(column: str) -> dict[str, tuple[float, float]]:
    """(cost, BLEU) of the systems for which both are printed; `column` is "german" or "french"."""
    found = {name: (getattr(s, f"{column}_cost"), getattr(s, column)) for name, s in SYSTEMS.items()}
    return {name: (cost, score) for name, (cost, score) in found.items() if cost is not None and score is not None}


def lead(column: str) -> float:
    """BLEU of the big Transformer over the best of the systems before."""
    scores = {name: float(getattr(s, column) or 0) for name, s in SYSTEMS.items()}
    return scores["Transformer (big)"] - max(
        score for name, score in scores.items() if not name.startswith("Transformer")
    )


def front(found: dict[str, tuple[float, float]]) -> set[str]:
    """The systems that no other one beats in cost and in BLEU (Pareto)."""

    def beaten(name: str) -> bool:
        cost, score = found[name]
        return any(c <= cost and s >= score and (c, s) != (cost, score) for c, s in found.values())

    return {name for name in found if not beaten(name)}
