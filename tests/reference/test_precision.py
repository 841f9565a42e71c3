"""bfloat16 is chosen only if it survives and is faster, trains like float32, and leaves the weights in float32."""

import json
import subprocess
import sys
import time

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from headway.core.errors import UnknownName
from headway.layers.cross_entropy import linear_cross_entropy
from headway.models.gpt import GPT, Config
from headway.training import precision
from headway.training.precision import Arithmetic, autocast, choose_precision, faster

CPU = torch.device("cpu")
ILLEGAL = "import os, signal; os.kill(os.getpid(), signal.SIGILL)"


def child(code: str) -> list[str]:
    return [sys.executable, "-c", code]


@pytest.mark.parametrize(
    ("times", "expected"),
    [((1.0, 0.5), "bfloat16"), ((1.0, 0.95), "float32"), ((1.0, 2.0), "float32")],
)
def test_the_clock_decides(times: tuple[float, float], expected: str) -> None:
    measured = json.dumps(dict(zip(("float32", "bfloat16"), times, strict=True)))
    assert faster(child(f"print('{measured}')")) == expected


@pytest.mark.parametrize(
    "code",
    [
        ILLEGAL,
        'print(\'{"float32": 1, "bfloat16": 0.1}\', flush=True); ' + ILLEGAL,
        "raise SystemExit(1)",
        "print('no times')",
        "print('{}')",
        "print('[1]')",
    ],
)
def test_a_child_that_dies_or_says_nothing_gives_float32(code: str) -> None:
    assert faster(child(code)) == "float32"
    assert faster(["/no/such/program"]) == "float32"


def test_a_child_that_hangs_is_ended() -> None:
    began = time.monotonic()
    assert faster(child("import time; time.sleep(60)"), timeout=0.5) == "float32"
    assert time.monotonic() - began < 10


def test_what_is_asked_for_is_taken_and_auto_is_measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    commands = []

    def measure(command: list[str]) -> Arithmetic:
        commands.append(command)
        return "bfloat16"

    precision._measured.cache_clear()
    monkeypatch.setattr(precision, "faster", measure)
    assert (
        choose_precision("float32", CPU) == "float32"
        and choose_precision("bfloat16", CPU) == "bfloat16"
        and not commands
    )
    assert [choose_precision("auto", CPU) for _ in range(3)] == ["bfloat16"] * 3
    assert commands == [[sys.executable, "-P", str(precision.PROBE), "1"]], (
        "one child, with as many threads as this process"
    )
    assert choose_precision("auto", torch.device("mps")) == "float32"
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: not including_emulation)
    assert choose_precision("auto", torch.device("cuda")) == "bfloat16"
    precision._measured.cache_clear()
    with pytest.raises(UnknownName, match="unknown precision `bfloat61`\nHint: did you mean `bfloat16`"):
        choose_precision("bfloat61", CPU)  # type: ignore[arg-type]


def test_the_probe_prints_both_times() -> None:
    done = subprocess.run(
        [sys.executable, "-P", str(precision.PROBE), "1"], capture_output=True, text=True, timeout=120
    )
    if done.returncode < 0:
        pytest.skip("bfloat16 ends the process here: what the probe is for")
    assert done.returncode == 0, done.stderr
    times = json.loads(done.stdout)
    assert set(times) == {"float32", "bfloat16"} and min(times.values()) > 0


def trained(kind: Arithmetic) -> tuple[list[float], GPT]:
    torch.manual_seed(1)
    model = GPT(Config(width=32, depth=2, heads=2, inner=64, context=16), 23)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    ids = torch.randint(23, (8, 17), generator=torch.Generator().manual_seed(2))
    losses = []
    for _ in range(30):
        with autocast(CPU, kind):
            loss, _ = linear_cross_entropy(
                model(ids[:, :-1]).flatten(0, 1), model.output.weight, ids[:, 1:].flatten(), 0.1
            )
        optimizer.zero_grad()
        (loss / ids[:, 1:].numel()).backward()
        optimizer.step()
        losses.append(loss.item() / ids[:, 1:].numel())
    return losses, model


def test_training_in_bfloat16_is_close_to_training_in_float32() -> None:
    (full, _), (low, model) = trained("float32"), trained("bfloat16")
    assert full[-1] < 0.8 * full[0], "nothing was learned, so nothing is compared"
    assert low != full, "bfloat16 was not used"
    assert low == pytest.approx(full, rel=0.03)
    assert all(
        p.dtype == torch.float32 and p.grad is not None and p.grad.dtype == torch.float32 for p in model.parameters()
    )


def gradients(loss: Tensor, *of: Tensor) -> tuple[Tensor, ...]:
    return torch.autograd.grad(loss, of)


@pytest.mark.parametrize("chunk", [64, 1 << 22])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_the_loss_under_autocast_is_torchs(monkeypatch: pytest.MonkeyPatch, chunk: int, smoothing: float) -> None:
    """Whatever the type of the hidden states, in one chunk or in many: sums of chunks are not rounded to 8 bits."""
    monkeypatch.setattr("headway.layers.cross_entropy.CHUNK", chunk)
    weight, target = torch.randn(50, 16, requires_grad=True), torch.randint(50, (300,))
    for kind in (torch.float32, torch.bfloat16):
        hidden = torch.randn(300, 16).to(kind).requires_grad_()
        expected = F.cross_entropy(F.linear(hidden.float(), weight), target, reduction="sum", label_smoothing=smoothing)
        with torch.autocast("cpu", torch.bfloat16):
            found, _ = linear_cross_entropy(hidden, weight, target, smoothing)
        assert found.dtype == torch.float32 and found.item() == pytest.approx(expected.item(), rel=2e-3)
        for mine, torchs in zip(gradients(found, hidden, weight), gradients(expected, hidden, weight), strict=True):
            assert mine.dtype == torchs.dtype and (mine - torchs).norm() < 8e-3 * torchs.norm()
