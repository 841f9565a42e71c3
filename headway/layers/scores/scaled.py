from headway.layers.scores.product import Product


class Scaled(Product):
    """Scaled dot product: e_ts = q_t . k_s / sqrt(e).

    Var[q . k] = e for independent unit-variance entries, so the division keeps the softmax out of saturation.
    Vaswani et al. 2017, "Attention is all you need", https://arxiv.org/abs/1706.03762, section 3.2.1.

    width   e, numbers in a query and in a key
    """

    aliases = ("scaled dot-product attention", "key-query-value attention", "Vaswani attention")

    def __init__(self, width: int) -> None:
        super().__init__()
        self.scale = width**-0.5  # what the fused kernel multiplies by
