"""Adam: momentum divided by the root mean square of the gradients, both corrected for their beginning at zero.

    m <- beta1 m + (1 - beta1) g              m' = m / (1 - beta1^t)
    v <- beta2 v + (1 - beta2) g^2            v' = v / (1 - beta2^t)              w <- w - r m' / (sqrt(v') + eps)

After t steps m is a weighted mean of g_1 ... g_t whose weights add up to 1 - beta1^t: hence the corrections.
Kingma & Ba 2015, https://arxiv.org/abs/1412.6980; lectures C, D, E.
"""

import torch

from headway.training.optimizers.rule import Group, Groups, Rule, Tensors


class Adam(Rule):
    """Adam: running means of the gradient and of its square; each coordinate moves by about the rate."""

    aliases = ("adaptive moment estimation",)
    rate = 1e-3

    def __init__(
        self,
        parameters: Groups,
        lr: float,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__(parameters, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay})

    def update(self, group: Group, w: Tensors, g: Tensors) -> None:
        beta1, beta2 = group["betas"]
        m, v, t = self.moments("mean", w), self.moments("squares", w), self.counts(w)
        torch._foreach_lerp_(m, g, 1 - beta1)
        torch._foreach_mul_(v, beta2)
        torch._foreach_addcmul_(v, g, g, 1 - beta2)
        size = torch._foreach_sqrt(torch._foreach_div(v, [1 - beta2**n for n in t]))
        torch._foreach_add_(size, group["eps"])
        torch._foreach_addcdiv_(w, m, size, [-group["lr"] / (1 - beta1**n) for n in t])
