"""What a person says of the devices that would train: `8 x 80GB@989TFLOPS@700W`."""

import re
from dataclasses import dataclass

from headway.core.errors import UsageError

UTILISATION = 0.4  # of the peak rate; large models reach 0.3 to 0.5: Chowdhery et al. 2022, https://arxiv.org/abs/2204.02311, table 3
BYTES = {"MB": 1e6, "GB": 1e9, "TB": 1e12}
RATES = {"GFLOPS": 1e9, "TFLOPS": 1e12, "PFLOPS": 1e15}
COUNTS = {"": 1.0, "K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}
NUMBER = r"(\d+(?:\.\d+)?)"
FORM = re.compile(
    rf"\s*(?:(\d+)\s*x\s*)?{NUMBER}\s*(MB|GB|TB)\s*@\s*{NUMBER}\s*([GTP]FLOPS)(?:\s*@\s*{NUMBER}\s*W)?\s*",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Devices:
    """Equal devices that train one model together."""

    count: int
    memory: float  # bytes of one device
    rate: float  # FLOP/s of one device at its best, in the precision of training
    power: float | None = None  # watts of one device
    utilisation: float = UTILISATION  # the share of the rate that a training step reaches
    assumed: bool = True  # whether the utilisation is an assumption, and not measured

    def describe(self) -> str:
        power = f", {self.power:g} W" if self.power else ""
        return f"{self.count} x {self.memory / 1e9:,.0f} GB, {self.rate / 1e12:,.4g} TFLOP/s{power}"


def parse_devices(text: str, utilisation: float = UTILISATION) -> Devices:
    """`[count x] memory @ peak rate [@ power]`, such as `8 x 80GB@989TFLOPS@700W`."""
    found = FORM.fullmatch(text)
    hint = 'for example `--devices "8 x 80GB@989TFLOPS@700W"`: how many, memory, peak rate and (if you like) power of each.'
    if not found:
        raise UsageError(f"`--devices {text}` is not understood", hint)
    count, memory, unit, rate, speed, power = found.groups()
    devices = Devices(
        int(count or 1),
        float(memory) * BYTES[unit.upper()],
        float(rate) * RATES[speed.upper()],
        float(power) if power else None,
        utilisation,
    )
    if not (devices.count and devices.memory and devices.rate):
        raise UsageError(f"`--devices {text}`: every number must be above zero", hint)
    if not 0 < utilisation <= 1:
        raise UsageError(
            f"`--utilisation {utilisation:g}` must be above 0 and at most 1", "large models reach 0.3 to 0.5."
        )
    return devices


def parse_count(text: str, option: str) -> float:
    """A number that may end in K, M, B or T: `300B` tokens."""
    found = re.fullmatch(rf"\s*{NUMBER}\s*([KMBT]?)\s*", text, re.IGNORECASE)
    if not found or not float(found[1]):
        raise UsageError(
            f"`{option} {text}` is not a number of tokens", f"for example `{option} 300B` or `{option} 26000000`."
        )
    return float(found[1]) * COUNTS[found[2].upper()]
