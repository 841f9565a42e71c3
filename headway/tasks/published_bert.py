"""A BERT of Hugging Face as the beginning of a run: its model, its vocabulary and its weights, without its classes.

config.json         the model                        models/hugging_face.py
model.safetensors   its weights                      models/hugging_face.py
tokenizer.json      its vocabulary, or `vocab.txt`   data/bert_tokens.py
"""

from pathlib import Path
from typing import cast

from torch import Tensor

from headway.core.errors import DataError
from headway.data.bert_tokens import read_bert_tokens
from headway.models.hugging_face import HINT, read_bert, read_choice
from headway.tasks.masked import Data, Masked
from headway.tasks.task import AnyTask, Base

TABLES = ("embedding.weight", "word_head.bias")  # what has one row for each token


def open_bert(folder: Path) -> Base:
    """The model as a run of the task that it was trained for: masked words."""
    model, (tokenizer, rows) = read_choice(folder), read_bert_tokens(folder)

    def weights() -> dict[str, Tensor]:
        """In the order of our ids. A published head names classes of other data, so it is left out."""
        found = {name: t for name, t in read_bert(folder)[2].items() if not name.startswith("head.")}
        if (last := max(rows)) >= (size := len(found["embedding.weight"])):
            raise DataError(f"the vocabulary of `{folder}` has {last + 1:,} pieces, its weights are of {size:,}", HINT)
        return found | {name: found[name][rows] for name in TABLES if name in found}

    data = Data(tokens="wordpiece", vocabulary=tokenizer.size)
    return Base(folder, cast(AnyTask, Masked(data, tokenizer)), data, model, weights)
