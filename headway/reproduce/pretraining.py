from pathlib import Path

from headway.core.config import Value
from headway.core.files import write_text
from headway.data.input_file import InputFile
from headway.reproduce.table import Bench, Row, Table

LABELLED = 500


class Pretraining(Table):
    """Pre-training helps: BERT that has read 20,000 reviews without labels, then 500 with labels, against the same network from zero.

    Devlin et al. 2019, https://arxiv.org/abs/1810.04805; lecture C. The gain in accuracy on 5,000 reviews of other films.
    """

    aliases = ("pre-training table", "fine-tuning beats training from zero")
    minutes = 40.0
    needs = ("imdb",)

    def rows(self, bench: Bench) -> list[Row]:
        folder = bench.dataset("imdb")

        def accuracy(seed: int, base: Path | None) -> float:
            data: dict[str, Value] = {
                "table": str(few(folder, bench.folder, seed)),
                "test_table": str(folder / "test.tsv"),
            }
            name, model = ("from-bert", None) if base else ("from-zero", "bert")
            run = bench.trained(name, seed, "classification", data, model, None, {"minutes": 3.0}, base)
            return bench.score(run, "accuracy")

        def gain(seed: int) -> float:
            texts: dict[str, Value] = {"text": str(folder / "reviews.txt")}
            base = bench.trained("masked", 1, "masked", texts, "bert", None, {"minutes": 30.0})
            return 100 * (accuracy(seed, base.folder) - accuracy(seed, None))

        return [Row(f"gain with {LABELLED} labels", 3.0, gain, "at least", digits=1, unit=" points")]


def few(folder: Path, out: Path, seed: int) -> Path:
    """The head of the table and every so manieth row of it, another part for every seed: half of them are positive."""
    head, *rows = InputFile(str(folder / "train.tsv")).lines()
    step = len(rows) // LABELLED
    path = out / f"labelled-{seed}.tsv"
    write_text(path, "\n".join([head, *rows[seed % step :: step][:LABELLED]]) + "\n")
    return path
