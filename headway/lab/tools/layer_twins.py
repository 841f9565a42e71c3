"""S-CONV, S-LOCAL and S-FC: networks of one hidden layer whose units are the same and whose wiring is not. Neyshabur 2020; lecture E."""

from torch import nn

from headway.layers.convolutions.boundaries import Valid
from headway.layers.convolutions.convolution_2d import Convolution2d
from headway.layers.convolutions.local import Local


def hidden_layer_net(name: str, side: int, width: int, kernel: int, classes: int) -> nn.Sequential:
    """Hidden units for `width` channels at each window of a picture of side x side pixels, windows side by side, then the classes.

    "S-CONV" has one filter of kernel x kernel for all windows, "S-LOCAL" one for each, and with any other name every unit sees all pixels.
    """
    units = width * (side // kernel) ** 2
    first: nn.Linear | Convolution2d | Local
    if name == "S-CONV":
        first = Convolution2d(1, width, kernel, Valid(), kernel)
    elif name == "S-LOCAL":
        first = Local(1, width, (side, side), kernel, Valid(), kernel)
    else:
        first = nn.Linear(side**2, units)
    before = nn.Flatten() if isinstance(first, nn.Linear) else nn.Identity()
    return nn.Sequential(before, first, nn.ReLU(), nn.Flatten(), nn.Linear(units, classes))
