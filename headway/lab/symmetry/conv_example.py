from itertools import product

from scipy.signal import correlate2d

from headway.lab.kit import Checks, Experiment, Generator, Panel, because, close, equal, headline, np, param
from headway.lab.tools.layers import applied, one_filter
from headway.layers.convolutions.boundaries import Boundary, Same, Valid
from headway.layers.convolutions.convolution_2d import by_fft_2d, toeplitz_2d

LETTERS, TAPS = np.array(list("abcdefghijkl")).reshape(4, 3), np.array(list("αβγδ")).reshape(2, 2)
NOTES = np.array([["aα + bβ + dγ + eδ", "bα + cβ + eγ + fδ"],
                  ["dα + eβ + gγ + hδ", "eα + fβ + hγ + iδ"],
                  ["gα + hβ + jγ + kδ", "hα + iβ + kγ + lδ"]])  # fmt: skip


def coefficients(boundary: Boundary, flip: bool = False) -> np.ndarray:
    """C[y, x, p, q]: how often pixel p times tap q is in output (y, x), from a picture and a filter with a single 1 each."""
    pictures = np.eye(12).reshape(12, 1, 4, 3)
    taps = [tap.reshape(2, 2)[::-1, ::-1] if flip else tap.reshape(2, 2) for tap in np.eye(4)]
    return np.stack([applied(one_filter(tap, boundary), pictures)[:, 0] for tap in taps]).transpose(2, 3, 1, 0)


def formulas(c: np.ndarray) -> np.ndarray:
    """The same in letters."""
    terms = [(p, q, f"{LETTERS.flat[p]}{TAPS.flat[q]}") for p, q in product(range(12), range(4))]
    text = [[" + ".join(name for p, q, name in terms if cell[p, q]) for cell in row] for row in c]
    return np.array(text)


class ConvExample(Experiment):
    """The worked example of the notes: a picture of 4 x 3 pixels and a filter of 2 x 2 give 3 x 2 sums of four products.

        [a b c; d e f; g h i; j k l]  and  [α β; γ δ]   ->   [aα + bβ + dγ + eδ,  bα + cβ + eγ + fδ;  dα + ...]

    The filter is laid on the picture as it is, at every place where it fits: the valid cross-correlation. The output is linear in
    the picture and in the filter, so the letters can be read off a layer from pictures and filters that hold a single 1.

    Notes: D. Source: Goodfellow, Bengio, Courville, Deep Learning, figure 9.1, https://www.deeplearningbook.org/contents/convnets.html
    Assumes: the filter is not turned around; it stays inside the picture.
    Also: worked convolution example; two-dimensional convolution by hand.
    """

    trials = param(20, "pictures and filters of random integers", least=1, most=500)
    largest = param(9, "of these integers", least=1, most=1000)

    def measure(self, rng: Generator) -> Checks:
        C = coefficients(Valid())
        self.found = formulas(C)
        yield headline(equal("the six sums in letters", self.found, NOTES))
        yield equal("no product occurs twice", np.unique(C), np.array([0.0, 1.0]))
        images = rng.integers(-self.largest, self.largest + 1, (self.trials, 4, 3)).astype(float)
        filters = rng.integers(-self.largest, self.largest + 1, (self.trials, 2, 2)).astype(float)
        pairs = list(zip(images, filters, strict=True))
        found = np.stack([applied(one_filter(w, Valid()), x[None, None])[0, 0] for x, w in pairs])
        yield equal("integers put for letters", found, np.einsum("yxpq,tp,tq->tyx", C, images.reshape(-1, 12), filters.reshape(-1, 4)))
        yield equal("correlate2d of scipy", found, np.stack([correlate2d(x, w, "valid") for x, w in pairs]))
        yield close("by Fourier transforms", np.stack([applied(lambda a, b: by_fft_2d(a, b, Valid()), x, w) for x, w in pairs]), found)
        matrices = [applied(lambda b: toeplitz_2d(b, (4, 3), Valid()), w) for _, w in pairs]
        yield equal("by a matrix", np.einsum("tij,tj->ti", matrices, images.reshape(-1, 12)), found.reshape(-1, 6))

    def control(self, rng: Generator) -> Checks:
        turned = formulas(coefficients(Valid(), flip=True))
        yield because("the filter is turned around", equal("true convolution: the six sums", turned, NOTES))
        yield because("zeros stand beyond the ends", equal("zeros at the ends: the six sums", formulas(coefficients(Same())), NOTES))

    def plots(self) -> list[Panel]:
        corner = np.indices((4, 3)).max(0)  # the first place of the filter is shaded
        return [
            Panel("A picture", "column", "row").cells(LETTERS, corner < 2),
            Panel("A filter", "column", "row").cells(TAPS, corner[:2, :2] < 2),
            Panel("All places of the filter", "column", "row").cells(np.char.replace(self.found, "+ ", "\n+ "), corner[:3, :2] < 1, 9),
        ]
