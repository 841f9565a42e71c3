from headway.core.config import Choice, Value, to_json
from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, equal, headline, np, param, printed, published
from headway.models.build import count_parameters
from headway.models.gpt import presets
from headway.models.gpt3_sizes import HEADS, MILLIONS, TOKENS, VOCABULARY

BASE: dict[str, Value] = {"width": 512, "depth": 6, "heads": 8, "inner": 2048, "norm": "post"}  # Vaswani et al. 2017, table 3
BIG = BASE | {"width": 1024, "heads": 16, "inner": 4096}


class ParamCensus(Experiment):
    """How large published models are follows from a handful of numbers: width d, depth L, vocabulary V.

        decoder only      N = Vd + n_ctx d + L(12d² + 13d) + 2d                                  (GPT-3: V = 50257, n_ctx = 2048)
        encoder-decoder   N = Vd + L(4d² + 2d d_ff) + L(8d² + 2d d_ff) + biases and norms        (one shared embedding, V = 37000)
        ViT               N = (P²C)d + d + d + (n + 1)d + L(12d² + 13d) + 2d + head              (n patches of P×P pixels)

    Counted on the models of this package, which are built without memory. 12Ld² alone is right for the largest only: embeddings are a
    third of the smallest. Training costs about 6 N D operations for D tokens.

    Notes: A, B, C, D. Source: Brown et al. 2020, table 2.1, https://arxiv.org/abs/2005.14165
    Assumes: feed-forward width 4d; embeddings, positions, biases and norms are counted.
    Also: number of parameters of GPT-3; size of a Transformer.
    """

    cost = "M"
    tolerance = param(0.02, "relative error of a printed size", least=0.018, most=0.1)

    def measure(self, rng: Generator) -> Checks:
        sizes = presets()
        self.printed = np.array(list(MILLIONS.values()), dtype=float)
        choices = [Choice("gpt", to_json(sizes[name])) for name in MILLIONS]
        self.counted = np.array([count_parameters(choice, {"vocabulary": VOCABULARY}) for choice in choices])
        L, d = (np.array([getattr(sizes[name], key) for name in MILLIONS]) for key in ("depth", "width"))
        formula = VOCABULARY * d + 2048 * d + L * (12 * d**2 + 13 * d) + 2 * d
        yield equal("eight sizes of GPT-3, counted: the formula", self.counted, formula)
        off = dict(zip(MILLIONS, np.abs(self.counted / 1e6 / self.printed - 1), strict=True))
        yield headline(at_most("and the printed sizes: relative error", off, self.tolerance))
        self.blocks, self.embedded = 12 * L * d**2, VOCABULARY * d / self.counted
        yield published("12Ld² over the printed size, Small", self.blocks[0] / 1e6 / self.printed[0], 0.68, 0.005)
        yield at_most("12Ld² over the printed size, 175B: error", abs(self.blocks[-1] / 1e6 / self.printed[-1] - 1), 0.01)
        yield published("6ND for 175B and 300 billion tokens, 10²³ operations", 6 * self.counted[-1] * TOKENS / 1e23, 3.14, 0.03)
        for name, options, millions, tolerance in (("base", BASE, 65, 3), ("big", BIG, 213, 3)):
            both = {"source_vocabulary": 37_000, "target_vocabulary": 37_000}
            found = count_parameters(Choice("transformer", options), both)
            yield published(f"Transformer ({name}), millions", found / 1e6, millions, tolerance)
        vit: dict[str, Value] = {"patch": 16, "width": 768, "depth": 12, "heads": 12, "inner": 3072}
        found = count_parameters(Choice("vit", vit), {"channels": 3, "height": 224, "width": 224, "outputs": 1000})
        w = 768
        parts = 16**2 * 3 * w + w, w, 197 * w, 12 * (12 * w**2 + 13 * w), 2 * w, (w + 1) * 1000
        yield equal("ViT-B/16 of 1000 classes: the formula", found, sum(parts))
        yield published("ViT-B/16, millions", found / 1e6, 86.6, 0.1)
        found = count_parameters(Choice("mlp", {"widths": (256, 128)}), {"features": 784, "outputs": 10})
        yield equal("MLP 784-256-128-10 for MNIST", found, 235_146)
        wrong = " ".join(name for name, (d, h, e) in HEADS.items() if h * e != d)
        yield equal("sizes whose printed heads do not fill the width", wrong, "gpt3-xl gpt3-13b")

    def control(self, rng: Generator) -> Checks:
        small = self.blocks[0] / 1e6 / self.printed[0] - 1
        yield because("embeddings are not counted", at_most("Small: |12Ld² / printed - 1|", abs(small), self.tolerance))
        d, h, e = np.array(list(HEADS.values())).T
        yield printed(equal("heads × width of a head = d_model, for all eight", h * e, d), "B11")

    def plots(self) -> list[Panel]:
        left = Panel("Counted sizes are the printed ones", "printed (millions)", "counted / printed", log="x").level(1)
        left.series(self.printed, self.counted / 1e6 / self.printed, "all parameters")
        left.control(self.printed, self.blocks / 1e6 / self.printed, "12Ld² alone")
        right = Panel("Embeddings matter in small models", "printed (millions)", "share of the embedding (%)", log="x")
        return [left, right.series(self.printed, 100 * self.embedded, "Vd / N")]
