"""Where the time of a training step goes: torch's profile of some steps, its operations gathered into a few kinds."""

from collections import Counter
from collections.abc import Callable

from torch.profiler import profile

# The first kind whose words a name contains. An operation inside a range (an optimizer's step, `record_function`) belongs to that range.
RANGES = {"orthogonalisation of Muon": ("orthogonalisation",), "rest of the update": ("Optimizer.step#", "update")}
KINDS = {
    "attention": ("scaled_dot_product",),
    "matrix products": "mkldnn::_linear_pointwise aten::mm aten::addmm aten::bmm aten::baddbmm aten::addmv aten::mv aten::dot".split(),
    "copies and filling": ("copy_", "aten::cat", "aten::fill_", "aten::zero_", "aten::clone", "aten::index"),
    "softmax and norms": ("softmax", "layer_norm", "linalg_vector_norm", "rms_norm"),
    "element by element, and sums": ("aten::",),  # all that is left and not in VIEWS
}
VIEWS = """empty empty_like empty_strided view _unsafe_view reshape flatten unflatten as_strided t transpose permute slice select split
chunk unbind expand expand_as unsqueeze squeeze detach alias resolve_conj view_as_real view_as_complex narrow
result_type to is_nonzero item"""
REST = "views, Python, autograd"


def kind(event: object) -> str:
    """The kind of an operation that the profiler recorded."""
    outer = event
    while outer is not None:
        for name, words in RANGES.items():
            if any(outer.name.startswith(word) for word in words):  # type: ignore[attr-defined]
                return name
        outer = outer.cpu_parent  # type: ignore[attr-defined]
    if event.name.removeprefix("aten::") in VIEWS.split():  # type: ignore[attr-defined]
        return REST
    return next((name for name, words in KINDS.items() if any(word in event.name for word in words)), REST)  # type: ignore[attr-defined]


def shares(step: Callable[[], object], steps: int = 5) -> dict[str, tuple[float, float]]:
    """Share of the time, and calls in a step, of each kind."""
    step()
    with profile() as found:
        for _ in range(steps):
            step()
    seconds, calls = Counter[str](), Counter[str]()
    for event in found.events():
        seconds[name := kind(event)] += event.self_cpu_time_total
        calls[name] += name in KINDS
    whole = sum(seconds.values())
    return {name: (spent / whole, calls[name] / steps) for name, spent in seconds.most_common()}


def table(what: dict[str, Callable[[], object]], steps: int = 5) -> str:
    """Markdown: a row for each kind, a column for each step: the share of its time, and operations."""
    found = {name: shares(step, steps) for name, step in what.items()}
    kinds = sorted({k for each in found.values() for k in each}, key=lambda k: -max(each.get(k, (0, 0))[0] for each in found.values()))
    lines = [f"| kind of work | {' | '.join(found)} |", "|---" * (1 + len(found)) + "|"]
    for k in kinds:
        cells = [f"{each[k][0]:.1%}" + f" ({each[k][1]:.0f})" * (k in KINDS) if k in each else "" for each in found.values()]
        lines.append(f"| {k} | {' | '.join(cells)} |")
    return "\n".join(lines)
