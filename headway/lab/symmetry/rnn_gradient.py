from headway.lab.kit import Checks, Experiment, Generator, Panel, at_least, at_most, because, close, headline, np, param, printed
from headway.lab.tools.cells import Linear, Logistic
from headway.lab.tools.layers64 import built, normal, tensor, transport
from headway.layers.recurrences.elman import Elman


class RNNGradient(Experiment):
    """Gradients of a recurrence vanish if σ₁(U) < 1/α; a larger σ₁ is needed for them to explode, but does not suffice.

        z_t = φ(U z_{t-1} + V x_t + b),    ∂z_i/∂z_t = Π_{j=i…t+1} diag(φ'_j) U,    |∂z_i/∂z_t| <= (α σ₁(U))^(i-t)

    with α = sup|φ'|: 1 for tanh, ¼ for the logistic function. Factors stand in the order j = i, …, t + 1: they do not commute. In
    the linear case the product is U^(i-t), which grows or decays like the spectral radius, and an orthogonal U keeps lengths.

    Notes: C, D. Source: Pascanu, Mikolov, Bengio 2013, https://arxiv.org/abs/1211.5063
    Assumes: α bounds |φ'|; σ₁(U) < 1/α for vanishing.
    Also: vanishing gradients; exploding gradients; product of Jacobians.
    """

    m = param(50, "units", least=4, most=100, small=20)
    lags = param(30, "steps i - t", least=20, most=60)
    sizes = param((0.5, 3.9, 4.5, 8.0), "σ₁(U) of the logistic network", least=0.1, most=20.0, small=(0.5, 8.0))

    def net(self, kind: type[Elman], sigma: float, rng: Generator, orthogonal: bool = False) -> Elman:
        U, cell = rng.normal(size=(self.m, self.m)), built(lambda: kind(self.m, self.m), rng)
        cell.hidden.weight.copy_(tensor(sigma * (np.linalg.qr(U)[0] if orthogonal else U / np.linalg.norm(U, 2))))
        cell.hidden.bias.copy_(-cell.input.bias)  # b = 0
        return cell

    def norms(self, cell: Elman, rng: Generator, scale: float = 1.0) -> np.ndarray:
        """|∂z_i/∂z_t| by lag, for inputs and a first state of this size."""
        x, z = scale * normal(rng, self.lags, self.m), scale * normal(rng, 1, self.m)
        return np.linalg.norm(transport(cell, x, (z,)), 2, axis=(1, 2))

    def measure(self, rng: Generator) -> Checks:
        self.k = np.arange(1, self.lags + 1)
        nets = {f"logistic, {s:g}": (self.net(Logistic, s, rng), s / 4) for s in self.sizes}  # and α σ₁
        nets |= {f"tanh, {s:g}": (self.net(Elman, s, rng), s) for s in (0.9, 1.5)}
        self.found = {name: self.norms(cell, rng) for name, (cell, _) in nets.items()}
        bounds = {name: rate**self.k for name, (_, rate) in nets.items()}
        yield headline(at_most("|∂z_i/∂z_t| at every lag", self.found, bounds, rounding=1e-10))
        cell, x, z = nets["tanh, 1.5"][0], normal(rng, self.lags, self.m), normal(rng, 1, self.m)
        whole, single = transport(cell, x, (z,))[-1], []
        for row in x:
            single += transport(cell, row[None], (z,))
            z = cell.step(row[None], (z,))[0]
        products = np.linalg.multi_dot(single), np.linalg.multi_dot(single[::-1]), whole
        self.wrong, product, self.whole = (M / np.linalg.norm(whole, 2) for M in products)
        yield close("product of the steps, j = i … t+1, over its norm", product, self.whole, 1e-12)
        yield close("φ = id, U orthogonal: |∂z_i/∂z_t| = 1", self.norms(self.net(Linear, 1.0, rng, orthogonal=True), rng), 1)
        rest = self.norms(self.net(Elman, 0.9, rng, orthogonal=True), rng, 0.0)
        yield close("tanh at rest, U/0.9 orthogonal: the bound is reached", rest, 0.9**self.k)
        lower = {}
        for radius in (0.9, 1.1):
            cell, name = self.net(Linear, 1.0, rng), f"linear, ρ = {radius}"
            cell.hidden.weight.mul_(radius / np.abs(np.linalg.eigvals(cell.hidden.weight.numpy())).max())
            self.found[name], lower[name] = self.norms(cell, rng), radius**self.k
        linear = {name: self.found[name] for name in lower}
        yield at_least("φ = id: |∂z_i/∂z_t| ≥ ρ(U)^(i-t), the spectral radius", linear, lower, rounding=1e-10)
        self.grown = self.norms(self.net(Linear, 1.1, rng, orthogonal=True), rng)
        yield at_most(f"logistic, σ₁ = 8 > 1/α: |∂z_i/∂z_t| at lag {self.lags}", self.norms(self.net(Logistic, 8.0, rng), rng)[-1], 1)

    def control(self, rng: Generator) -> Checks:
        yield printed(at_most("σ₁ = 1.1 ≥ 1/α: the gradient vanishes", self.grown[-1], 1), "C17")
        tanh = self.norms(self.net(Elman, 0.9, rng), rng)
        yield because("tanh has slopes up to 1, not ¼", at_most("|∂z_i/∂z_t|, α = ¼", tanh, (0.9 / 4) ** self.k))
        yield because("factors are in the opposite order", close("product of the steps", self.wrong, self.whole, 1e-6))

    def plots(self) -> list[Panel]:
        left = Panel("The bound is far from what happens", "lag i - t", "|∂$z_i$/∂$z_t$|", log="y")
        left.curve(self.k, {k: v for k, v in self.found.items() if "logistic" in k})
        left.bound(self.k, (max(self.sizes) / 4) ** self.k, "bound of the largest σ₁")
        right = Panel("What grows and what fades", "lag i - t", "|∂$z_i$/∂$z_t$|", log="y")
        right.curve(self.k, {k: v for k, v in self.found.items() if "logistic" not in k})
        return [left, right.control(self.k, self.grown, "linear, σ₁ = 1.1")]
