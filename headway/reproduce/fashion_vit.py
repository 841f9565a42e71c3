from headway.core.config import Value
from headway.reproduce.table import Bench, Row, Table


class FashionViT(Table):
    """Fashion-MNIST with a Vision Transformer of some 210,000 parameters: width 64, six layers.

    A public reimplementation reports 92.3 % on Fashion-MNIST and 99.5 % on MNIST. Dosovitskiy et al. 2021,
    https://arxiv.org/abs/2010.11929; lectures A to D. Here tokens come from two small convolutions in place of patches, and
    pictures are shifted, mirrored and partly covered.
    """

    aliases = ("ViT on Fashion-MNIST", "Fashion-MNIST ViT")
    minutes = 60.0
    needs = ("fashion-mnist",)

    def rows(self, bench: Bench) -> list[Row]:
        folder = str(bench.dataset("fashion-mnist"))
        data: dict[str, Value] = {"folder": folder, "augment": "shift=2 flip cutout=8", "smoothing": 0.1}

        def accuracy(seed: int) -> float:
            run = bench.trained("vit", seed, "images", data, "vit", {"tokens": "convolutions"}, {"minutes": 58.0})
            return 100 * bench.score(run, "accuracy")

        return [Row("accuracy", 92.3, accuracy, "at least", digits=2, unit=" %")]
