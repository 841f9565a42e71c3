from dataclasses import dataclass


@dataclass(frozen=True)
class Hypothesis:
    """Token ids without the end mark, and log p(ids and the end mark | source).

    `cut` says that the length limit ended it: the end mark was not the most probable next token, but no other was
    allowed.
    """

    ids: tuple[int, ...]  # without the end mark
    log_probability: float  # of the ids and the end mark
    cut: bool = False  # whether the length limit ended it

    def score(self, penalty: float) -> float:
        """log p / ((5 + n) / 6)^penalty with n tokens, the end mark included.

        Wu et al. 2016, https://arxiv.org/abs/1609.08144, eq. 14.
        """
        return self.log_probability / ((5 + len(self.ids) + 1) / 6) ** penalty
