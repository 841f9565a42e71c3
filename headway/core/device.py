"""The device that tensors are on: a graphics processor if there is one, else the CPU."""

from typing import TYPE_CHECKING

from headway.core.errors import UsageError

if TYPE_CHECKING:
    import torch


def choose_device(name: str = "auto") -> "torch.device":
    """The device of that name: `cpu`, `cuda`, `cuda:1`, `mps` ...

    `auto` takes CUDA if there is any, else Apple's `mps`, else the CPU. A name that torch does not know, or a device
    that this computer does not have, raises a `UsageError` that lists those it has.
    """
    import torch

    there = available_devices()
    if name == "auto":
        preferred = [device for device in ("cuda", "mps") if device in there]
        return torch.device(preferred[0] if preferred else "cpu")
    try:
        device = torch.device(name)
    except (RuntimeError, TypeError) as problem:
        raise UsageError(f"unknown device `{name}`", _hint(there)) from problem
    count = there.get(device.type, 0)
    if not count:
        raise UsageError(f"there is no device `{name}`, or torch was installed without support for it", _hint(there))
    if device.index is not None and device.index >= count:
        raise UsageError(
            f"there is no device `{name}`: torch sees {count} of `{device.type}`, numbered from 0", _hint(there)
        )
    return device


def available_devices() -> dict[str, int]:
    """The devices that torch can compute on here, and how many there are of each."""
    import torch

    devices = {"cpu": 1}
    accelerator = torch.accelerator.current_accelerator(check_available=True)
    return devices if accelerator is None else {accelerator.type: torch.accelerator.device_count()} | devices


def _hint(there: dict[str, int]) -> str:
    names = [f"`{name}`" if count == 1 else f"`{name}` (0 to {count - 1})" for name, count in there.items()]
    return f"this computer has {', '.join(names)}; `auto` chooses."
