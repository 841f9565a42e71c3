"""A language model with a mistake: generation never counts its places."""

from dataclasses import dataclass
from typing import Any

from torch import Tensor

from headway.models.gpt import GPT
from headway.models.gpt import Config as Original


@dataclass(frozen=True)
class Config(Original):
    position: Any = "sinusoidal"


class Placeless(GPT):
    reads, gives = "tokens", "next token"

    def step(self, token: Tensor, state: Any) -> tuple[Tensor, Any]:
        hidden, (_, states) = super().step(token, (0, state[1]))
        return hidden, (0, states)
