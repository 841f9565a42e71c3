"""The tent map as a net, and its powers: sawtooth functions."""

from headway.lab.relu_net import ReluNet, hinges, power

TENT = hinges([0, 0.5, 1], [2, -4, 2])  # Δ(x) = 2σ(x) - 4σ(x - ½) + 2σ(x - 1) on the whole line
TENT_ON_UNIT = hinges([0, 0.5], [2, -4])  # the same on [0, 1], where the third unit is always 0


def teeth(p: int, tent: ReluNet = TENT) -> ReluNet:
    """Δ^p = Δ ∘ … ∘ Δ as a net: `TENT` on the line (3p units), `TENT_ON_UNIT` on [0, 1] (2p units)."""
    return power(tent, p)
