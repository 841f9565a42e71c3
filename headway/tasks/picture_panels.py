"""Pictures of what a model of pictures sees: which pixels count, what it attends to, its first filters, its worst errors.

saliency     s_yx = max_c |d z_k / d x_cyx|, z_k the winning logit      Simonyan et al. 2014, https://arxiv.org/abs/1312.6034
SmoothGrad   the mean of s over pictures with noise                     Smilkov et al. 2017, https://arxiv.org/abs/1706.03825
rollout      R = prod_l (mean_h A_l + I) / 2, the row of the class      Abnar & Zuidema 2020, https://arxiv.org/abs/2005.00928
"""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float, UInt8
from torch import Tensor, nn

from headway.models.classifier import Classifier
from headway.tasks.panels import Gallery, Panel, Picture
from headway.tasks.picture_maps import PictureMap, output_of, picture_maps

COPIES, NOISE = 24, 0.3  # of SmoothGrad: pictures, and the standard deviation of what is added to their pixels
MOST = 32  # filters or feature maps of a gallery
WORST = 12  # errors of a gallery

Heat = Float[np.ndarray, "y x"]


def explain_picture(
    model: Classifier, pixels: UInt8[np.ndarray, "y x c"], scaled: Float[Tensor, "1 c y x"], answer: str
) -> list[Panel]:
    """All that can be shown of one picture; `scaled` is what the model reads, `answer` the class in words."""
    attention = picture_maps(model, scaled)
    maps = [
        Picture(pixels, answer),
        Picture(pixels, "saliency", heat=saliency(model, scaled)),
        Picture(pixels, "SmoothGrad", heat=smooth_saliency(model, scaled)),
        *(Picture(pixels, name, heat=heat) for name, heat in attended(attention)),
    ]
    caption = "Orange: where a change of the pixels would change the answer most (the gradient of its logit)."
    if len(maps) > 3:
        caption += " Attention: where the model looked, the mean over heads and over places that look."
    heads = [Picture(pixels, name, heat=heat) for name, heat in class_attention(attention)]
    looking = "Where the vector that collects the answer looks in each layer, the mean over its heads."
    panels: list[Panel] = [Gallery("What counts in this picture", tuple(maps), caption)]
    panels += [Gallery("Attention, layer by layer", tuple(heads), looking)] * bool(heads)
    return panels + first_layer(model, scaled)


def worst_errors(
    model: Classifier,
    pixels: UInt8[np.ndarray, "n y x c"],
    scaled: Float[Tensor, "n c y x"],
    captions: Sequence[str],
) -> list[Panel]:
    """The errors that the model was surest of, and where it looked. At most `WORST` are given."""
    if not captions:
        return []
    shown = [Picture(image, text) for image, text in zip(pixels, captions, strict=True)]
    heats = [smooth_saliency(model, scaled[i : i + 1]) for i in range(min(6, len(captions)))]
    where = [Picture(image, text, heat=h) for image, text, h in zip(pixels, captions, heats, strict=False)]
    caption = (
        "true class → answer (how sure the model was of it), the surest first. A wrong label looks like this, too."
    )
    return [
        Gallery("Most confident errors", tuple(shown), caption),
        Gallery("What counted in them", tuple(where), "Orange: pixels that the wrong answer depends on (SmoothGrad)."),
    ]


# -- which pixels count ------------------------------------------------------------------------------------------------


def saliency(model: Classifier, scaled: Float[Tensor, "b c y x"]) -> Heat:
    """|gradient| of the winning logit, the mean over the batch (whose pictures are copies of one)."""
    with torch.enable_grad():
        x = scaled.detach().clone().requires_grad_()
        logits = model.logits(model(x))
        winner = logits.mean(0).argmax()
        (gradient,) = torch.autograd.grad(logits[:, winner].sum(), x)
    return stretched(gradient.abs().amax(1).mean(0).cpu().numpy())


def smooth_saliency(model: Classifier, scaled: Float[Tensor, "1 c y x"]) -> Heat:
    generator = torch.Generator().manual_seed(1)
    noise = torch.randn(COPIES, *scaled.shape[1:], generator=generator)
    return saliency(model, scaled + NOISE * noise.to(scaled.device))


def stretched(values: np.ndarray) -> Heat:
    """From 0 to 1; a few outliers do not make everything else pale."""
    high = float(np.quantile(values, 0.99)) or float(values.max())
    return np.clip(values / high, 0, 1) if high > 0 else np.zeros_like(values)


# -- attention ---------------------------------------------------------------------------------------------------------


def attended(maps: Sequence[PictureMap]) -> list[tuple[str, Heat]]:
    """Where the model looked, over the picture: what has reached the answer, or else what each layer looked at."""
    if maps and maps[0].token:
        answer = rollout([m.weights for m in maps])[0, 1:]  # what the class token has collected of each patch
        return [("attention rollout", stretched((answer - answer.min()).view(maps[0].keys).numpy()))]
    return [(f"attention received ({m.name})", stretched(m.received().numpy())) for m in maps]


def class_attention(maps: Sequence[PictureMap]) -> list[tuple[str, Heat]]:
    """How much the class token looks at each patch, for each layer; none if there is no class token."""
    rows = [m.weights.mean(0)[0, 1:].view(m.keys) for m in maps if m.token]
    return [(f"layer {i}", stretched(row.numpy())) for i, row in enumerate(rows, 1)]


def rollout(maps: Sequence[Float[Tensor, "h t t"]]) -> Float[Tensor, "t t"]:
    """How much of each input position is in each output position, if every layer keeps half and mixes half."""
    total = torch.eye(maps[0].shape[-1])
    for weights in maps:
        total = (weights.float().mean(0) + torch.eye(len(total))) / 2 @ total
    return total


# -- the first layer ---------------------------------------------------------------------------------------------------


def first_layer(model: Classifier, scaled: Float[Tensor, "1 c y x"]) -> list[Panel]:
    """The filters that read the picture itself, and what they answer. The units of a full layer are filters as large as the picture."""
    modules = model.modules() if isinstance(model, nn.Module) else ()
    weights = ((module, getattr(module, "weight", None)) for module in modules)
    layer, weight = next((m, w) for m, w in weights if isinstance(w, Tensor) and w.dim() > 1)
    full, filters = weight.dim() == 2, weight.detach().cpu()
    filters = filters.view(-1, *scaled.shape[1:]) if full else filters
    chosen = filters.flatten(1).norm(dim=1).argsort(descending=True)[:MOST].tolist()
    caption = "The weights of the first layer: grey is zero, white positive, black negative."
    pictures = tuple(Picture(around_grey(filters[i].numpy()), f"{i + 1}") for i in chosen)
    panels: list[Panel] = [Gallery("First filters", pictures, caption)]
    if not full:
        maps = output_of(model, layer, scaled)[0].float().cpu()
        maps = maps.reshape(len(filters), -1, *maps.shape[-2:])[:, 0]  # of a group, one orientation
        caption = "Where on the picture each of these filters answers; before the activation, white is high."
        answers = tuple(Picture(grey(maps[i].numpy()), f"{i + 1}") for i in chosen)
        panels.append(Gallery("Feature maps", answers, caption))
    return panels


def around_grey(weights: Float[np.ndarray, "c y x"]) -> UInt8[np.ndarray, "y x d"]:
    """Weights as a picture: in colour if they read three channels, otherwise their mean over channels."""
    shown = weights if len(weights) == 3 else weights.mean(0, keepdims=True)
    most = float(np.abs(shown).max()) or 1.0
    return np.moveaxis(np.rint(127.5 + 127.5 * shown / most).astype(np.uint8), 0, 2)


def grey(values: Float[np.ndarray, "y x"]) -> UInt8[np.ndarray, "y x 1"]:
    low, high = float(values.min()), float(values.max())
    return np.rint(255 * (values - low) / (high - low or 1.0)).astype(np.uint8)[..., None]
