"""How large a model of pictures should be: by how many pictures there are, how large they are, and how long it may train."""

import math

from headway.core.config import Choice
from headway.tasks.sizing import sized

SHORT = 5.0  # minutes below which a deep convolutional network would see too few pictures


def sized_for_pictures(chosen: Choice, count: int, side: int, minutes: float | None) -> Choice:
    """The choice with every size set that the model has and the person left open.

    Few pictures want a small model and much dropout; larger pictures more stages, each of which halves them, or larger
    patches, so that there are about 7 x 7 of them.

    chosen    the model, with the options that the person chose
    count     pictures to learn from
    side      rows or columns of a picture, whichever are more
    minutes   the budget, if it is one of time
    """
    grade = (count >= 5000) + (count >= 50_000)
    halvings = max(2, math.ceil(math.log2(side / 8)))  # stages until about 8 x 8 pixels are left
    patch = max(2, 2 ** round(math.log2(max(1, side / 7))))
    slow = grade == 0 or (minutes is not None and minutes < SHORT)
    stages = {"depth": halvings + (side >= 16), "blocks": 1 if slow else 2, "layers": 3 if slow else 4}
    filters = {"filters": 32 if side <= 32 and grade else 16, "kernel": 5 if 16 <= side <= 32 else 3}
    own: dict[str, dict[str, int]] = {
        "cnn": {**filters, "width": (64, 128, 128)[grade], "depth": halvings},
        "non_local_net": {**filters, "width": (64, 128, 128)[grade], "depth": halvings},
        "resnet": {**stages, "filters": 16 if slow else 32},
        "densenet": {**stages},
        "group_cnn": {"filters": 8 if slow else 16, "depth": halvings + (side >= 16)},
        "vit": {"patch": patch, "depth": (4, 6, 6)[grade]},
        "mlp_mixer": {"patch": patch, "depth": (4, 6, 6)[grade]},
        "swin": {"patch": max(1, patch // 2), "width": 32, "depth": 3 if side >= 16 else 2},
        "residual_mlp": {"width": 256, "inner": 256},
        "shallow": {"width": 512},
        "mlp": {"width": 256},
    }
    dials = own.get(chosen.name, {})
    rest = {name: value for name, value in dials.items() if name not in ("width", "depth")}
    light = chosen.name in ("vit", "swin", "mlp_mixer")  # dropout on every sublayer, not once before the head
    return sized(
        chosen,
        width=dials.get("width", 64),
        depth=dials.get("depth"),
        inner=2,
        head_width=16,
        dropout=0.1 if light else (0.3, 0.2, 0.1)[grade],
        more=rest,
    )
