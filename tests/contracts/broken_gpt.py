"""Language models with a mistake, one class each. `test_check.py` says which contract notices."""

import dataclasses
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from headway.models import gpt


@dataclass(frozen=True)
class Config(gpt.Config):
    position: Any = "sinusoidal"


class Placeless(gpt.GPT):
    """Generation never counts its places."""

    def step(self, token: Tensor, state: Any) -> tuple[Tensor, Any]:
        hidden, (_, states) = super().step(token, (0, state[1]))
        return hidden, (0, states)


class Leaking(gpt.GPT):
    """The mean of the text is added at every position."""

    def forward(self, ids: Tensor, past: Tensor | None = None) -> Tensor:
        hidden = super().forward(ids, past)
        return hidden + hidden.mean(1, keepdim=True)


class Unsaved(gpt.GPT):
    """Numbers that were drawn once and are not saved."""

    def __init__(self, config: Config, vocabulary: int) -> None:
        super().__init__(config, vocabulary)
        self.register_buffer("drawn", torch.randn(config.width), persistent=False)

    def logits(self, hidden: Tensor) -> Tensor:
        return super().logits(hidden + self.drawn)


class Unkept(gpt.GPT):
    """The configuration is not kept."""

    def __init__(self, config: Config, vocabulary: int) -> None:
        super().__init__(config, vocabulary)
        self.config = None  # type: ignore[assignment]


class Unused(gpt.GPT):
    """A layer is made and never called."""

    def __init__(self, config: Config, vocabulary: int) -> None:
        super().__init__(config, vocabulary)
        self.extra = nn.Linear(2, 3)


class Noisy(gpt.GPT):
    """A little noise, in evaluation, too; less than the tolerance of the other contracts."""

    def forward(self, ids: Tensor, past: Tensor | None = None) -> Tensor:
        hidden = super().forward(ids, past)
        return hidden + 1e-13 * torch.rand_like(hidden)


class Shuffled(gpt.GPT):
    """In training each text learns from the words of another one."""

    def predicted(self, ids: Tensor, past: Tensor | None = None) -> tuple[Tensor, Tensor]:
        return super().predicted(ids.roll(1, 0) if self.training else ids, past)


class Boastful(gpt.GPT):
    """Says that it remembers, and does not."""

    def __init__(self, config: Config, vocabulary: int) -> None:
        super().__init__(config, vocabulary)
        self.memory = 2

    def forward(self, ids: Tensor, past: Tensor | None = None) -> Tensor:
        return super().forward(ids)


class Lazy(gpt.GPT):
    """Outside of training the last position is not predicted."""

    def predicted(self, ids: Tensor, past: Tensor | None = None) -> tuple[Tensor, Tensor]:
        if self.training:
            return super().predicted(ids, past)
        counted = torch.ones_like(ids, dtype=torch.bool)
        counted[:, -1] = False
        return self(ids, past)[counted], counted


class InPlace(gpt.GPT):
    """The state is changed in place."""

    def __init__(self, config: Config, vocabulary: int) -> None:
        super().__init__(dataclasses.replace(config, mixer="gru"), vocabulary)
        self.config = config

    def step(self, token: Tensor, state: Any) -> tuple[Tensor, Any]:
        hidden, (past, after) = super().step(token, state)
        with torch.no_grad():
            for (old,), (new,) in zip(state[1], after, strict=True):
                old.copy_(new)
        return hidden, (past, after)


class Nameless(gpt.GPT):
    """Generation asks whether places are absolute, and it does not say."""

    def __init__(self, config: Config, vocabulary: int) -> None:
        super().__init__(config, vocabulary)
        del self.absolute


class Misnamed(gpt.GPT):
    """No task knows how many `words` there are."""

    def __init__(self, config: Config, words: int) -> None:
        super().__init__(config, words)
