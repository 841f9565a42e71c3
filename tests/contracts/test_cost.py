"""What `cost` says is what is counted: numbers in a file, formulas on paper, and torch's counter where no kernel hides anything from it."""

import struct
from pathlib import Path
from typing import Any

import pytest
import torch
from tiny import HEADS, INNER, SMALL, SOURCE, TARGET, VOCABULARY, WIDTH, model, options
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from headway.core.errors import UsageError
from headway.core.files import write_tensors
from headway.inspect.cost import cost
from headway.train.checkpoint import stored

CASES = [(name, chosen, None) for name, chosen in options("language")] + [(name, chosen, SOURCE) for name, chosen in options("translation")]
EVERY = pytest.mark.parametrize(("name", "chosen", "source"), CASES, ids=[f"{n} {c}" for n, c, _ in CASES])
LENGTH, DEPTH = 5, int(SMALL["depth"])


def inputs(length: int, source: int | None) -> list[torch.Tensor]:
    ids = torch.zeros(1, length, dtype=torch.long)
    return [ids] if source is None else [ids.new_zeros(1, source), torch.ones(1, source, dtype=torch.bool), ids]


@EVERY
def test_parameters_and_bytes_are_those_of_the_file(tmp_path: Path, name: str, chosen: dict[str, Any], source: int | None) -> None:
    net, path = model(name, chosen), tmp_path / "weights.safetensors"
    found, buffers = cost(net, LENGTH, source), {key for key, _ in net.named_buffers()}
    unique = {tensor.data_ptr(): tensor.numel() for key, tensor in net.state_dict().items() if key not in buffers}
    assert found.parameters == sum(unique.values())
    write_tensors(path, stored(net))
    with path.open("rb") as file:
        (header,) = struct.unpack("<Q", file.read(8))  # what safetensors puts before the numbers
    assert found.bytes == path.stat().st_size - 8 - header


@EVERY
def test_no_kernel_hides_its_products(name: str, chosen: dict[str, Any], source: int | None) -> None:
    """In double precision and with attention written out, every product is one that torch's counter sees."""
    found, open_net = cost(model(name, chosen), LENGTH, source), model(name, chosen).double().requires_grad_(False)
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        open_net.logits(open_net(*inputs(LENGTH, source)))
    assert found.forward * LENGTH == counter.get_total_flops()
    used = sum(m.weight.numel() for m in open_net.modules() if isinstance(m, nn.Linear)) if source is None else 0
    assert found.forward >= 2 * used + 2 * VOCABULARY * WIDTH, "a weight is used at least once for every token"


@pytest.mark.parametrize("length", [1, 3, 5])
def test_gpt_costs_what_is_on_paper(length: int) -> None:
    d, f, v = WIDTH, INNER, VOCABULARY
    projections, attention, feedforward = 2 * 4 * d * d, 2 * 2 * length * d, 2 * 2 * d * f
    expected = DEPTH * (projections + attention + feedforward) + 2 * d * v
    assert cost(model("gpt", {}), length).forward == expected
    assert cost(model("gpt", {"heads": 2 * HEADS + 7}), length).forward == expected, "the number of heads costs nothing"


@pytest.mark.parametrize(("mixer", "gates"), [("elman", 1), ("gru", 3), ("lstm", 4)])
def test_recurrences_cost_what_is_on_paper(mixer: str, gates: int) -> None:
    d, f, v = WIDTH, INNER, VOCABULARY
    for length in (1, 5):  # the cost of a token does not depend on how many there are
        assert cost(model("blocks", {"mixer": mixer}), length).forward == DEPTH * (2 * 2 * gates * d * d + 2 * 2 * d * f) + 2 * d * v


def test_the_transformer_costs_what_is_on_paper() -> None:
    d, f, v, s, t = WIDTH, INNER, VOCABULARY, SOURCE, TARGET
    encoder = s * (2 * 4 * d * d + 2 * 2 * s * d + 2 * 2 * d * f)
    decoder = t * (2 * 4 * d * d + 2 * 2 * t * d + 2 * 2 * d * f)
    cross = s * 2 * 2 * d * d + t * (2 * 2 * d * d + 2 * 2 * s * d)  # keys and values once per source position
    assert cost(model("transformer", {}), t, s).forward * t == pytest.approx(DEPTH * (encoder + decoder + cross) + t * 2 * d * v, rel=1e-12)


def test_a_training_step_is_three_forward_passes() -> None:
    net = model("gpt", {}).train()
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        net.logits(net(*inputs(LENGTH, None))).sum().backward()
    assert cost(net, LENGTH).training * LENGTH == counter.get_total_flops()


def test_the_model_is_left_as_it_was() -> None:
    net = model("gpt", {"position": "learned"}).train()
    cost(net, LENGTH)
    assert net.training and net.blocks[0].training
    with pytest.raises(UsageError):
        cost(net, int(SMALL["context"]) + 1)
    assert net.training
