from pathlib import Path

import numpy as np

from headway.core.config import Choice, Value
from headway.data.picture_files import read_pictures
from headway.models.build import count_parameters
from headway.models.classical.lda import LDA
from headway.models.classical.multinomial import Multinomial
from headway.reproduce.table import Bench, Row, Table

NETWORK: dict[str, Value] = {"widths": (256, 128)}
SIZES = {"features": 784, "outputs": 10}


class MNISTErrors(Table):
    """MNIST errors: test errors of a network with hidden layers of 256 and 128 units, and of two linear methods.

    James, Witten, Hastie, Tibshirani, "An Introduction to Statistical Learning", table 10.1; lecture D. The network has
    235,146 parameters. Ridge is an L2 penalty, dropout a share of 0.4 and 0.3 in the book; here each run keeps the weights
    of the best validation on 2,000 of the training pictures.
    """

    aliases = ("MNIST error table", "test errors on MNIST")
    minutes = 20.0
    needs = ("mnist",)

    def rows(self, bench: Bench) -> list[Row]:
        folder = bench.dataset("mnist")

        def network(name: str, dropout: float, training: dict[str, Value]) -> Row:
            def measure(seed: int) -> float:
                options: dict[str, Value | type] = {**NETWORK, "dropout": dropout}
                budget: dict[str, Value] = {"epochs": 30.0, **training}
                run = bench.trained(name, seed, "images", {"folder": str(folder)}, "mlp", options, budget)
                return 100 * (1 - bench.score(run, "accuracy"))

            printed = {"ridge": 2.3, "dropout": 1.8}[name]
            return Row(f"network with {name}", printed, measure, "at most", digits=2, unit=" %")

        return [
            Row("parameters of the network", 235_146, lambda seed: parameters(), digits=0, random=False),
            network("ridge", 0.0, {"l2": 1e-3}),
            network("dropout", 0.4, {}),
            Row(
                "multinomial logistic regression",
                7.2,
                lambda seed: error(Multinomial(1e-4, 400), folder),
                tolerance=0.3,
                digits=2,
                unit=" %",
                random=False,
            ),
            Row("linear discriminant analysis", 12.7, lambda seed: error(LDA(), folder), "equal", 0.3, 2, " %", False),
        ]


def parameters() -> float:
    return float(count_parameters(Choice("mlp", NETWORK), SIZES))


def error(model: Multinomial | LDA, folder: Path) -> float:
    """Per cent of the test pictures that are named wrongly."""
    parts = [read_pictures(str(folder), part) for part in ("train", "test")]
    (X, y), (Z, z) = ((p.images.reshape(len(p.images), -1) / 255.0, np.array(p.label_names)) for p in parts)
    return 100 * (1 - float(model.fit(X, y).score(Z, z)))
