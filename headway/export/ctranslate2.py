"""A translation run as a directory that runs without us: the model for CTranslate2, its tokenizers, and a program of a few lines."""

import os
import shutil
import tempfile
from pathlib import Path

from torch import nn

from headway.core.errors import UsageError
from headway.core.files import disk_errors
from headway.decode.ctranslate2_engine import convert, reason_against
from headway.models.transformer import Transformer
from headway.runs.run import Run
from headway.tasks.search import Searcher

PROGRAM = '''"""Translate standard input, one sentence per line:   python translate.py < sentences.txt

Needs `pip install ctranslate2 tokenizers`, nothing else. The k best outputs of beam search are ranked by
log p / ((5 + length) / 6)^penalty.
"""

import sys
from pathlib import Path

import ctranslate2
import tokenizers

BEAM, PENALTY = {beam}, {penalty}
HERE = Path(__file__).parent
SOURCE, TARGET = (tokenizers.Tokenizer.from_file(str(HERE / f"{{side}}.json")) for side in ("source", "target"))


def main() -> None:
    translator = ctranslate2.Translator(str(HERE), compute_type="{kind}")
    rows = [encoding.tokens for encoding in SOURCE.encode_batch([line.strip() for line in sys.stdin], add_special_tokens=False)]
    lengths = dict(length_penalty=1e-9, max_input_length=0, min_decoding_length=0, max_decoding_length={longest})
    search = dict(beam_size=BEAM, num_hypotheses=BEAM, return_scores=True, max_batch_size=64)
    for found in translator.translate_batch(rows, **search, **lengths):
        pairs = zip(found.scores, found.hypotheses)
        _, tokens = max(pairs, key=lambda pair: pair[0] / ((6 + len(pair[1])) / 6) ** PENALTY)
        ids = [TARGET.token_to_id(token) for token in tokens]
        print(TARGET.decode([i for i in ids if i >= {specials} or i == {unknown}], skip_special_tokens=False))


main()
'''


def export_run(run: Run, out: Path, int8: bool = False) -> None:
    """Write the directory, whole or not at all."""
    searcher, model = getattr(run.task, "searcher", None), run.model
    if not isinstance(searcher, Searcher) or not isinstance(model, nn.Module):
        raise UsageError(f"`{run.folder}` is no run of translation", "CTranslate2 runs translation models.")
    if (reason := reason_against(model)) is not None or not isinstance(model, Transformer):
        raise UsageError(f"CTranslate2 cannot run this model: {reason}", "`headway translate` decodes it without CTranslate2.")
    if out.exists():
        raise UsageError(f"`{out}` exists already", "name a directory that does not exist yet.")
    out.absolute().parent.mkdir(parents=True, exist_ok=True)
    beside = Path(tempfile.mkdtemp(prefix=f"{out.name}.", dir=out.absolute().parent))
    data = run.plan.data
    program = PROGRAM.format(
        beam=getattr(data, "beam", None) or 5,
        penalty=getattr(data, "penalty", 1.0),
        kind="int8" if int8 else "float32",
        longest=searcher.seen.limit(searcher.seen.source_longest),
        specials=searcher.target.specials,
        unknown=searcher.target.unknown,
    )
    try:
        with disk_errors(out):
            convert(model, searcher.source, searcher.target, beside, int8)
            for side, tokenizer in (("source", searcher.source), ("target", searcher.target)):
                (beside / f"{side}.json").write_text(tokenizer.library_json(), encoding="utf-8")
            (beside / "translate.py").write_text(program, encoding="utf-8")
            beside.chmod(0o755)
            os.replace(beside, out)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
