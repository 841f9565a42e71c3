"""Which engine decodes a run: our own search in torch, or CTranslate2, whose copy of the model is kept inside the run."""

import contextlib
import importlib.util
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from torch import nn

from headway.core.errors import DiskError, UsageError
from headway.core.files import disk_errors, read_json, write_json
from headway.tasks.folder import WEIGHTS
from headway.tasks.search import Searcher

if TYPE_CHECKING:
    from headway.decode.ctranslate2_engine import CTranslate2Engine

Engine = Literal["auto", "torch", "ctranslate2"]
FOLDER, NOTE = "ctranslate2", "made_from.json"


def find_engine(
    folder: Path, searcher: Searcher, model: nn.Module, name: str, int8: bool, threads: int
) -> "CTranslate2Engine | None":
    """CTranslate2 with the run's model in it, or None for our own search. `auto` takes CTranslate2 where it can."""
    if name not in get_args(Engine):
        raise UsageError(f"there is no engine `{name}`", f"choose {', '.join(f'`{e}`' for e in get_args(Engine))}.")
    if int8 and name == "torch":
        raise UsageError("`--int8` needs the engine `ctranslate2`", "leave out `--engine torch`.")
    asked = int8 or name == "ctranslate2"
    if name == "torch" or (not asked and importlib.util.find_spec("ctranslate2") is None):
        return None
    from headway.decode.ctranslate2_engine import CTranslate2Engine, reason_against

    reason = reason_against(model)
    if reason is None and next(model.parameters()).device.type != "cpu":
        reason = "its copy of a run is for the processor; this run was opened on another device"
    if reason is not None:
        if asked:
            raise UsageError(f"CTranslate2 cannot decode this run: {reason}", "leave out `--engine` and `--int8`.")
        return None
    try:
        place = converted(folder, searcher, model, int8)
    except (OSError, DiskError):
        if asked:
            raise
        return None  # a run that may only be read, or a full disk: it is decoded by us
    return CTranslate2Engine(place, searcher.source, searcher.target, threads, int8)


def converted(folder: Path, searcher: Searcher, model: nn.Module, int8: bool) -> Path:
    """The folder of the converted model inside the run; made when it is missing or the weights are newer."""
    from headway.decode.ctranslate2_engine import convert

    weights = (folder / WEIGHTS).stat()
    made_from = {"bytes": weights.st_size, "changed": weights.st_mtime_ns}
    place = folder / FOLDER / ("int8" if int8 else "float32")
    if _is_made_from(place, made_from):
        return place
    place.parent.mkdir(exist_ok=True)
    beside = Path(tempfile.mkdtemp(prefix=f"{place.name}.", dir=place.parent))
    try:
        with disk_errors(place):
            convert(model, searcher.source, searcher.target, beside, int8)
            write_json(beside / NOTE, made_from)
            if not _is_made_from(place, made_from):  # another process may have made it meanwhile, and reads it
                shutil.rmtree(place, ignore_errors=True)
                os.replace(beside, place)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return place


def _is_made_from(place: Path, made_from: dict[str, int]) -> bool:
    """Whether the copy at `place` is whole and of these weights; one that is missing or damaged is made again."""
    with contextlib.suppress(Exception):
        return bool(read_json(place / NOTE) == made_from)
    return False
