"""Which device is chosen, on computers that have one, and on this one."""

import pytest
import torch

from headway.core.device import available_devices, choose_device
from headway.core.errors import UsageError


def pretend(monkeypatch: pytest.MonkeyPatch, accelerator: str | None, count: int) -> None:
    """As if torch saw `count` devices of this kind."""
    found = None if accelerator is None else torch.device(accelerator)
    monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda check_available=False: found)
    monkeypatch.setattr(torch.accelerator, "device_count", lambda: count)


@pytest.mark.parametrize(("accelerator", "chosen"), [("cuda", "cuda"), ("mps", "mps"), ("xpu", "cpu"), (None, "cpu")])
def test_auto_takes_a_graphics_processor_if_there_is_one(
    monkeypatch: pytest.MonkeyPatch, accelerator: str | None, chosen: str
) -> None:
    pretend(monkeypatch, accelerator, 1)
    assert choose_device("auto") == choose_device() == torch.device(chosen)
    assert choose_device("cpu") == torch.device("cpu"), "what is asked for is taken, whatever there is"
    if accelerator:
        assert choose_device(accelerator) == torch.device(accelerator)


def test_one_of_several(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, "cuda", 2)
    assert choose_device("cuda:1") == torch.device("cuda", 1)
    with pytest.raises(
        UsageError,
        match=r"there is no device `cuda:2`: torch sees 2 of `cuda`, numbered from 0\nHint: .*`cuda` \(0 to 1\), `cpu`",
    ):
        choose_device("cuda:2")


@pytest.mark.parametrize("name", ["cuda", "cuda:1", "mps", "meta"])
def test_a_device_that_is_not_there(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    pretend(monkeypatch, None, 0)
    with pytest.raises(
        UsageError, match=f"there is no device `{name}`.*\nHint: this computer has `cpu`; `auto` chooses"
    ):
        choose_device(name)


@pytest.mark.parametrize("name", ["gpu", "", "cuda:x", "cpu:-1", "CPU"])
def test_a_name_that_is_no_device(name: str) -> None:
    with pytest.raises(UsageError, match=f"unknown device `{name}`\nHint: this computer has .*`cpu`"):
        choose_device(name)


def test_this_computer_computes_on_what_it_has() -> None:
    for name, count in available_devices().items():
        assert count >= 1 and (torch.ones(2, device=choose_device(name)) + 1).sum().item() == 4
