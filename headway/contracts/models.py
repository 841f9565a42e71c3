"""The contracts of models.

EVERY     functions of a `Case`, for all models
PADDED    for those whose examples have different lengths
WRITERS, LANGUAGE (in `writers.py`)    for those that write token by token
"""

import inspect
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from headway.contracts.contract import Broken, Contract, require_equal
from headway.contracts.examples import BATCH, EACH, IGNORED, KINDS, SIZES, SMALL, Examples, Kind, sizes_for
from headway.core.config import from_json, to_json
from headway.core.registry import Entry
from headway.models.classifier import Classifier
from headway.models.decoder import LanguageModel
from headway.models.encoder_decoder import EncoderDecoder
from headway.models.graph_network import NodeReader
from headway.models.pointing import Pointing
from headway.models.reader import MaskedReader, Reader
from headway.models.set_predictor import SetPredictor
from headway.models.weights import load_tensors, saved_tensors

PROTOCOLS: dict[str, type] = {
    "next token": LanguageModel,
    "target tokens": EncoderDecoder,
    "one vector": Classifier,
    "one per position": Reader,
    "one per node": NodeReader,
    "pointers": Pointing,
    "boxes": SetPredictor,
    "masked words": MaskedReader,
}
HEAD_OF_STATES = {"masked words": "word_logits"} | dict.fromkeys(
    EACH, "tag_logits"
)  # for what is said of each position
LEAST_LOG = -1e4  # in place of the logarithm of zero
STEPS = 500  # in which a model must learn one batch by heart
CATCH_UP = 50  # batches after which running averages hold 99 % of what they average


@dataclass(frozen=True)
class Case:
    """A model, with options that differ from its defaults and from the small sizes of the contracts."""

    entry: Entry
    kind: Kind  # which of the things that it reads and gives
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def examples(self) -> Examples:
        return KINDS[self.kind].examples()

    def hidden(self, model: Any, inputs: tuple[Tensor, ...]) -> Tensor:
        """What the model gives of this kind, before its head; of one that points, the probabilities, for it has no head."""
        if self.kind[1] == "pointers":
            return model(*inputs).exp()
        return model.states(*inputs) if self.kind[1] in HEAD_OF_STATES else model(*inputs)

    def logits(self, model: Any, inputs: tuple[Tensor, ...]) -> Tensor:
        if self.kind[1] == "pointers":
            return model(*inputs).clamp(min=LEAST_LOG)  # of padding it is -inf
        head = HEAD_OF_STATES.get(self.kind[1], "logits")
        return getattr(model, head)(self.hidden(model, inputs))

    def further(self, model: Any, inputs: tuple[Tensor, ...]) -> Tensor:
        """What other heads give, summed: the boxes beside the classes."""
        return model.boxes(self.hidden(model, inputs)).sum() if self.kind[1] == "boxes" else torch.zeros(())

    @property
    def config(self) -> Any:
        small = {name: size for name, size in SMALL.items() if name in self._fields()}
        return self.entry.module.Config(**(small | dict(self.options)))

    def _fields(self) -> set[str]:
        return {field.name for field in fields(self.entry.module.Config)}

    def given(self, **more: Any) -> "Case":
        """The same with further options, as far as the model has them and this case does not say otherwise."""
        return replace(self, options={n: v for n, v in more.items() if n in self._fields()} | dict(self.options))

    def build(self, sizes: Mapping[str, int] | None = None) -> Any:
        """The model as its constructor makes it; it is given the sizes that it names."""
        make, sizes = self.entry.load(), sizes or sizes_for(self.kind)
        named = list(inspect.signature(make).parameters)[1:]
        return make(self.config, **{name: sizes[name] for name in named if name in sizes})

    def scattered(self, seed: int = 37, sizes: Mapping[str, int] | None = None) -> Any:
        """The model far from its first weights, which are symmetric or zero: there, mistakes cancel."""
        torch.manual_seed(seed)
        model = self.build(sizes)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.add_(0.3 * torch.randn(parameter.shape))
        return model.eval()


def loss_of(case: Case, model: Any, batch: Examples) -> Tensor:
    """The mean cross-entropy of what should come out; a language model chooses what it learns from (`predicted`)."""
    if case.kind[1] == "next token":
        hidden, counted = model.predicted(*batch.inputs)
        return F.cross_entropy(model.logits(hidden), batch.wanted[counted])
    return F.cross_entropy(case.logits(model, batch.inputs).flatten(0, -2), batch.wanted.flatten())


def learned(case: Case) -> tuple[Any, Examples, float]:
    """The model after it was trained on one batch, the batch, and the last loss."""
    torch.manual_seed(41)
    shallow = case.given(depth=1) if case.kind[1] in ("next token", "target tokens") else case
    model, source = shallow.build(), KINDS[case.kind]
    batch = source.to_learn()
    optimizer = torch.optim.Adam(model.parameters(), lr=source.rate)
    loss = torch.zeros(())
    for _ in range(STEPS):
        loss = loss_of(case, model, batch)
        if loss < 0.03:
            break
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if saved_tensors(model).keys() != dict(model.named_parameters()).keys():
        with torch.no_grad():  # running averages (batch norm) follow the weights: they need some batches to catch up
            for _ in range(CATCH_UP):
                case.hidden(model, batch.inputs)
    return model.eval(), batch, float(loss.detach())


def positions(hidden: Tensor) -> Tensor:
    """One vector for each example as a sequence of one position."""
    return hidden.unsqueeze(1) if hidden.dim() == 2 else hidden


def real(hidden: Tensor, batch: Examples) -> Tensor:
    """The positions, with zeros at padding where something is wanted of each position: what comes out there means nothing."""
    if hidden.dim() == 2 or batch.wanted.dim() == 1:
        return positions(hidden)
    return hidden.masked_fill((batch.wanted == IGNORED)[..., None], 0.0)


# -- what it declares --------------------------------------------------------------------------------------------------


def constructor_takes_sizes_by_name(case: Case) -> None:
    """The constructor takes a `Config` and sizes by name.

    The sizes are those that a task knows: `vocabulary`, `outputs` ...
    """
    if not hasattr(case.entry.module, "Config"):
        raise Broken(f"there is no frozen dataclass `Config` beside it, in `{case.entry.module_name}`")
    named = list(inspect.signature(case.entry.load()).parameters.values())[1:]
    unknown = [f"`{p.name}`" for p in named if p.name not in SIZES and p.default is p.empty]
    if unknown:
        raise Broken(f"no task knows {', '.join(unknown)}; the known sizes are {', '.join(f'`{n}`' for n in SIZES)}")
    case.build()


# -- all models --------------------------------------------------------------------------------------------------------


def offers_what_is_called(case: Case) -> None:
    """It offers what training and decoding call."""
    model, batch, gives = case.scattered(), case.examples, case.kind[1]
    protocol = PROTOCOLS[gives]
    fits = isinstance(model, protocol)
    if not fits:
        names = [n for n in (*vars(protocol), *inspect.get_annotations(protocol)) if not n.startswith("_")]
        missing = [f"`{name}`" for name in names if not hasattr(model, name)]
        raise Broken(f"it has no {', '.join(missing)}: see `{protocol.__module__}`")
    found, expected = tuple(case.logits(model, batch.inputs).shape), batch.wanted.shape
    if found[:-1] != tuple(expected) or found[-1] <= int(batch.wanted.max()):
        raise Broken(f"`logits` has the shape {found}, expected {(*expected, 'v')}: one score for each token or class")


def configuration_survives_json(case: Case) -> None:
    """The configuration survives JSON."""
    config = case.config
    again = from_json(type(config), json.loads(json.dumps(to_json(config))), "its JSON")
    if again != config:
        raise Broken(f"{config} came back as {again}")
    if getattr(case.build(), "config", None) != config:
        raise Broken("the model does not keep it: write `self.config = config`")


def weights_survive(case: Case) -> None:
    """The weights survive.

    Saved and put into another model, they give the same answers.
    """
    model, other, batch = case.scattered(), case.scattered(seed=38), case.examples
    if torch.equal(case.logits(other, batch.inputs), case.logits(model, batch.inputs)):
        raise Broken("two models with different weights give the same answer")
    load_tensors(
        other, {name: tensor.detach().clone() for name, tensor in saved_tensors(model).items()}, Path("weights")
    )
    found, expected = (real(case.logits(m, batch.inputs), batch) for m in (other, model))
    require_equal(found, expected, "when all weights were copied into another model")


def company_does_not_matter(case: Case) -> None:
    """The company in the batch does not matter."""
    model, batch = case.scattered(), case.examples
    together = case.hidden(model, batch.inputs)
    for row in range(BATCH):
        mine, alone = (positions(y) for y in (batch.part(together, row), case.hidden(model, batch.row(row))))
        counted = slice(None)
        if batch.lengths and alone.shape[1] > 1:
            counted = slice(batch.lengths[row][-1])  # what comes out at padding means nothing
        require_equal(mine[:, counted], alone[:, counted], f"when row {row} was put into a batch")


def padding_does_not_change_the_answer(case: Case) -> None:
    """Padding does not change the answer."""
    model, batch = case.scattered(), case.examples
    for inputs in (batch.inputs, batch.padded_with(7)):
        together = positions(case.hidden(model, inputs))
        for row in range(BATCH):
            alone = positions(case.hidden(model, batch.alone(row)))
            # pointers have a column for each input
            counted = together[row : row + 1, : alone.shape[1], : alone.shape[2]]
            require_equal(counted, alone, f"when row {row} was padded")


def every_token_is_read(case: Case) -> None:
    """Every token that is read counts, and padding does not."""
    model, batch = case.scattered(), case.examples
    first, *rest = batch.inputs
    y = real(case.hidden(model, batch.inputs), batch)
    for s in range(first.shape[1]):
        changed = first.clone()
        changed[:, s] = (changed[:, s] + 1) % SIZES["vocabulary"]
        moved = (real(case.hidden(model, (changed, *rest)), batch) - y).abs().amax((1, 2)) > 1e-9
        for row, lengths in enumerate(batch.lengths or ()):
            if s < lengths[0] and not moved[row]:
                raise Broken(f"token {s} of row {row} was changed, and the answer was not")
            if s >= lengths[0] and moved[row]:
                raise Broken(f"token {s} of row {row} is padding; it was changed, and so was the answer")


def every_parameter_gets_a_gradient(case: Case) -> None:
    """Every parameter gets a gradient."""
    model, batch = case.scattered(), KINDS[case.kind].to_learn()
    named = F.cross_entropy(case.logits(model.train(), batch.inputs).flatten(0, -2), batch.wanted.flatten())
    (named + case.further(model, batch.inputs)).backward()
    silent = [f"`{name}`" for name, p in model.named_parameters() if p.grad is None or not p.grad.abs().max() > 1e-9]
    if silent:
        raise Broken(f"{', '.join(silent)} got none")


def eval_is_deterministic(case: Case) -> None:
    """Evaluation is deterministic.

    Also if the model has dropout.
    """
    model, batch = case.given(dropout=0.3).scattered(), case.examples
    first = positions(case.hidden(model, batch.inputs))
    torch.manual_seed(99)
    require_equal(positions(case.hidden(model, batch.inputs)), first, "when nothing was changed", tolerance=0.0)


def one_batch_is_learned_by_heart(case: Case) -> None:
    """One batch is learned by heart."""
    model, batch, loss = learned(case)
    counted = batch.wanted >= 0
    wrong = int((case.logits(model, batch.inputs).argmax(-1) != batch.wanted)[counted].sum())
    if wrong:
        total = int(counted.sum())
        raise Broken(f"after {STEPS} steps on the same batch {wrong} of {total} answers are wrong (loss {loss:.2g})")


EVERY: tuple[Contract, ...] = (
    offers_what_is_called,
    configuration_survives_json,
    weights_survive,
    company_does_not_matter,
    every_parameter_gets_a_gradient,
    eval_is_deterministic,
    one_batch_is_learned_by_heart,
)
PADDED: tuple[Contract, ...] = (padding_does_not_change_the_answer, every_token_is_read)
