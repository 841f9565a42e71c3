"""`headway inspect`: every attention map for one input, as a page or a picture."""

import argparse
from pathlib import Path

from headway.core.errors import RunError, UsageError
from headway.core.files import require_writable, write_text
from headway.verbs.options import add_run, open_run

SUMMARY = (
    "what a model looks at: attention maps of a text, what counts in a picture; a page (.html) or a picture (.png)"
)
EXAMPLES = """\
examples:
  headway inspect runs/mine "A man is riding a bicycle." --out maps.html
  headway inspect runs/mine "A man is riding a bicycle." --target "Ein Mann fährt Rad." --only cross --out maps.png"""


def add_arguments(p: argparse.ArgumentParser, words: list[str]) -> None:
    add_run(p)
    p.add_argument("text", help="what the model reads: a text, or the path of a picture")
    p.add_argument("--target", metavar="TEXT", help="look at this output instead of the model's own")
    p.add_argument("--only", choices=["encoder", "decoder", "cross"], help="only this kind of attention")
    p.add_argument("--out", default="maps.html", metavar="FILE", help="maps.html or maps.png (default maps.html)")


def run(a: argparse.Namespace) -> None:
    suffix = Path(a.out).suffix.lower()
    if suffix not in (".html", ".png"):
        raise UsageError(f"`--out {a.out}` should end in .html or .png")
    require_writable(Path(a.out))
    if not a.text.strip():
        raise UsageError("the text is empty", 'for example `headway inspect runs/demo "The man reads a book."`.')
    opened = open_run(a)
    from headway.tasks.uses import Attends

    panels = opened.explain(a.text) if a.only is None else []
    maps, target = (
        opened.attention(a.text, a.target) if isinstance(opened.task, Attends) or not panels else ([], a.text)
    )
    if not maps and not panels:
        raise RunError(
            f"`{opened.plan.model.name}` in `{a.run}` has no attention maps to show",
            "train a model that attends, such as `transformer` or `gpt`.",
        )
    maps = [m for m in maps if a.only in (None, m.kind)]
    if not maps and not panels:
        raise UsageError(f"this model has no {a.only} attention", "leave out `--only`.")
    from headway.report.inspection import inspection_page
    from headway.report.picture import picture

    if suffix == ".png":
        if not maps:
            raise UsageError("these panels are drawn on a page only", "choose `--out maps.html`.")
        picture(maps, Path(a.out), f"{a.text} → {target}" if target != a.text else a.text)
    else:
        write_text(Path(a.out), inspection_page(maps, a.text, target if target != a.text else "", panels=panels))
    heads, layers = sum(len(m.weights) for m in maps), len(maps)
    found = [f"{heads} map{'s' * (heads != 1)} of {layers} attention layer{'s' * (layers != 1)}"] * bool(maps)
    found += [f"{len(panels)} panel{'s' * (len(panels) != 1)}"] * bool(panels)
    print((f"{target}\n" if maps else "") + f"{' and '.join(found)}: {a.out}")
