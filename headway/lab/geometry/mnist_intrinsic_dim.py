from scipy.stats import spearmanr
from sklearn.datasets import load_digits

from headway.lab.kit import (
    Checks, DataMissing, Experiment, Generator, Panel, at_least, at_most, because, equal, headline, np, param,
    printed,
)
from headway.lab.tools.intrinsic_dimension import hein_audibert, survey, takens
from headway.lab.tools.manifolds import stroke
from headway.lab.tools.public_data import digits

TEST = 10_000  # images of the test split
COUNTS = (6903, 7877, 6990, 7141, 6824, 6313, 6876, 7293, 6825, 6958)
PRINTED = (*COUNTS[:5], 6903, *COUNTS[6:])
TABLE = np.array([12, 8, 13, 14, 13, 12, 11, 10, 14, 12]), np.array([11, 7, 13, 13, 12, 12, 11, 10, 13, 11])


class MnistIntrinsicDim(Experiment):
    """Handwritten digits of 784 pixels lie near manifolds of 8 to 14 dimensions, that of the digit 1 being the smallest.

    For the images x_i of one digit, the U-statistic of Hein and Audibert and the estimator of Takens

        U_l(h) = 2/(n (n - 1)) Σ_{i<j} h^{-l} (1 - |x_i - x_j|²/h²)_+  ~  h^{m-l},
        1/m = - mean of ln(|x_i - x_j|/h) over the pairs with |x_i - x_j| < h,

    at h the mean distance to the nearest neighbour. A stroke has few parameters: height, slant, width, place, thickness.

    Notes: B. Source: Hein, Audibert 2005, Table 7, https://doi.org/10.1145/1102351.1102388
    Assumes: images of one digit are independent draws from a manifold; pixels in [0, 1]; distances are Euclidean.
    Deviates: the test split alone by default, all 70,000 images with `--full`; without MNIST the 1797 digits of scikit-learn.
    Also: dimension of MNIST; intrinsic dimension of digits.
    """

    cost = "M"
    folder = param("data/mnist", "where MNIST is")
    images = param(10_000, "of MNIST: the test split, then the training split", least=TEST, most=70_000, full=70_000)
    points = param(800, "drawn strokes of each number of parameters", least=500, most=3000)

    def measure(self, rng: Generator) -> Checks:
        self.drawn = {}
        for d in range(1, 5):  # the other parameters keep a fixed value
            free = np.where(np.arange(4) < d, rng.random((self.points, 4)), 0.5)
            self.drawn[d] = hein_audibert(survey(stroke(free)))
        error = {f"{d} parameters": abs(found - d) for d, found in self.drawn.items()}
        yield at_most("drawn strokes: |Hein-Audibert - parameters|, 0 up to 3 of them", error, [0, 0, 0, 1])
        try:
            self.x, self.y = digits(self.folder, "test")
            if self.images > TEST:
                more = digits(self.folder, "train")
                self.x, self.y = (np.concatenate([a, b])[: self.images] for a, b in zip((self.x, self.y), more, strict=True))
            self.source = f"MNIST, {self.images:,} images"
        except DataMissing:
            self.x, self.y = (load_digits().data / 16).astype(np.float32), load_digits().target
            self.source = "digits of scikit-learn"
        seen = [survey(self.x[self.y == digit]) for digit in range(10)]
        self.ha, self.takens = np.array([hein_audibert(s) for s in seen]), np.array([takens(s) for s in seen])
        yield equal(f"{self.source}: the digit with the smallest dimension", int(np.argmin(self.takens)), 1)
        if self.x.shape[1] == 64:
            yield headline(at_most(f"{self.source}: dimension in 64 pixels", self.ha, 12))
            return
        error, allowed = abs(self.ha - TABLE[0]), 2 if self.images < 70_000 else 1
        yield headline(at_most(f"{self.source}: |Hein-Audibert - table|", error, allowed))
        ranks = {"Hein-Audibert": (self.ha, TABLE[0]), "Takens": (self.takens, TABLE[1])}
        yield at_least("Spearman correlation with the table", {name: spearmanr(*pair).statistic for name, pair in ranks.items()}, 0.85)
        yield at_most("dimension of every digit in 784 pixels", self.ha, 14)
        yield equal("the three largest", "".join(map(str, sorted(np.argsort(self.takens)[-3:]))), "238")
        if self.images == 70_000:
            yield equal("images of each digit", np.bincount(self.y), COUNTS)

    def control(self, rng: Generator) -> Checks:
        self.mixed = hein_audibert(survey(rng.permuted(self.x[self.y == 1], axis=0)))
        check = at_most("1: dimension with each pixel from another image", self.mixed, 2 * int(self.ha[1]))
        yield because("pixels are drawn one by one, so there is no manifold", check)
        yield printed(equal("images of all digits, with 6903 images of the digit 5", sum(PRINTED), 70_000), "B7")

    def plots(self) -> list[Panel]:
        names = [str(digit) for digit in range(10)]
        left = Panel(f"Few dimensions in {self.x.shape[1]} pixels", f"digit ({self.source})", "Hein-Audibert estimate")
        left.bars(names, self.ha, "measured").level(self.mixed, "1, pixels mixed")
        if self.x.shape[1] > 64:
            left.points(range(10), TABLE[0], "Table 7", colour="#17202b", size=30)
        right, d = Panel("Drawn strokes: parameters are counted", "parameters", "Hein-Audibert estimate"), list(self.drawn)
        right.bound(d, d, "parameters").series(d, list(self.drawn.values()), "estimate")
        return [left, right.ticks(x={i: str(i) for i in d}, y={i: str(i) for i in d})]
