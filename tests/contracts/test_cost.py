"""What `cost` says is what is counted: bytes of a file, formulas, torch's counter where no kernel hides products."""

import struct
from pathlib import Path
from typing import Any

import pytest
import torch
from tiny import (
    ACROSS,
    CHANNELS,
    CLASSES,
    CLASSIFY,
    HEADS,
    HEIGHT,
    INNER,
    SEE,
    SMALL,
    SOURCE,
    TARGET,
    TRANSLATE,
    VOCABULARY,
    WIDTH,
    WRITE,
    model,
    options,
)
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from headway.core.errors import UsageError
from headway.core.files import write_tensors
from headway.inspect.cost import cost
from headway.models.weights import saved_tensors

LENGTH, DEPTH = 5, int(SMALL["depth"])


def text(length: int = LENGTH) -> Tensor:
    return torch.zeros(1, length, dtype=torch.long)


# What a model is given, and how many predictions that makes.
INPUTS: dict[tuple[str, str], tuple[tuple[Tensor, ...], int]] = {
    WRITE: ((text(),), LENGTH),
    TRANSLATE: ((text(SOURCE), text(SOURCE) == 0, text()), LENGTH),
    CLASSIFY: ((text(), text() == 0), 1),
    SEE: ((torch.zeros(3, CHANNELS, HEIGHT, ACROSS),), 3),
}
CASES = [(kind, name, chosen) for kind in INPUTS for name, chosen in options(kind)]
EVERY = pytest.mark.parametrize(("kind", "name", "chosen"), CASES, ids=[f"{n} {c}" for _, n, c in CASES])


@EVERY
def test_parameters_and_bytes_are_those_of_the_file(
    tmp_path: Path, kind: tuple[str, str], name: str, chosen: dict[str, Any]
) -> None:
    net, path, (inputs, per) = model(name, chosen), tmp_path / "weights.safetensors", INPUTS[kind]
    found, buffers = cost(net, *inputs, per=per), {key for key, _ in net.named_buffers()}
    unique = {tensor.data_ptr(): tensor.numel() for key, tensor in net.state_dict().items() if key not in buffers}
    assert found.parameters == sum(unique.values())
    write_tensors(path, saved_tensors(net))
    with path.open("rb") as file:
        (header,) = struct.unpack("<Q", file.read(8))  # what safetensors puts before the numbers
    assert found.bytes == path.stat().st_size - 8 - header


@EVERY
def test_no_kernel_hides_its_products(kind: tuple[str, str], name: str, chosen: dict[str, Any]) -> None:
    """In double precision and with attention written out, every product is one that torch's counter sees."""
    net, open_net, (inputs, per) = model(name, chosen), model(name, chosen).double().requires_grad_(False), INPUTS[kind]
    found = cost(net, *inputs, per=per)
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        open_net.logits(open_net(*(i.double() if i.is_floating_point() else i for i in inputs)))
    assert found.forward * per == counter.get_total_flops()
    if kind == WRITE:
        used = sum(m.weight.numel() for m in open_net.modules() if isinstance(m, nn.Linear))
        assert found.forward >= 2 * used + 2 * VOCABULARY * WIDTH, "a weight is used at least once for every token"


@pytest.mark.parametrize("length", [1, 3, 5])
def test_gpt_costs_what_is_on_paper(length: int) -> None:
    d, f, v = WIDTH, INNER, VOCABULARY
    projections, attention, feedforward = 2 * 4 * d * d, 2 * 2 * length * d, 2 * 2 * d * f
    expected = DEPTH * (projections + attention + feedforward) + 2 * d * v
    assert cost(model("gpt", {}), text(length), per=length).forward == expected
    assert cost(model("gpt", {"heads": 2 * HEADS + 7}), text(length), per=length).forward == expected, (
        "the number of heads costs nothing"
    )


@pytest.mark.parametrize(("mixer", "gates"), [("elman", 1), ("gru", 3), ("lstm", 4)])
def test_recurrences_cost_what_is_on_paper(mixer: str, gates: int) -> None:
    d, f, v = WIDTH, INNER, VOCABULARY
    for length in (1, 5):  # the cost of a token does not depend on how many there are
        found = cost(model("gpt", {"mixer": mixer}), text(length), per=length)
        assert found.forward == DEPTH * (2 * 2 * gates * d * d + 2 * 2 * d * f) + 2 * d * v


def test_the_transformer_costs_what_is_on_paper() -> None:
    d, f, v, s, t = WIDTH, INNER, VOCABULARY, SOURCE, TARGET
    encoder = s * (2 * 4 * d * d + 2 * 2 * s * d + 2 * 2 * d * f)
    decoder = t * (2 * 4 * d * d + 2 * 2 * t * d + 2 * 2 * d * f)
    cross = s * 2 * 2 * d * d + t * (2 * 2 * d * d + 2 * 2 * s * d)  # keys and values once per source position
    found = cost(model("transformer", {}), text(s), text(s) == 0, text(t), per=t)
    assert found.forward * t == pytest.approx(DEPTH * (encoder + decoder + cross) + t * 2 * d * v, rel=1e-12)


def test_an_mlp_costs_what_is_on_paper() -> None:
    """Two products for every weight, whatever the size of the batch."""
    pixels, d = CHANNELS * HEIGHT * ACROSS, WIDTH
    found = cost(model("mlp", {}), torch.zeros(3, CHANNELS, HEIGHT, ACROSS), per=3, unit="picture")
    assert found.forward == 2 * (pixels * d + (DEPTH - 1) * d * d + d * CLASSES)
    assert str(found).endswith("MFLOP per picture of a training step")


def test_a_cnn_costs_what_is_on_paper() -> None:
    """Every filter at every pixel: 7 x 11 of them, then 3 x 5, and 1 x 2 for the full layer."""
    found = cost(model("cnn", {}), torch.zeros(3, CHANNELS, HEIGHT, ACROSS), per=3, unit="picture")
    assert (HEIGHT, ACROSS, DEPTH) == (7, 11, 2)
    stages = 7 * 11 * 3 * 3 * CHANNELS * 5 + 3 * 5 * 3 * 3 * 5 * 10
    assert found.forward == 2 * (stages + 1 * 2 * 10 * WIDTH + WIDTH * CLASSES)


def test_a_training_step_is_three_forward_passes() -> None:
    net = model("gpt", {}).train()
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        net.logits(net(text())).sum().backward()
    assert cost(net, text(), per=LENGTH).training * LENGTH == counter.get_total_flops()


def test_the_model_is_left_as_it_was() -> None:
    net = model("gpt", {"position": "learned"}).train()
    cost(net, text(), per=LENGTH)
    assert net.training and net.blocks[0].training
    with pytest.raises(UsageError):
        cost(net, text(int(SMALL["context"]) + 1), per=1)
    assert net.training
