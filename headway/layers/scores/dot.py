from headway.layers.scores.product import Product


class Dot(Product):
    """Dot product: e_ts = q_t . k_s, the score of the lecture's seq2seq with attention (e_i = h_t . h_i^enc).

    Luong, Pham, Manning 2015, "Effective approaches to attention-based neural machine translation", https://arxiv.org/abs/1508.04025.

    width   e, numbers in a query and in a key
    """

    aliases = ("dot product", "dot_product", "Luong dot")

    def __init__(self, width: int) -> None:
        super().__init__()
