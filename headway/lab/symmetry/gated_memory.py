import torch

from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, equal, headline, np, param, printed
from headway.lab.tools.cells import PrintedGRU, SumGRU
from headway.lab.tools.layers import size
from headway.lab.tools.layers64 import built, normal, tensor, transport, walked
from headway.layers.recurrences.elman import Elman
from headway.layers.recurrences.gru import GRU
from headway.layers.recurrences.lstm import LSTM
from headway.layers.recurrences.recurrence import GatedRecurrence

BITS = 4


class GatedMemory(Experiment):
    """Gates keep a memory exactly: with forget gate 1 and input gate 0 an LSTM holds its cell for ever.

        LSTM  c_t = f ⊙ c_{t-1} + i ⊙ g                        f = 1, i = 0:   c_t = c_0,   ∂c_t/∂c_0 = I
        GRU   z_t = u ⊙ z_{t-1} + (1 - u) ⊙ z̃,  |z̃| < 1        a convex combination:   |z_t|_∞ <= max(|z_0|_∞, 1)

    A bit survives any number of steps, and so does its gradient; an Elman network's is at most σ₁(U)^t. An LSTM has 4 matrices, a GRU 3.

    Notes: C. Source: Hochreiter and Schmidhuber 1997, https://doi.org/10.1162/neco.1997.9.8.1735
    Assumes: the forget gate is 1 and the input gate 0 while a bit is kept; the GRU mixes by a convex combination.
    Deviates: the layers have two bias vectors per gate, as torch's have; their sum is the one of the formulas.
    Also: constant error carousel; LSTM and GRU parameter counts.
    """

    steps = param(1000, "steps T that a bit is kept", least=50, most=5000, small=200)
    units = param(12, "units m of the nets whose gradients and states are measured", least=2, most=64)
    trials = param(200, "random sequences", least=20, most=1000)

    def keeper(self, forget: float, rng: Generator) -> LSTM:
        """Input (bits, write?): gates i = f̄ = 1 if write, else i = 0 and f = σ(forget); g = tanh(20 bit)."""
        cell = built(lambda: LSTM(BITS + 1, BITS), rng)
        for p in cell.parameters():
            p.zero_()
        W, b = cell.input.weight.view(4, BITS, BITS + 1), cell.input.bias.view(4, BITS)  # i, f, g, o
        W[0, :, -1], W[1, :, -1], W[2, :, :BITS] = 2000.0, -2000.0, 20 * torch.eye(BITS)
        b[0], b[1], b[3] = -1000.0, forget, 1000.0
        return cell

    def recall(self, cell: GatedRecurrence, rng: Generator) -> tuple[np.ndarray, np.ndarray]:
        """Bits that were written at the first step, and the state after all others, which show noise."""
        bits, x = rng.choice([-1.0, 1.0], (self.trials, BITS)), rng.normal(size=(self.trials, self.steps + 1, BITS + 1))
        x[:, 0, :BITS], x[:, 0, -1], x[:, 1:, -1] = bits, 1, 0
        return bits, walked(cell, tensor(x))[1][-1].numpy()

    def measure(self, rng: Generator) -> Checks:
        bits, kept = self.recall(self.keeper(1000.0, rng), rng)
        yield headline(equal(f"cells after {self.steps} steps are what was written", kept, np.tanh(20 * bits)))
        m, lags, x = self.units, 40, normal(rng, 40, self.units)
        closed, lstm, elman = (built(lambda kind=kind: kind(m, m), rng) for kind in (LSTM, LSTM, Elman))  # type: ignore[misc]
        closed.input.bias.view(4, m)[1], closed.input.bias.view(4, m)[0] = 1000.0, -1000.0
        elman.hidden.weight.mul_(0.9 / torch.linalg.matrix_norm(elman.hidden.weight, 2))
        nets = {"LSTM, f = 1": closed, "LSTM, as it begins": lstm, "Elman, σ₁ = 0.9": elman}
        self.slopes = {k: np.linalg.norm(transport(c, x, c.start(1)), 2, axis=(1, 2)) for k, c in nets.items()}
        self.lags = np.arange(1, lags + 1)
        yield equal("f = 1, i = 0: |∂c_t/∂c_0| at each lag", self.slopes["LSTM, f = 1"], np.ones(lags))
        yield at_most("Elman network: |∂z_t/∂z_0|, σ₁(U) = 0.9", self.slopes["Elman, σ₁ = 0.9"], 0.9**self.lags, rounding=1e-12)
        self.gru, self.x, self.z = built(lambda: GRU(m, m), rng), 5 * normal(rng, self.trials, 60, m), 3 * normal(rng, self.trials, m)
        for p in self.gru.parameters():
            p.mul_(6)
        largest = walked(self.gru, self.x, (self.z,))[0].abs().amax((1, 2)).numpy()
        self.limit = np.maximum(self.z.abs().amax(1).numpy(), 1)
        yield at_most("GRU: |z_t|_∞ over all t", largest, self.limit, rounding=1e-12)
        yield at_most("GRU from z_0 = 0: least state, below 0 by the candidate", float(walked(self.gru, self.x)[0].min()), -0.5)
        yield equal("parameters for n = 7, m = 5: 4 and 3 times m(m + n) + 2m", [size(LSTM(7, 5)), size(GRU(7, 5))], np.array([280, 210]))

    def control(self, rng: Generator) -> Checks:
        bits, kept = self.recall(self.keeper(3.0, rng), rng)
        yield because("the forget gate is 0.95", equal("cells after all steps are what was written", kept, np.tanh(20 * bits)))
        largest = walked(built(lambda: SumGRU(self.units, self.units), rng), self.x, (self.z,))[0].abs().amax((1, 2)).numpy()
        yield because("the state is added to, not mixed", at_most("|z_t|_∞ over all t", largest, self.limit))
        wrong = PrintedGRU(self.units, self.units).double().requires_grad_(False)
        wrong.load_state_dict(self.gru.state_dict())
        yield printed(at_most("GRU from z_0 = 0: least state", float(walked(wrong, self.x)[0].min()), -0.5), "C18")

    def plots(self) -> list[Panel]:
        panel = Panel("An open forget gate keeps the gradient", "lag t", "|∂$s_t$/∂$s_0$|", log="y")
        return [panel.series(self.lags, self.slopes).bound(self.lags, 0.9**self.lags, "$0.9^t$")]
