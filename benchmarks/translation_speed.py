"""Training and decoding speed of the Transformer beside its peers, in one run on this machine: `make benchmark`.

Same model for all: width 256, 3 + 3 layers, 4 heads, feed-forward 1024, one vocabulary of 8,000 for source, target and output, dropout
0.1, 128 sentences of 16 + 16 tokens, AdamW with gradient clipping. Each system is a process of its own, set up as its users would have
it (the allocator and thread settings of Headway are Headway's). The systems take turns, and the median over the rounds counts. Decoding
is greedy in batches of 64 and one sentence at a time, and beam search with 5 hypotheses in batches of 64; all systems write 16 tokens for
14. CTranslate2 runs the same model, converted (`headway.decode.ctranslate2_engine`). Speeds are ratios: to the peers, and to the rate
at which this machine multiplies matrices (2048 x 1024 by 1024 x 1024), measured between the rounds.

    python benchmarks/translation_speed.py                        all cores, seconds of the clock
    python benchmarks/translation_speed.py --threads 1            one thread for each system, seconds of the processor
"""

import argparse
import json
import os
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from rows import Row, append_rows
from turns import serve, take_turns

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


def decode_headway(beam: int, count: int, batches: int) -> Callable[[], None]:
    model = headway_model()
    model.output.weight.data[EOS] = 0
    model.eval()
    from headway.core.side_by_side import side_by_side
    from headway.decode.beam import beam_search
    from headway.decode.greedy import greedy

    source = sentences()[:count]
    arguments = (model, source, source != PAD, BOS, EOS, [TARGET - 1] * count)  # and the end mark: 16 steps, as the peers

    def one(_: int) -> None:
        found = greedy(*arguments) if beam == 1 else [h[0] for h in beam_search(*arguments, beam)]
        if any(len(h.ids) != TARGET - 1 for h in found):
            raise SystemExit("a sentence ended early: the comparison would not be fair")

    return lambda: side_by_side(one, range(batches)) and None


def decode_ctranslate2(beam: int, count: int, batches: int, int8: bool = False) -> Callable[[], None]:
    """The library itself, with its own search; as many tokens as the others write."""
    import tempfile

    import ctranslate2

    model = headway_model().eval()
    from headway.decode.ctranslate2_engine import convert

    class Names:
        bos, eos, unknown, vocabulary = BOS, EOS, 3, [f"w{i}" for i in range(VOCABULARY)]

    with tempfile.TemporaryDirectory() as folder:
        convert(model, Names, Names, folder, int8)  # type: ignore[arg-type]
        kind = "int8" if int8 else "float32"
        cores = int(os.environ["OMP_NUM_THREADS"])
        inter, intra = (cores, 1) if batches > 1 else (1, cores)  # batches side by side, as we do; one sentence on all cores
        translator = ctranslate2.Translator(folder, compute_type=kind, inter_threads=inter, intra_threads=intra)
    rows = [[f"w{i}" for i in row] for row in sentences()[:count].tolist()] * batches
    length = {"min_decoding_length": TARGET, "max_decoding_length": TARGET}

    def decode() -> None:
        found = translator.translate_batch(rows, beam_size=beam, max_batch_size=count, **length)
        if any(len(f.hypotheses[0]) != TARGET for f in found):
            raise SystemExit("CTranslate2 did not write as many tokens as the others")

    return decode


def decode_marian(beam: int, count: int, batches: int) -> Callable[[], None]:
    import torch

    model, source = marian().eval(), sentences()[:count]
    length = {"max_new_tokens": TARGET, "min_new_tokens": TARGET}

    def decode() -> None:
        for _ in range(batches):
            with torch.inference_mode():
                out = model.generate(source, attention_mask=(source != PAD).long(), num_beams=beam, do_sample=False, **length)
            if out.shape[1] != TARGET + 1:
                raise SystemExit(f"Hugging Face wrote {out.shape[1] - 1} tokens instead of {TARGET}")

    return decode


def multiply() -> Callable[[], None]:
    from headway.core import machine

    machine.prepare()
    import torch

    a, b = torch.randn(2048, 1024), torch.randn(1024, 1024)
    return lambda: [a @ b for _ in range(10)] and None


KINDS = {"greedy, 64": (1, SENTENCES, BATCHES), "beam 5, 64": (5, SENTENCES, 2), "one sentence": (1, 1, 1)}  # beam, sentences, batches
DECODERS: dict[str, Callable[[int, int, int], Callable[[], None]]] = {
    "headway": decode_headway,
    "CTranslate2 float32": decode_ctranslate2,
    "CTranslate2 int8": partial(decode_ctranslate2, int8=True),
    "Hugging Face generate": decode_marian,
}
SYSTEMS: dict[str, Callable[[], Callable[[], None]]] = {
    "matrix rate": multiply,
    "train: headway": train_headway,
    "train: torch nn.Transformer": train_torch,
    "train: Hugging Face Marian": train_marian,
    **{f"{kind}: {name}": partial(decode, *sizes) for kind, sizes in KINDS.items() for name, decode in DECODERS.items()},
}


def rows(seconds: dict[str, float], rate: float, threads: int) -> list[Row]:
    """The share of the matrix rate, and headway beside each peer that was measured."""
    found, step = [], "train: headway"
    if step in seconds:
        with open("/proc/cpuinfo") as file:
            aim = 0.70 if "avx512f" in file.read() else 0.78
        found.append(Row(f"training step, translation, width {WIDTH}", "matrix rate", flops_per_step() / seconds[step] / rate, least=aim))
    for ours in (name for name in seconds if name.endswith(": headway")):
        kind = ours.removesuffix(": headway")
        what = "training step, translation" if kind == "train" else f"decoding, {kind}, {threads} thread{'s' * (threads > 1)}"
        for name in (name for name in seconds if name.startswith(f"{kind}: ") and name != ours):
            peer = name.removeprefix(f"{kind}: ")
            found.append(Row(what, peer, seconds[name] / seconds[ours], least=0.95 if peer == "CTranslate2 float32" else None))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--only", default="", metavar="TEXT", help="systems whose names contain this, and the matrix rate")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="of each system (default: all cores)")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--rows", metavar="FILE", help="append the ratios to this file")
    parser.add_argument("--profile", action="store_true", help="print where the time of a training step goes, and nothing else")
    parser.add_argument("--worker", choices=SYSTEMS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = str(arguments.threads)  # read by torch, by `machine.prepare` and by our workers
    if arguments.worker:
        if "Hugging" not in arguments.worker and "torch" not in arguments.worker:
            import headway  # noqa: F401 - first of all, as a user of Headway has it: it decides how torch's threads wait
        serve(SYSTEMS, arguments.worker, time.process_time if arguments.threads == 1 else time.perf_counter)
        return
    if arguments.profile:
        step = train_headway()  # which loads headway, and then torch
        from where import table

        print(table({"translation, AdamW": step}, arguments.rounds))
        return
    chosen = {name: system for name, system in SYSTEMS.items() if arguments.only in name or name == "matrix rate"}
    seconds = take_turns(__file__, chosen, arguments.rounds, ("--threads", str(arguments.threads)))
    rate = 10 * 2 * 2048 * 1024 * 1024 / seconds["matrix rate"]
    setting = f"threads of each system: {arguments.threads}; medians of {arguments.rounds} rounds"
    print(f"\nthis machine multiplies matrices at {rate / 1e9:.0f} GFLOP/s; {setting}\n")
    trained = {name.removeprefix("train: "): t for name, t in seconds.items() if name.startswith("train: ")}
    if trained:
        print("training step (128 x 16 target tokens)     seconds   tokens/s   share of the matrix rate")
        for name, t in trained.items():
            print(f"  {name:38} {t:9.3f} {BATCH * TARGET / t:10,.0f}   {flops_per_step() / t / rate:.2f}")
        peers = [t for name, t in trained.items() if name != "headway"]
        if "headway" in trained and peers:
            print(f"  headway is {min(peers) / trained['headway']:.2f} times as fast as the better peer\n")
    for kind, (_, count, batches) in KINDS.items():
        found = {name: count * batches / seconds[f"{kind}: {name}"] for name in DECODERS if f"{kind}: {name}" in seconds}
        if found:
            print(f"decoding, {kind} (14 tokens in, 16 out)     sentences/s    headway / it")
        for name, speed in found.items():
            ratio = f"{found['headway'] / speed:.2f}" if "headway" in found else ""
            print(f"  {name:38} {speed:9.0f}    {ratio}")
    append_rows(arguments.rows, rows(seconds, rate, arguments.threads))
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump({"rate": rate, "flops": flops_per_step(), "seconds": seconds}, file, indent=2)


if __name__ == "__main__":
    main()
