"""Training and decoding speed of the Transformer beside its peers, in one run on this machine: `make benchmark`.

Same model for all: width 256, 3 + 3 layers, 4 heads, feed-forward 1024, one vocabulary of 8,000 for source, target and output, dropout
0.1, 128 sentences of 16 + 16 tokens, AdamW with gradient clipping. Each system is a process of its own, set up as its users would have
it (the allocator and thread settings of Headway are Headway's). The systems take turns, and the fastest round of each counts: what else
the machine does slows all of them, not one. Speeds are ratios: to the better peer, and to the rate at which this machine multiplies
matrices (2048 x 1024 by 1024 x 1024), measured between the rounds.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

WIDTH, DEPTH, HEADS, INNER, VOCABULARY = 256, 3, 4, 1024, 8000
BATCH, SOURCE, TARGET, DROPOUT = 128, 16, 16, 0.1
SENTENCES, BATCHES = 64, 6  # to decode: batches of 64, as a file of sentences gives them
PAD, BOS, EOS = 0, 1, 2


def flops_per_step() -> float:
    """Multiply-adds of forward and backward (three times forward), counted from the matrix products of the model."""
    d, f = WIDTH, INNER
    encoder = DEPTH * (4 * d * d + 2 * d * f)
    decoder = DEPTH * (6 * d * d + 2 * d * f)
    cross_memory = DEPTH * 2 * d * d
    attention = DEPTH * 2 * d * (SOURCE * SOURCE + TARGET * TARGET + TARGET * SOURCE)
    per_sentence = SOURCE * (encoder + cross_memory) + TARGET * (decoder + d * VOCABULARY) + attention
    return 3 * 2 * BATCH * per_sentence


# -- the systems: each function returns what one call of the measured thing is ------------------------------------------------------


def batch() -> tuple[Any, Any, Any]:
    import torch

    torch.manual_seed(0)
    source, target = torch.randint(4, VOCABULARY, (BATCH, SOURCE)), torch.randint(4, VOCABULARY, (BATCH, TARGET + 1))
    return source, target[:, :-1].contiguous(), target[:, 1:].contiguous()


def step_of(model: Any, loss: Callable[[Any], Any], fused: bool) -> Callable[[], None]:
    """Forward, backward, clipping, update."""
    import torch

    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=fused)

    def step() -> None:
        loss(model).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    return step


def headway_model() -> Any:
    from headway.core import machine

    machine.prepare()
    from headway.models.transformer import Config, Transformer

    config = Config(width=WIDTH, depth=DEPTH, heads=HEADS, inner=INNER, dropout=DROPOUT)
    return Transformer(config, VOCABULARY, VOCABULARY)


def train_headway() -> Callable[[], None]:
    model = headway_model()
    from headway.layers.cross_entropy import linear_cross_entropy

    source, given, wanted = batch()
    keep = source != PAD

    def loss(m: Any) -> Any:
        hidden = m(source, keep, given).flatten(0, 1)
        return linear_cross_entropy(hidden, m.output.weight, wanted.flatten(), 0.1)[0] / wanted.numel()

    return step_of(model, loss, fused=True)


def train_torch() -> Callable[[], None]:
    """`nn.Transformer` with tied embeddings, as its documentation uses it."""
    import torch
    import torch.nn.functional as F

    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embedding = torch.nn.Embedding(VOCABULARY, WIDTH)
            self.position = torch.nn.Parameter(torch.zeros(64, WIDTH))
            self.body = torch.nn.Transformer(WIDTH, HEADS, DEPTH, DEPTH, INNER, DROPOUT, batch_first=True, norm_first=True)

        def embed(self, ids: Any) -> Any:
            return self.embedding(ids) * WIDTH**0.5 + self.position[: ids.shape[1]]

        def forward(self, source: Any, target: Any) -> Any:
            mask = torch.nn.Transformer.generate_square_subsequent_mask(target.shape[1])
            hidden = self.body(self.embed(source), self.embed(target), tgt_mask=mask, tgt_is_causal=True)
            return F.linear(hidden, self.embedding.weight)

    source, given, wanted = batch()
    return step_of(Model(), lambda m: F.cross_entropy(m(source, given).flatten(0, 1), wanted.flatten(), label_smoothing=0.1), fused=False)


def marian() -> Any:
    from transformers import MarianConfig, MarianMTModel

    config = MarianConfig(
        vocab_size=VOCABULARY, d_model=WIDTH, encoder_layers=DEPTH, decoder_layers=DEPTH, encoder_attention_heads=HEADS,
        decoder_attention_heads=HEADS, encoder_ffn_dim=INNER, decoder_ffn_dim=INNER, dropout=DROPOUT, activation_function="relu",
        max_position_embeddings=64, pad_token_id=PAD, eos_token_id=EOS, decoder_start_token_id=BOS, bos_token_id=BOS,
        forced_eos_token_id=None, scale_embedding=True, bad_words_ids=None,
    )  # fmt: skip
    return MarianMTModel(config)


def train_marian() -> Callable[[], None]:
    import torch.nn.functional as F

    source, given, wanted = batch()

    def loss(m: Any) -> Any:
        logits = m(input_ids=source, decoder_input_ids=given).logits
        return F.cross_entropy(logits.flatten(0, 1), wanted.flatten(), label_smoothing=0.1)

    return step_of(marian(), loss, fused=False)


def sentences() -> Any:
    import torch

    torch.manual_seed(1)
    return torch.randint(4, VOCABULARY, (SENTENCES, 14))


def decode_headway() -> Callable[[], None]:
    model = headway_model().eval()
    model.output.weight.data[EOS] = 0  # never the most probable: every sentence is as long as the peer's
    from headway.decode.greedy import greedy
    from headway.decode.side_by_side import side_by_side

    source = sentences()

    def one(_: int) -> None:
        found = greedy(model, source, source != PAD, BOS, EOS, [TARGET - 1] * SENTENCES)  # and the end mark: 16 steps, as the peer
        if any(len(h.ids) != TARGET - 1 for h in found):
            raise SystemExit("a sentence ended early: the comparison would not be fair")

    def decode() -> None:
        side_by_side(one, range(BATCHES))

    return decode


def decode_marian() -> Callable[[], None]:
    import torch

    model, source = marian().eval(), sentences()
    length = {"max_new_tokens": TARGET, "min_new_tokens": TARGET}

    def decode() -> None:
        for _ in range(BATCHES):
            with torch.inference_mode():
                out = model.generate(source, attention_mask=(source != PAD).long(), num_beams=1, do_sample=False, **length)
            if out.shape[1] != TARGET + 1:
                raise SystemExit(f"Hugging Face wrote {out.shape[1] - 1} tokens instead of {TARGET}")

    return decode


def multiply() -> Callable[[], None]:
    from headway.core import machine

    machine.prepare()
    import torch

    a, b = torch.randn(2048, 1024), torch.randn(1024, 1024)
    return lambda: [a @ b for _ in range(10)] and None


SYSTEMS: dict[str, Callable[[], Callable[[], None]]] = {
    "matrix rate": multiply,
    "train: headway": train_headway,
    "train: torch nn.Transformer": train_torch,
    "train: Hugging Face Marian": train_marian,
    "decode: headway": decode_headway,
    "decode: Hugging Face generate": decode_marian,
}


# -- measuring ------------------------------------------------------------------------------------------------------------------------


def worker(name: str) -> None:
    """One system in its own process: for every line that comes in, time three calls and print the seconds of the fastest."""
    if "headway" in name or name == "matrix rate":
        import headway  # noqa: F401 - first of all, as a user of Headway has it: it decides how torch's threads wait
    call = SYSTEMS[name]()
    call()
    print("ready", flush=True)
    for _ in sys.stdin:
        times = []
        for _ in range(3):
            began = time.perf_counter()
            call()
            times.append(time.perf_counter() - began)
        print(min(times), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--worker", choices=SYSTEMS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        worker(arguments.worker)
        return

    processes = {}
    for name in SYSTEMS:
        command = [sys.executable, __file__, "--worker", name]
        processes[name] = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        while processes[name].stdout.readline().strip() != "ready":
            if processes[name].poll() is not None:
                raise SystemExit(f"{name} did not start")
    best = dict.fromkeys(SYSTEMS, float("inf"))
    for _ in range(arguments.rounds):
        for name, process in processes.items():
            process.stdin.write("go\n")
            process.stdin.flush()
            best[name] = min(best[name], float(process.stdout.readline()))
    for process in processes.values():
        process.stdin.close()

    rate = 10 * 2 * 2048 * 1024 * 1024 / best["matrix rate"]
    print(f"\nthis machine multiplies matrices at {rate / 1e9:.0f} GFLOP/s\n")
    print("training step (128 x 16 target tokens)     seconds   tokens/s   share of the matrix rate")
    trained = {name.partition(": ")[2]: seconds for name, seconds in best.items() if name.startswith("train")}
    for name, seconds in trained.items():
        print(f"  {name:38} {seconds:9.3f} {BATCH * TARGET / seconds:10,.0f}   {flops_per_step() / seconds / rate:.2f}")
    peer = min(seconds for name, seconds in trained.items() if name != "headway")
    print(f"  headway is {peer / trained['headway']:.2f} times as fast as the better peer\n")
    print("greedy decoding, batches of 64, 14 tokens in, 16 out     sentences/s")
    decoded = {name.partition(": ")[2]: seconds for name, seconds in best.items() if name.startswith("decode")}
    for name, seconds in decoded.items():
        print(f"  {name:38} {BATCHES * SENTENCES / seconds:9.0f}")
    print(f"  headway is {decoded['Hugging Face generate'] / decoded['headway']:.2f} times as fast")
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump({"rate": rate, "flops": flops_per_step(), "seconds": best}, file, indent=2)


if __name__ == "__main__":
    main()
