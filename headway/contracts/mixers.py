"""The contracts of mixers: layers `forward(x, keep)` along a sequence.

    DECLARATIONS            functions of the class: what its constructor takes, and what it says about itself
    EVERY                   functions of a `Case`, for all mixers
    `causal.py`             functions of a `Case`, for those that see nothing after a position and can be stepped

Every axis has a prime (or twice one) of its own, so that two axes that are mixed up do not fit by accident.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor

from headway.contracts.contract import Broken, Contract, default_dtype, require_equal
from headway.layers.masks import Causal, Mask
from headway.layers.mixer import SIZES
from headway.layers.roles import ROLES, declared

BATCH, LENGTH, INPUTS, WIDTH, HEADS = 3, 7, 5, 22, 2
LENGTHS = (LENGTH, 4, 1)  # of the rows of a padded batch
SEES: dict[str, tuple[Mask | None, ...]] = {"past": (Causal(),), "mask": (Causal(), None), "all": (None,)}


@dataclass(frozen=True)
class Case:
    """One way to make a mixer, and the widths of what goes in and comes out.

    causal   whether it sees nothing after a position
    """

    label: str
    make: Callable[[], Any]
    inputs: int
    width: int
    causal: bool

    def build(self) -> Any:
        torch.manual_seed(31)
        return self.make().eval()

    def sequence(self, seed: int = 3, batch: int = BATCH) -> Tensor:
        return torch.randn(batch, LENGTH, self.inputs, generator=torch.Generator().manual_seed(seed))


def cases(make: Any) -> list[Case]:
    """The ways in which models make this mixer: under a causal mask, without a mask, or both, as it `sees`."""
    names = inspect.signature(make).parameters
    inputs = INPUTS if "inputs" in names else WIDTH
    found = []
    for mask in SEES[make.sees]:
        sizes: dict[str, Any] = {"inputs": inputs, "width": WIDTH, "heads": HEADS, "mask": mask}
        given = {size: sizes[size] for size in SIZES if size in names}
        found.append(
            Case(
                "no mask" if mask is None else "a causal mask", partial(make, **given), inputs, WIDTH, mask is not None
            )
        )
    return found


def right_padding() -> Tensor:
    """`keep` "b t" of rows of these lengths."""
    return torch.arange(LENGTH)[None, :] < torch.tensor(LENGTHS)[:, None]


# -- what the class declares -------------------------------------------------------------------------------------------


def constructor_takes_sizes_by_name(make: Any) -> None:
    """The constructor takes `inputs`, `width`, `heads` and `mask` by name.

    It need not take all of them: a recurrence has no heads. Whatever else it takes has a default.
    """
    parameters = inspect.signature(make).parameters
    if "width" not in parameters:
        raise Broken("it has no argument `width`")
    ordinary = [p for p in parameters.values() if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    other = [f"`{p.name}`" for p in ordinary if p.name not in SIZES and p.default is p.empty]
    if other:
        raise Broken(f"models cannot know what to give it for {', '.join(other)}: a number of its own needs a default")
    for case in cases(make) if make.sees in SEES else ():
        case.make()


def declares_what_it_sees(make: Any) -> None:
    """`sees` and `needs_positions` are declared."""
    sees, needs = getattr(make, "sees", None), getattr(make, "needs_positions", None)
    if sees not in SEES:
        raise Broken(f'`sees` is {sees!r}, expected "past", "mask" or "all"')
    if sees == "mask" and "mask" not in inspect.signature(make).parameters:
        raise Broken('`sees` is "mask", but the constructor has no argument `mask`')
    if not isinstance(needs, bool):
        raise Broken(f"`needs_positions` is {needs!r}, expected True (it cannot tell an order by itself) or False")


# -- all mixers --------------------------------------------------------------------------------------------------------


def parameters_have_roles(case: Case) -> None:
    """Every parameter has a role.

    Optimizers treat a matrix, a table and a rate differently: `headway/layers/roles.py`.
    """
    for path, module in case.build().named_modules():
        for name, parameter in module.named_parameters(recurse=False):
            role, full = declared(module, name, parameter), f"{path}.{name}" if path else name
            if role is None:
                shape = "x".join(map(str, parameter.shape))
                raise Broken(
                    f'`{full}` ({shape}) has none: write `roles = {{"{name}": "matrix"}}` in `{type(module).__name__}`'
                )
            if role not in ROLES:
                raise Broken(f"`{full}` has the role {role!r}, expected one of {', '.join(ROLES)}")


def forward_keeps_the_shape(case: Case) -> None:
    """Forward gives `width` numbers for each position."""
    mixer, x = case.build(), case.sequence()
    for length in (LENGTH, 1):
        found, expected = tuple(mixer(x[:, :length]).shape), (BATCH, length, case.width)
        if found != expected:
            raise Broken(f"it made {found} of {(BATCH, length, case.inputs)}, expected {expected}")


def the_present_is_seen(case: Case) -> None:
    """The present is seen.

    The output at a position depends on the input at that position.
    """
    mixer, x = case.build(), case.sequence()
    y = mixer(x)
    for t in range(LENGTH):
        changed = x.clone()
        changed[:, t] += 1.0
        if not (mixer(changed)[:, t] - y[:, t]).abs().amax(-1).min() > 1e-6:
            raise Broken(f"position {t} did not change when its own input was changed")


def padding_does_not_change_the_answer(case: Case) -> None:
    """Padding does not change the answer.

    A row gives the same with padding behind it as without, whatever stands in the padding.
    """
    mixer, x, keep = case.build(), case.sequence(), right_padding()
    for row, length in enumerate(LENGTHS):
        short = mixer(x[row : row + 1, :length])
        for value in (0.0, 1e3):
            padded = torch.where(keep[row : row + 1, :, None], x[row : row + 1], value)
            y = mixer(padded, keep[row : row + 1])
            if not y.isfinite().all():
                raise Broken("the output at padding is not a finite number, which spoils every sum it enters")
            when = f"when {LENGTH - length} positions of padding with the value {value:g} were added to {length}"
            require_equal(y[:, :length], short, when)


def company_does_not_matter(case: Case) -> None:
    """The company in the batch does not matter."""
    mixer, x = case.build(), case.sequence()
    for keep in (None, right_padding()):
        together = mixer(x, keep)
        for row, length in enumerate(LENGTHS):
            alone = mixer(x[row : row + 1], None if keep is None else keep[row : row + 1])
            real = slice(LENGTH if keep is None else length)  # what comes out at padding means nothing
            require_equal(together[row : row + 1, real], alone[:, real], f"when row {row} was put into a batch")


def every_parameter_gets_a_gradient(case: Case) -> None:
    """Every parameter gets a gradient."""
    mixer = case.build().train()
    y = mixer(case.sequence())
    (y * torch.randn(*y.shape[:2], 1, generator=torch.Generator().manual_seed(6))).sum().backward()
    silent = [f"`{name}`" for name, p in mixer.named_parameters() if p.grad is None or not p.grad.abs().max() > 1e-9]
    if silent:
        raise Broken(f"{', '.join(silent)} got none")


def eval_is_deterministic(case: Case) -> None:
    """Evaluation is deterministic."""
    mixer, x = case.build(), case.sequence()
    first = mixer(x)
    torch.manual_seed(99)
    require_equal(mixer(x), first, "when nothing was changed", tolerance=0.0)


def gradients_are_those_of_forward(case: Case) -> None:
    """Gradients equal finite differences.

    In float64, of the input and of every parameter.
    """
    mixer = case.build()
    x = case.sequence(batch=1)[:, :3]
    values = {"the input": x.detach(), **{name: p.detach().clone() for name, p in mixer.named_parameters()}}

    def holds(*names: str) -> bool:
        def run(*given: Tensor) -> Tensor:
            every = values | dict(zip(names, given, strict=True))
            x, rest = every["the input"], {name: tensor for name, tensor in every.items() if name != "the input"}
            return torch.func.functional_call(mixer, rest, (x,))

        chosen = [values[name].clone().requires_grad_() for name in names]
        return bool(torch.autograd.gradcheck(run, chosen, fast_mode=True, raise_exception=False))

    if not holds(*values):
        wrong = [name if name == "the input" else f"`{name}`" for name in values if not holds(name)]
        raise Broken(f"the gradient of {', '.join(wrong) or 'all arguments together'} is another one")


def works_on_the_meta_device(case: Case) -> None:
    """It works on the meta device.

    There shapes are computed without numbers, so that models of any size can be counted.
    """
    expected = case.build()(case.sequence()).shape
    with torch.device("meta"):
        found = case.make().eval()(torch.empty(BATCH, LENGTH, case.inputs))
    if found.shape != expected or not found.is_meta:
        raise Broken(f"it gave {list(found.shape)} on {found.device}, expected {list(expected)} on meta")


def works_in_bfloat16(case: Case) -> None:
    """It trains in bfloat16.

    As training does: weights in float32, products in bfloat16 under `autocast`.
    """
    with default_dtype(torch.float32):
        mixer, x = case.build(), case.sequence()
        exact = mixer(x).detach()
        with torch.autocast("cpu", torch.bfloat16):
            rounded = mixer(x)
        rounded.float().square().sum().backward()
    error = float((rounded.detach().float() - exact).norm() / exact.norm())
    if not error < 0.1:
        raise Broken(f"the output differs by {error:.0%} from that of float32, expected less than 10%")
    wild = [f"`{name}`" for name, p in mixer.named_parameters() if p.grad is not None and not p.grad.isfinite().all()]
    if wild:
        raise Broken(f"the gradient of {', '.join(wild)} is not a finite number")


DECLARATIONS: tuple[Contract, ...] = (constructor_takes_sizes_by_name, declares_what_it_sees)
EVERY: tuple[Contract, ...] = (
    parameters_have_roles,
    forward_keeps_the_shape,
    the_present_is_seen,
    padding_does_not_change_the_answer,
    company_does_not_matter,
    every_parameter_gets_a_gradient,
    eval_is_deterministic,
    gradients_are_those_of_forward,
    works_on_the_meta_device,
    works_in_bfloat16,
)
