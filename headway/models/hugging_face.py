"""BERT weights in the format of Hugging Face: a folder with `config.json` and `model.safetensors`.

    E, P, S        embeddings.word_embeddings, position_embeddings, token_type_embeddings
    W_Q, W_K, W_V  attention.self.query, key, value: three matrices there, one under the other here
    W_1, W_2       intermediate.dense, output.dense

Weights in a pickle (`pytorch_model.bin`) are refused: loading one runs whatever code is in it.
"""

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path

import torch
from torch import Tensor

from headway.core.config import Choice, Value, from_json
from headway.core.errors import DataError, RunError
from headway.core.files import read_json, read_tensors
from headway.models.bert import BERT, Config, Norm
from headway.models.weights import load_fitting, saved_tensors

OPTIONS = {  # ours: theirs
    "width": "hidden_size",
    "depth": "num_hidden_layers",
    "heads": "num_attention_heads",
    "inner": "intermediate_size",
    "dropout": "hidden_dropout_prob",
    "context": "max_position_embeddings",
    "segments": "type_vocab_size",
}
DEFAULTS: dict[str, Value] = {
    "position_embedding_type": "absolute",
    "layer_norm_eps": Norm.eps,
    "hidden_act": "gelu",
}  # if not written
EXPECTED = DEFAULTS | {"model_type": "bert"}
OUTSIDE = {  # everything but the blocks
    "embedding.weight": "embeddings.word_embeddings.weight",
    "position.table": "embeddings.position_embeddings.weight",
    "segment.weight": "embeddings.token_type_embeddings.weight",
    "norm": "embeddings.LayerNorm",
    "pooler": "pooler.dense",
    "word_head.dense": "cls.predictions.transform.dense",
    "word_head.norm": "cls.predictions.transform.LayerNorm",
    "word_head.bias": "cls.predictions.bias",
    "next_head": "cls.seq_relationship",
    "head": "classifier",
}
BLOCK = {
    "mixer.output": "attention.output.dense",
    "around_mixer.norm": "attention.output.LayerNorm",
    "feedforward.up": "intermediate.dense",
    "feedforward.down": "output.dense",
    "around_feedforward.norm": "output.LayerNorm",
}
HINT = "expected a folder with `config.json` and `model.safetensors` of a model of the type `bert`."


def read_choice(folder: Path) -> Choice:
    """The model with its sizes, from `config.json`."""
    config = _read_config(folder)
    return Choice("bert", {ours: config[name] for ours, name in OPTIONS.items()})


def read_bert(folder: Path) -> tuple[Choice, dict[str, int], dict[str, Tensor]]:
    """The model, the sizes of the heads that the file holds, and the tensors under our names."""
    choice = read_choice(folder)
    tensors = {name: tensor.float() for name, tensor in _renamed(_read_weights(folder)).items()}
    if "embedding.weight" not in tensors:
        raise DataError(f"`{folder / 'model.safetensors'}` does not hold the weights of a BERT", HINT)
    vocabulary = len(tensors["embedding.weight"])
    sizes = {"vocabulary": vocabulary}
    sizes |= {"words": vocabulary} if "word_head.bias" in tensors else {}
    sizes |= {"next_sentence": 2} if "next_head.weight" in tensors else {}
    sizes |= {"outputs": len(tensors["head.bias"])} if "head.bias" in tensors else {}
    _require_body(choice, tensors, folder)
    return choice, sizes, tensors


def load_bert(folder: Path, outputs: int = 0, tags: int = 0) -> BERT:
    """The model with its published weights, ready to be used or trained on.

    outputs   classes of a new head of the whole text
    tags      classes of a new head of each position
    """
    choice, sizes, tensors = read_bert(folder)
    if outputs:  # a new head, also if the file has one of the same size
        tensors = {name: tensor for name, tensor in tensors.items() if not name.startswith("head.")}
        sizes["outputs"] = outputs
    model = BERT(from_json(Config, choice.options, str(folder)), **sizes, tags=tags)
    load_fitting(model, tensors)
    return model.eval()


def _require_body(choice: Choice, tensors: Mapping[str, Tensor], folder: Path) -> None:
    """Raise unless the file holds everything below the heads, in the sizes of `config.json`."""
    with torch.device("meta"):
        body = BERT(from_json(Config, choice.options, str(folder)), len(tensors["embedding.weight"]))
    expected = {name: tuple(tensor.shape) for name, tensor in saved_tensors(body).items()}
    missing = [f"`{name}`" for name in expected if name not in tensors]
    if missing:
        raise DataError(f"`{folder}` does not hold {', '.join(missing[:5])} of a BERT", HINT)
    for name, shape in expected.items():
        if tuple(tensors[name].shape) != shape:
            found = f"{list(tensors[name].shape)}, `config.json` says {list(shape)}"
            raise DataError(f"`{name}` of `{folder / 'model.safetensors'}` is {found}", HINT)


def _read_config(folder: Path) -> Mapping[str, Value]:
    if not (folder / "config.json").is_file():
        raise DataError(f"there is no `config.json` in `{folder}`", HINT)
    with _as_data_errors():
        config = read_json(folder / "config.json")
    if not isinstance(config, dict):
        raise DataError(f"`{folder / 'config.json'}` is not an object", HINT)
    config = {**DEFAULTS, **config}
    missing = [name for name in ("vocab_size", *OPTIONS.values()) if name not in config]
    if missing:
        raise DataError(f"`{folder / 'config.json'}` lacks {', '.join(f'`{name}`' for name in missing)}", HINT)
    for name, value in EXPECTED.items():
        if config.get(name) != value:
            raise DataError(f"`{name}` of `{folder}` is `{config.get(name)}`: only `{value}` can be read", HINT)
    return config


def _read_weights(folder: Path) -> dict[str, Tensor]:
    path = folder / "model.safetensors"
    if not path.is_file():
        pickled = " (`pytorch_model.bin` is a pickle: loading it would run the code in it)"
        found = pickled if (folder / "pytorch_model.bin").exists() else ""
        raise DataError(f"there is no `model.safetensors` in `{folder}`{found}", HINT)
    with _as_data_errors():
        return {name.removeprefix("bert."): tensor for name, tensor in read_tensors(path).items()}


@contextlib.contextmanager
def _as_data_errors() -> Iterator[None]:
    """A damaged file is a person's own, not one of a run."""
    try:
        yield
    except RunError as problem:
        raise DataError(problem.message, HINT) from problem


def _renamed(theirs: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Under our names; what we have no place for is left out, what they lack is missing."""
    found: dict[str, Tensor] = {}
    for ours, name in OUTSIDE.items():
        found |= _both(theirs, ours, name)
    depth = len([name for name in theirs if name.endswith("attention.self.query.weight")])
    for i in range(depth):
        before, here = f"encoder.layer.{i}.", f"blocks.{i}."
        for ours, name in BLOCK.items():
            found |= _both(theirs, here + ours, before + name)
        for part in ("weight", "bias"):
            names = [f"{before}attention.self.{which}.{part}" for which in ("query", "key", "value")]
            if all(name in theirs for name in names):
                found[f"{here}mixer.project.{part}"] = torch.cat([theirs[name] for name in names])
    return found


def _both(theirs: Mapping[str, Tensor], ours: str, name: str) -> dict[str, Tensor]:
    """A single tensor, or the weight and bias of a layer."""
    if name in theirs:
        return {ours: theirs[name]}
    old = {"weight": "gamma", "bias": "beta"}  # the names of LayerNorm in the first files
    pairs = [(part, n) for part in old for n in (f"{name}.{part}", f"{name}.{old[part]}") if n in theirs]
    return {f"{ours}.{part}": theirs[n] for part, n in pairs}
