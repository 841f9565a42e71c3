"""A second engine for decoding: CTranslate2, a C++ library that runs Transformers, in float32 or int8.

Klein et al. 2020, "The OpenNMT neural machine translation toolkit", https://github.com/OpenNMT/CTranslate2. The model is written
once in its format. Its search is ours: the k best beginnings are continued, and the hypotheses that it returns are ranked by our
length penalty. What its search cannot repeat exactly (an output that reaches its length limit) is left to our own (`None`).
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from headway.core import registry
from headway.core.errors import UsageError
from headway.data.tokens import Tokenizer
from headway.decode.hypothesis import Hypothesis
from headway.layers.embedding import Embedding
from headway.layers.norms.layer_norm import LayerNorm
from headway.models.transformer import Transformer

LONGEST = 1024  # positions that are written into a converted model; what is longer is decoded by us
NO_PENALTY = 1e-9  # of length, inside the library: exactly 0 makes it stop at the first finished hypothesis


def reason_against(model: nn.Module) -> str | None:
    """Why CTranslate2 cannot run this model, or None if it can."""
    if type(model) is not Transformer:
        return f"it runs the model `transformer`, not `{registry_name(model)}`"
    c = model.config
    if registry.mixer(c.mixer).name != "multihead" or c.options:
        return f"it runs encoders of `multihead` attention, not of `{c.mixer}`"
    if c.norm == "deep":
        return "it has no DeepNorm"
    return None


def registry_name(model: nn.Module) -> str:
    return type(model).__module__.rpartition(".")[2]


def require_library() -> Any:
    try:
        import ctranslate2
    except ImportError as problem:
        raise UsageError("the engine `ctranslate2` is not installed", "pip install 'headway[fast]'") from problem
    return ctranslate2


def convert(model: nn.Module, source: Tokenizer, target: Tokenizer, folder: Path, int8: bool = False) -> None:
    """Write the model into an empty folder in the format of CTranslate2."""
    specs = require_library().specs
    if not isinstance(model, Transformer):
        raise UsageError(f"CTranslate2 cannot run this model: {reason_against(model)}")
    c = model.config
    spec = specs.TransformerSpec.from_config((c.depth, c.depth), c.heads, pre_norm=c.norm == "pre")
    fill_side(spec.encoder, model.source, model.source_position, model.encoder, model.encoder_norm)
    fill_side(spec.decoder, model.target, model.target_position, model.decoder, model.decoder_norm)
    spec.decoder.projection.weight = numbers(model.target.weight)
    spec.register_source_vocabulary(source.vocabulary)
    spec.register_target_vocabulary(target.vocabulary)
    tokens = target.vocabulary
    spec.config.bos_token = spec.config.decoder_start_token = tokens[target.bos]
    spec.config.eos_token, spec.config.unk_token = tokens[target.eos], tokens[target.unknown]
    spec.config.add_source_bos, spec.config.add_source_eos = False, True
    spec.config.layer_norm_epsilon = LayerNorm.eps
    spec.validate()
    spec.optimize(quantization="int8" if int8 else None)
    spec.save(str(folder))


def fill_side(spec: Any, embedding: Embedding, position: nn.Module, blocks: Any, norm: nn.Module) -> None:
    """The encoder or the decoder."""
    table = spec.embeddings[0] if isinstance(spec.embeddings, list) else spec.embeddings
    table.weight = numbers(embedding.weight)
    learned = getattr(position, "table", None)
    length = len(learned) if isinstance(learned, nn.Parameter) else LONGEST
    spec.position_encodings.encodings = numbers(position(length))
    if isinstance(norm, LayerNorm):
        fill(spec.layer_norm, norm)
    for layer, block in zip(spec.layer, blocks, strict=True):
        fill(layer.self_attention.layer_norm, block.around_mixer.norm)
        fill(layer.self_attention.linear[0], block.mixer.project)
        fill(layer.self_attention.linear[1], block.mixer.output)
        if hasattr(block, "cross"):
            fill(layer.attention.layer_norm, block.around_cross.norm)
            for part, module in zip(
                layer.attention.linear, (block.cross.query, block.cross.memory, block.cross.output), strict=True
            ):
                fill(part, module)
        fill(layer.ffn.layer_norm, block.around_feedforward.norm)
        fill(layer.ffn.linear_0, block.feedforward.up)
        fill(layer.ffn.linear_1, block.feedforward.down)


def fill(spec: Any, module: LayerNorm | nn.Linear) -> None:
    """A normalisation or a linear map."""
    if isinstance(module, LayerNorm):
        spec.gamma, spec.beta = numbers(module.weight), numbers(module.bias)
    else:
        spec.weight, spec.bias = numbers(module.weight), numbers(module.bias)


def numbers(tensor: Tensor) -> Any:
    return tensor.detach().float().cpu().contiguous().numpy()


class CTranslate2Engine:
    """A converted model, ready to search.

    folder           what `convert` wrote
    source, target   the tokenizers of the run
    threads          cores
    int8             whether its weights have 8 bits
    """

    def __init__(self, folder: Path, source: Tokenizer, target: Tokenizer, threads: int, int8: bool = False) -> None:
        library = require_library()
        kind = "int8" if int8 else "float32"
        self.translator = library.Translator(
            str(folder), device="cpu", compute_type=kind, inter_threads=threads, intra_threads=1
        )
        self.source, self.target = source.vocabulary, target.vocabulary
        self.numbers = {token: number for number, token in enumerate(self.target)}

    def search(
        self, ids: Sequence[Sequence[int]], limits: Sequence[int], beam: int, penalty: float, batch: int
    ) -> list[list[Hypothesis] | None]:
        """For each source its hypotheses, best first; None where the library cannot give what our search would."""
        found = self.translator.translate_batch(
            [[self.source[i] for i in row] for row in ids],
            beam_size=beam,
            num_hypotheses=beam,
            length_penalty=NO_PENALTY,
            max_decoding_length=min(LONGEST, max(limits, default=0) + 1),
            min_decoding_length=0,
            max_input_length=0,
            return_scores=True,
            max_batch_size=batch,
        )
        results: list[list[Hypothesis] | None] = []
        for row, limit, one in zip(ids, limits, found, strict=True):
            hypotheses = [
                Hypothesis(tuple(self.numbers[token] for token in tokens), score)
                for tokens, score in zip(one.hypotheses, one.scores, strict=True)
            ]
            whole = len(hypotheses) == beam and all(
                len(h.ids) <= limit and math.isfinite(h.log_probability) for h in hypotheses
            )
            results.append(
                sorted(hypotheses, key=lambda h: -h.score(penalty)) if whole and len(row) < LONGEST else None
            )
        return results
