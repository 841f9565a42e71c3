"""The lab: experiments that test the statements of the lectures on real networks.

    result = headway.lab.run("cover-count", n=3, s=8)        # shows its table and figure in a notebook
    result.verdict, result.checks, result.figure

`headway lab list` names them all. Nothing heavy is imported before an experiment runs.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headway.lab.result import Result

__all__ = ["names", "run"]


def names(module: str | None = None) -> list[str]:
    """The experiments that there are, or those of one module (`depth`)."""
    from headway.lab import catalog

    return [catalog.identity(entry) for entry in (catalog.module(module) if module else catalog.every())]


def run(name: str, seed: int = 0, *, full: bool = False, network: Any = None, **parameters: Any) -> "Result":
    """Run one experiment. `parameters` are fields of its `Config`; `network` is a net of your own (a `Sequential` or `ReluNet`)."""
    from headway.lab import runner

    return runner.run(name, seed, parameters, full=full, network=network)
