import copy

import torch

from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, close, headline, np, param
from headway.lab.tools.differences import complex_step
from headway.lab.tools.layers64 import built, normal
from headway.layers.recurrences.elman import Elman


class BPTTCheck(Experiment):
    """Backpropagation through time: the gradient of a shared weight is the sum of the gradients of its copies.

        ∂L/∂U = Σ_t (∂L/∂z_t) (∂⁺z_t/∂U),        ∂L/∂z_t = ∂L_t/∂z_t + (∂z_{t+1}/∂z_t)ᵀ ∂L/∂z_{t+1}

    ∂⁺ is the immediate partial derivative: z_{t-1} counts as a constant. Truncated to a window of w steps, what is left out is at most

        Σ_t |∂L_t/∂z_t| Σ_{s <= t-w} σ₁(U)^(t-s) |z_{s-1}|,        which decays with w where σ₁(U) < 1.

    Notes: C, D. Source: Werbos 1990, https://doi.org/10.1109/5.58337
    Assumes: partial derivatives are immediate; the window covers the memory, σ₁(U) < 1.
    Also: backpropagation through time; truncated BPTT.
    """

    m = param(6, "units", least=2, most=12)
    steps = param(24, "positions", least=22, most=48)
    sigma = param(0.7, "σ₁(U)", least=0.1, most=0.9)

    def truncated(self, cell: Elman, w: int) -> np.ndarray:
        """∂L/∂U where the gradient of L_t goes back through w steps."""
        z, total = torch.cat((cell.start(1)[0], cell(self.x[None])[0].detach())), np.zeros((self.m, self.m))
        for t in range(self.steps):
            s = max(t + 1 - w, 0)
            out = cell.scan(self.x[None, s : t + 1], state=(z[s : s + 1],))[0][0, -1]
            total += torch.autograd.grad(((out - self.y[t]) ** 2).sum() / 2, cell.hidden.weight)[0].numpy()
        return total

    def measure(self, rng: Generator) -> Checks:
        m, T = self.m, self.steps
        self.x, self.y = normal(rng, T, m), normal(rng, T, m)
        self.cell = cell = built(lambda: Elman(m, m), rng)
        U = cell.hidden.weight.numpy()
        U *= self.sigma / np.linalg.norm(U, 2)
        loss = ((cell.requires_grad_(True)(self.x[None])[0] - self.y) ** 2).sum() / 2
        self.grad = torch.autograd.grad(loss, cell.hidden.weight)[0].numpy()
        z = np.concatenate([np.zeros((1, m)), cell(self.x[None])[0].detach().numpy()])
        error = z[1:] - self.y.numpy()
        self.delta = error.copy()  # ∂L/∂z_t
        for t in range(T - 1, 0, -1):
            self.delta[t - 1] += U.T @ ((1 - z[t + 1] ** 2) * self.delta[t])
        self.parts = np.einsum("ti,tj->tij", (1 - z[1:] ** 2) * self.delta, z[:-1])
        yield headline(close("∂L/∂U of the layer is Σ_t (∂L/∂z_t)(∂⁺z_t/∂U)", self.grad, self.parts.sum(0), 1e-12))
        wx, y = cell.input(self.x).detach().numpy() + cell.hidden.bias.detach().numpy(), self.y.numpy()

        def value(flat: np.ndarray) -> np.ndarray:
            W, state, total = flat.reshape(*flat.shape[:-1], m, m), np.zeros((*flat.shape[:-1], m)), 0.0
            for t in range(T):
                state = np.tanh(wx[t] + (W @ state[..., None])[..., 0])
                total = total + ((state - y[t]) ** 2).sum(-1, keepdims=True) / 2
            return np.asarray(total)

        yield close("and the derivative by a complex step", complex_step(value, U.ravel())[0].reshape(m, m), self.grad, 1e-10)
        copies, state, total = [copy.deepcopy(cell) for _ in range(T)], cell.start(1), torch.zeros(()).double()
        for t, other in enumerate(copies):
            out, state = other.step(self.x[t][None], state)
            total = total + ((out[0] - self.y[t]) ** 2).sum() / 2
        each = [g.numpy() for g in torch.autograd.grad(total, [other.hidden.weight for other in copies])]
        yield close("unrolled with a copy of U for each step: each copy's gradient", each, self.parts, 1e-12)
        self.windows, (i, j) = np.unique(np.linspace(1, T - 2, 10).astype(int)), np.indices((T, T))
        self.missed = np.array([np.linalg.norm(self.truncated(cell, int(w)) - self.grad) for w in self.windows])
        terms = np.linalg.norm(error, axis=1)[i] * self.sigma ** (i - j) * np.linalg.norm(z, axis=1)[j]
        self.bounds = np.array([np.tril(terms, -int(w)).sum() for w in self.windows])
        rounding = 1e-13 * np.linalg.norm(self.grad)
        yield at_most("gradient missed by a window of w, for each w, up to rounding", self.missed, self.bounds + rounding)
        yield close("a window over all steps misses nothing", self.truncated(cell, T), self.grad, 1e-12)

    def control(self, rng: Generator) -> Checks:
        yield because("the gradient of one copy only", close("∂L/∂U", self.parts[-1], self.grad, 1e-6))
        pulled = (self.cell(self.x[None])[0] * torch.from_numpy(self.delta)).sum()
        total = torch.autograd.grad(pulled, self.cell.hidden.weight)[0].numpy()
        why = "total derivatives ∂z_t/∂U take the place of immediate ones and count paths more than once"
        yield because(why, close("Σ_t (∂L/∂z_t)(∂z_t/∂U) = ∂L/∂U", total, self.grad, 1e-6))
        self.cell.hidden.weight.data = torch.linalg.qr(normal(rng, self.m, self.m))[0] * 1.1
        self.cell.input.bias.data = -self.cell.hidden.bias.data  # b = 0
        self.x *= 0.02  # tanh is almost linear there, and nothing is forgotten
        whole, w = self.truncated(self.cell, self.steps), int(self.windows[5])
        self.open = [np.linalg.norm(self.truncated(self.cell, int(w)) - whole) / np.linalg.norm(whole) for w in self.windows]
        yield because("σ₁(U) = 1.1", at_most(f"relative gradient missed by a window of {w}", self.open[5], self.sigma**w))

    def plots(self) -> list[Panel]:
        panel = Panel("A contractive network forgives truncation", "window w", "|gradient missed| / |gradient|", log="y")
        size, w = np.linalg.norm(self.grad), self.windows
        panel.bound(w, self.bounds / size, "bound").series(w, self.missed / size, f"σ₁ = {self.sigma:g}")
        return [panel.control(w, self.open, "σ₁ = 1.1")]
