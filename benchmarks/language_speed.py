"""Speed of language models: training steps as a share of the matrix rate, Muon's part of a step, mamba beside lru, our LSTM beside
torch's, generation beside Hugging Face's GPT-2.

    python benchmarks/language_speed.py

gpt: width 256, 4 blocks, context 256, 4,096 tokens; the share counts the products of the model (forward and backward) against the rate
at which this machine multiplies 2048 x 1024 by 1024 x 1024. Muon's part is the time that its orthogonalisation takes out of a step.
mamba and lru: language models of as many parameters (about those of lru with width 128 and 4 blocks), 12 texts of 128 characters. LSTM:
32 texts of 128 positions, width 256. Generation: the 64 most probable tokens after one, by the gpt above and by
`GPT2LMHeadModel.generate` of the same sizes (if transformers is installed: peers.txt), for 1 and for 16 texts. All take turns, and medians
over the rounds count: what else the machine does meets all alike. `--profile` prints where the time of the training steps goes instead
(torch's profiler). `--processor-time` counts the process's own seconds, on a machine that others use at the same time; with one thread
these are what the clock would show if it were alone.
"""

import argparse
import importlib.util
import time
from collections.abc import Callable, Mapping
from functools import partial
from itertools import islice
from statistics import median

import headway  # noqa: F401 - before torch: it decides how torch's threads wait

# isort: split
import torch
from rows import Row, append_rows
from torch import Tensor, nn
from torch.profiler import record_function
from where import table

from headway.compare.equal_sizes import equal_sizes
from headway.core import machine
from headway.core.config import Choice
from headway.decode.sample import sample
from headway.layers.cross_entropy import linear_cross_entropy
from headway.layers.recurrences.lstm import LSTM
from headway.models.build import build_model
from headway.training.learner import Learner
from headway.training.optimizers import muon
from headway.training.plan import Settings

WIDTH, DEPTH, CONTEXT, ROWS, WORDS = 256, 4, 256, 16, 260
WRITTEN, TEXTS = 64, (1, 16)  # tokens that are generated, for so many texts at a time


class Orthogonalisation:
    """`muon.all_orthogonalised`, with the time that it takes."""

    def __init__(self) -> None:
        self.times: list[float] = []  # of each step
        self.inside = muon.all_orthogonalised
        self.clock: Callable[[], float] = time.perf_counter
        muon.all_orthogonalised = self  # type: ignore[assignment]

    def __call__(self, batches: list[Tensor]) -> list[Tensor]:
        began = self.clock()
        with record_function("orthogonalisation"):
            found = self.inside(batches)
        self.times.append(self.clock() - began)
        return found


def medians(calls: Mapping[str, Callable[[], object]], rounds: int, clock: Callable[[], float]) -> dict[str, float]:
    """Seconds of each call, which take turns; the first round is not counted."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds + 1):
        for name, call in calls.items():
            began = clock()
            call()
            times[name].append(clock() - began)
    return {name: median(found[1:]) for name, found in times.items()}


def stepper(model: nn.Module, optimizer: str, rows: int, length: int) -> Callable[[], None]:
    """One training step on random tokens: forward, backward, clipping, update, running average."""
    learner = Learner(model, Settings(1, 1, 1e-3, optimizer=optimizer))
    ids = torch.randint(0, WORDS, (rows, length + 1))

    def step() -> None:
        loss, _ = linear_cross_entropy(model(ids[:, :-1]).flatten(0, 1), model.output.weight, ids[:, 1:].flatten())
        (loss / ids.numel()).backward()
        with record_function("update"):
            learner.step(1e-3, learner.norm(), 1.0, 0.9)

    return step


def write(model: nn.Module, texts: int) -> Callable[[], object]:
    """As many tokens as `WRITTEN`, after one."""
    model.eval()
    prompt = torch.full((texts, 1), 5)
    return lambda: list(islice(sample(model, prompt, 0.0, None, 1.0, 0, CONTEXT), WRITTEN))


def write_hugging_face(texts: int) -> Callable[[], object]:
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(vocab_size=WORDS, n_positions=CONTEXT, n_embd=WIDTH, n_layer=DEPTH, n_head=4, bos_token_id=0, eos_token_id=None)
    model, prompt = GPT2LMHeadModel(config).eval(), torch.full((texts, 1), 5)
    length = {"max_new_tokens": WRITTEN, "min_new_tokens": WRITTEN, "do_sample": False, "pad_token_id": 0}

    def generate() -> None:
        with torch.inference_mode():
            if model.generate(prompt, attention_mask=torch.ones_like(prompt), **length).shape[1] != WRITTEN + 1:
                raise SystemExit("Hugging Face did not write as many tokens as we")

    return generate


def backward(layer: Callable[[Tensor], Tensor], x: Tensor) -> None:
    layer(x).sum().backward()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--rows", metavar="FILE", help="append the ratios to this file")
    parser.add_argument("--profile", action="store_true", help="print where the time of a step goes, and nothing else")
    parser.add_argument("--processor-time", action="store_true", help="count the seconds of this process, not those of the clock")
    a = parser.parse_args()
    machine.prepare()
    torch.manual_seed(0)
    left, right = torch.randn(2048, 1024), torch.randn(1024, 1024)
    gpt = Choice("gpt", {"width": WIDTH, "depth": DEPTH, "heads": 4, "inner": 4 * WIDTH, "context": CONTEXT})
    small = {name: Choice("gpt", {"mixer": name, "width": 128, "depth": 4, "inner": 512}) for name in ("lru", "mamba")}
    equal = equal_sizes(small, {"vocabulary": WORDS})
    x, ours, theirs = torch.randn(32, 128, WIDTH, requires_grad=True), LSTM(WIDTH, WIDTH), nn.LSTM(WIDTH, WIDTH, batch_first=True)
    inside = Orthogonalisation()
    steps = {
        **{o: stepper(build_model(gpt, {"vocabulary": WORDS}), o, ROWS, CONTEXT) for o in ("adamw", "muon")},
        **{n: stepper(build_model(c, {"vocabulary": WORDS}), "adamw", 12, 128) for n, (c, _) in equal.items()},
    }
    if a.profile:
        titles = {"adamw": "gpt, AdamW", "muon": "gpt, Muon", "lru": "lru", "mamba": "mamba"}
        print(table({titles[name]: step for name, step in steps.items()}, a.rounds))
        return
    clock = inside.clock = time.process_time if a.processor_time else time.perf_counter
    writers = {f"write {n}": write(build_model(gpt, {"vocabulary": WORDS}), n) for n in TEXTS}
    if importlib.util.find_spec("transformers"):
        writers |= {f"Hugging Face {n}": write_hugging_face(n) for n in TEXTS}
    found = medians(
        {
            **writers,
            "matrix rate": lambda: [left @ right for _ in range(10)],
            **steps,
            "our LSTM": partial(backward, ours, x),
            "torch's LSTM": partial(backward, lambda z: theirs(z)[0], x),
        },
        a.rounds,
        clock,
    )
    rate = 10 * 2 * 2048 * 1024 * 1024 / found["matrix rate"]
    tokens = ROWS * CONTEXT
    products = DEPTH * 12 * WIDTH * WIDTH + WORDS * WIDTH + DEPTH * WIDTH * CONTEXT  # of the scores only half: they are causal
    shares = {o: 3 * 2 * tokens * products / found[o] / rate for o in ("adamw", "muon")}
    per_step = len(inside.times) // (a.rounds + 1)  # calls: one for each shape
    each = [sum(inside.times[i : i + per_step]) for i in range(per_step, len(inside.times), per_step)]
    own = median(each) / found["muon"]
    print(f"matrix rate {rate / 1e9:.0f} GFLOP/s, {torch.get_num_threads()} threads, medians of {a.rounds} rounds")
    for name, share in shares.items():
        print(f"gpt, width {WIDTH}, {name}: {found[name]:.3f} s a step, {tokens / found[name]:,.0f} tokens/s, {share:.2f} of the rate")
    print(f"Muon's products: {own:.1%} of a step")
    sizes = ", ".join(f"{name} {count:,} parameters {1e3 * found[name]:.0f} ms" for name, (_, count) in equal.items())
    print(f"a step of 12 x 128 tokens: {sizes}: mamba takes {found['mamba'] / found['lru']:.1f} times as long")
    lstm = found["torch's LSTM"] / found["our LSTM"]
    print(f"LSTM, width {WIDTH}: {lstm:.2f} times as fast as torch's")
    written = [(n, found[f"Hugging Face {n}"] / found[f"write {n}"]) for n in TEXTS if f"Hugging Face {n}" in found]
    for n, ratio in written:
        print(f"{WRITTEN} tokens of {n} texts by gpt: {1e3 * found[f'write {n}']:.0f} ms, {ratio:.2f} times as fast as GPT-2's")
    append_rows(
        a.rows,
        [
            *(Row(f"generation, gpt of width {WIDTH}, texts: {n}", "Hugging Face GPT-2", ratio, least=1.0) for n, ratio in written),
            Row(f"training step, gpt of width {WIDTH}, AdamW", "matrix rate", shares["adamw"], least=0.75),
            Row(f"training step, gpt of width {WIDTH}, Muon", "matrix rate", shares["muon"]),
            Row("Muon's own products", "whole step", own, most=0.15),
            Row("training step, mamba (time)", "lru of equal size", found["mamba"] / found["lru"], most=3.0),
            Row("LSTM, forward and backward", "torch nn.LSTM", lstm),
        ],
    )


if __name__ == "__main__":
    main()
