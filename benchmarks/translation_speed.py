"""Training and decoding speed of the Transformer beside its peers, in one run on this machine: `make benchmark`.

Same model for all: width 256, 3 + 3 layers, 4 heads, feed-forward 1024, one vocabulary of 8,000 for source, target and output, dropout
0.1, 128 sentences of 16 + 16 tokens, Adam with gradient clipping. Rounds of the systems alternate, and the fastest round of each counts:
a machine that does something else in between slows all of them, not one. Speeds are ratios: to the best peer, and to the rate at which
this machine multiplies matrices (2048 x 1024 by 1024 x 1024) measured in the same run.
"""

import argparse
import json
import time
from collections.abc import Callable

import headway  # noqa: F401 - sets the threads' waiting policy before torch is loaded
from headway.core import machine

machine.prepare()

import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from torch import nn  # noqa: E402

from headway.decode.greedy import greedy  # noqa: E402
from headway.models.transformer import Config, Transformer  # noqa: E402
from headway.tasks.cross_entropy import linear_cross_entropy  # noqa: E402

WIDTH, DEPTH, HEADS, INNER, VOCABULARY = 256, 3, 4, 1024, 8000
BATCH, SOURCE, TARGET, DROPOUT = 128, 16, 16, 0.1
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


def batch(seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    torch.manual_seed(seed)
    return torch.randint(4, VOCABULARY, (BATCH, SOURCE)), torch.randint(4, VOCABULARY, (BATCH, TARGET + 1))


class TorchTransformer(nn.Module):
    """`nn.Transformer` with tied embeddings, as its documentation uses it."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, WIDTH)
        self.position = nn.Parameter(torch.zeros(64, WIDTH))
        self.body = nn.Transformer(WIDTH, HEADS, DEPTH, DEPTH, INNER, DROPOUT, batch_first=True, norm_first=True)

    def forward(self, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        mask = nn.Transformer.generate_square_subsequent_mask(target.shape[1])
        embed = lambda ids: self.embedding(ids) * WIDTH**0.5 + self.position[: ids.shape[1]]  # noqa: E731
        hidden = self.body(embed(source), embed(target), tgt_mask=mask, tgt_is_causal=True)
        return F.linear(hidden, self.embedding.weight)


def marian() -> nn.Module:
    from transformers import MarianConfig, MarianMTModel

    config = MarianConfig(
        vocab_size=VOCABULARY, d_model=WIDTH, encoder_layers=DEPTH, decoder_layers=DEPTH, encoder_attention_heads=HEADS,
        decoder_attention_heads=HEADS, encoder_ffn_dim=INNER, decoder_ffn_dim=INNER, dropout=DROPOUT, activation_function="relu",
        max_position_embeddings=64, pad_token_id=PAD, eos_token_id=EOS, decoder_start_token_id=BOS, bos_token_id=BOS,
        forced_eos_token_id=None, scale_embedding=True, bad_words_ids=None,
    )  # fmt: skip
    return MarianMTModel(config)


def ours() -> Transformer:
    return Transformer(Config(WIDTH, DEPTH, HEADS, INNER, DROPOUT), VOCABULARY, VOCABULARY)


def trainers() -> dict[str, Callable[[], None]]:
    """One training step of each system: forward, backward, clipping, update."""
    source, target = batch()
    given, wanted = target[:, :-1].contiguous(), target[:, 1:].contiguous()

    def step_of(model: nn.Module, loss: Callable[[nn.Module], torch.Tensor], fused: bool) -> Callable[[], None]:
        model.train()
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=fused)

        def step() -> None:
            loss(model).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)

        return step

    keep = torch.ones_like(source, dtype=torch.bool)

    def headway_loss(m: nn.Module) -> torch.Tensor:
        hidden = m(source, keep, given).flatten(0, 1)
        return linear_cross_entropy(hidden, m.target.weight, wanted.flatten(), 0.1)[0] / wanted.numel()

    def torch_loss(m: nn.Module) -> torch.Tensor:
        return F.cross_entropy(m(source, given).flatten(0, 1), wanted.flatten(), label_smoothing=0.1)

    def marian_loss(m: nn.Module) -> torch.Tensor:
        logits = m(input_ids=source, decoder_input_ids=given).logits
        return F.cross_entropy(logits.flatten(0, 1), wanted.flatten(), label_smoothing=0.1)

    return {
        "headway": step_of(ours(), headway_loss, True),
        "torch nn.Transformer": step_of(TorchTransformer(), torch_loss, False),
        "Hugging Face Marian": step_of(marian(), marian_loss, False),
    }


def decoders(sentences: int = 64) -> dict[str, Callable[[], None]]:
    """Greedy decoding of 16 tokens for 64 sentences of 14."""
    torch.manual_seed(1)
    source = torch.randint(4, VOCABULARY, (sentences, 14))
    keep = torch.ones_like(source, dtype=torch.bool)
    model, peer = ours().eval(), marian().eval()
    model.target.weight.data[EOS] = 0  # never the most probable: every sentence is as long as the peer's

    def headway_greedy() -> None:
        found = greedy(model, source, keep, BOS, EOS, [TARGET] * sentences)
        if any(len(h.ids) != TARGET for h in found):
            raise SystemExit("a sentence ended early: the comparison would not be fair")

    def hugging_face() -> None:
        with torch.inference_mode():
            out = peer.generate(
                source, attention_mask=keep.long(), max_new_tokens=TARGET, min_new_tokens=TARGET, num_beams=1, do_sample=False
            )
        if out.shape[1] != TARGET + 1:
            raise SystemExit(f"Hugging Face wrote {out.shape[1] - 1} tokens instead of {TARGET}")

    return {"headway": headway_greedy, "Hugging Face generate": hugging_face}


def matmul_rate() -> float:
    a, b = torch.randn(2048, 1024), torch.randn(1024, 1024)
    began = time.perf_counter()
    for _ in range(10):
        a @ b
    return 10 * 2 * 2048 * 1024 * 1024 / (time.perf_counter() - began)


def fastest(systems: dict[str, Callable[[], None]], rounds: int, repeat: int) -> tuple[dict[str, float], float]:
    """Seconds per call of each system, and the matrix-multiplication rate, from alternating rounds."""
    best = dict.fromkeys(systems, float("inf"))
    rate = 0.0
    for system in systems.values():
        system()
    for _ in range(rounds):
        rate = max(rate, matmul_rate())
        for name, system in systems.items():
            began = time.perf_counter()
            for _ in range(repeat):
                system()
            best[name] = min(best[name], (time.perf_counter() - began) / repeat)
    return best, rate


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--json", metavar="FILE")
    arguments = parser.parse_args()

    training, rate = fastest(trainers(), arguments.rounds, 3)
    share = {name: flops_per_step() / seconds / rate for name, seconds in training.items()}
    peer = min(seconds for name, seconds in training.items() if name != "headway")
    print(f"\nthis machine multiplies matrices at {rate / 1e9:.0f} GFLOP/s with {torch.get_num_threads()} threads\n")
    print("training step (128 x 16 target tokens)     seconds   tokens/s   share of the matrix rate")
    for name, seconds in training.items():
        print(f"  {name:38} {seconds:9.3f} {BATCH * TARGET / seconds:10,.0f}   {share[name]:.2f}")
    print(f"  headway is {peer / training['headway']:.2f} times as fast as the better peer")

    decoding, _ = fastest(decoders(), arguments.rounds, 2)
    print("\ngreedy decoding, batch 64, 14 tokens in, 16 out     sentences/s")
    for name, seconds in decoding.items():
        print(f"  {name:38} {64 / seconds:9.0f}")
    speedup = decoding["Hugging Face generate"] / decoding["headway"]
    print(f"  headway is {speedup:.2f} times as fast")
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump({"rate": rate, "training": training, "share": share, "decoding": decoding}, file, indent=2)


if __name__ == "__main__":
    main()
