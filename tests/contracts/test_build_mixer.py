"""A mixer by its name: sizes and options reach it, it looks where it may, and what does not fit is a clear error."""

import pytest
import torch
from tiny import BATCH, HEADS, TARGET, WIDTH
from torch import Tensor, nn

from headway.core import registry
from headway.core.errors import ConfigError, UnknownName
from headway.layers.masks import Causal, Mask
from headway.layers.mixer import build_mixer
from headway.models import encoder, gpt, transformer
from headway.models.encoder import Encoder
from headway.models.gpt import GPT

pytestmark = pytest.mark.usefixtures("doubles")


def moved(name: str, mask: Mask | None) -> Tensor:
    """Which outputs (rows) change when an input (columns) does."""
    mixer, x = build_mixer(name, WIDTH, HEADS, mask, {}).eval(), torch.randn(BATCH, TARGET, WIDTH)
    y, columns = mixer(x), []
    for s in range(TARGET):
        other = x.clone()
        other[:, s] += torch.randn(WIDTH)
        columns.append((mixer(other) - y).abs().amax((0, 2)) > 1e-9)
    return torch.stack(columns, 1)


@pytest.mark.parametrize("name", registry.mixers())
def test_under_a_causal_mask_the_past_is_seen_and_nothing_else(name: str) -> None:
    if registry.mixer(name).load().sees == "all":
        with pytest.raises(ConfigError, match="nothing after a position may be seen"):
            build_mixer(name, WIDTH, HEADS, Causal(), {})
    else:
        seen = moved(name, Causal())
        assert not seen.triu(1).any() and bool(seen.diagonal().all()) and bool(seen[-1].all())


@pytest.mark.parametrize("name", registry.mixers())
def test_without_a_mask_both_sides_are_seen(name: str) -> None:
    if name == "transformer_xl":
        with pytest.raises(ConfigError, match="reads from left to right only"):
            build_mixer(name, WIDTH, HEADS, None, {})
    else:
        assert bool(moved(name, None).all())


def test_options_reach_the_mixer() -> None:
    assert build_mixer("performer", WIDTH, HEADS, Causal(), {"features": 7}).features == 7  # type: ignore[comparison-overlap]
    assert build_mixer("hopfield", WIDTH, HEADS, None, {"beta": 0.25}).get_submodule("attend.score").scale == 0.25
    both = build_mixer("lru", WIDTH, HEADS, None, {"states": 3})
    assert {len(p) for n, p in both.named_parameters() if n.endswith("nu")} == {3}
    assert build_mixer("selective scan", WIDTH, HEADS, Causal(), {"states": 5}).A.shape[1] == 5  # type: ignore[union-attr, index]


def test_models_refuse_what_does_not_fit_their_mixer() -> None:
    with pytest.raises(ConfigError, match="`multihead` has no option `states`"):
        GPT(gpt.Config(options={"states": 3}), 7)
    with pytest.raises(ConfigError, match="`residual deep` has first weights for `multihead` only, not for `lstm`"):
        gpt.Config(mixer="lstm", residual="deep")
    with pytest.raises(ConfigError, match="`norm deep` has first weights for `multihead` only, not for `lstm`"):
        transformer.Config(mixer="lstm", norm="deep")
    gpt.Config(mixer="self-attention", residual="deep")  # another name of multihead


class Silent(nn.Module):
    """A mixer that declares nothing."""

    def __init__(self, width: int) -> None:
        super().__init__()


def test_a_mixer_declares_what_it_sees(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = registry.mixer("lstm")
    monkeypatch.setattr(type(entry), "load", lambda self: Silent)
    for build in (
        lambda: build_mixer("lstm", WIDTH, HEADS, Causal(), {}),
        lambda: Encoder(encoder.Config(mixer="lstm"), 7, 3),
    ):
        with pytest.raises(ConfigError, match="`lstm` does not declare what it sees"):
            build()


def test_what_does_not_fit_is_a_clear_error() -> None:
    with pytest.raises(
        ConfigError, match=r"`lru` has no option `state`\nHint: did you mean `states`\? `headway show lru` lists"
    ):
        build_mixer("lru", WIDTH, HEADS, Causal(), {"state": 3})
    with pytest.raises(ConfigError, match="`multihead` has no option `score`"):
        build_mixer("multihead", WIDTH, HEADS, Causal(), {"score": 3})
    with pytest.raises(ConfigError, match="`states` of `s4` should be a whole number, not 2.5"):
        build_mixer("s4", WIDTH, HEADS, Causal(), {"states": 2.5})
    with pytest.raises(ConfigError, match="`width` 7 must be even"):
        build_mixer("lstm", 7, 1, None, {})
    with pytest.raises(UnknownName, match="unknown mixer `lstn`\nHint: did you mean `lstm`"):
        build_mixer("lstn", WIDTH, HEADS, Causal(), {})
