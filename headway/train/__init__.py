"""Find: the loop, the plan, the run and its checkpoints.

`headway.train(recipe, out="runs/mine")` trains: the room is also the verb, so the module itself can be called.
"""

import sys
import types
from pathlib import Path
from typing import Any

from headway.core.recipe import Recipe


class _Verb(types.ModuleType):
    def __call__(self, recipe: Recipe, out: str | Path, quiet: bool = False) -> Any:
        """Train a recipe into the directory `out`; returns the run."""
        from headway.train.progress import Progress
        from headway.train.run import Run
        from headway.train.session import start

        start(recipe, Path(out), Progress(quiet))
        return Run(out)


sys.modules[__name__].__class__ = _Verb
