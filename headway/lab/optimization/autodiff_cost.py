import torch
from torch import Tensor

from headway.inspect.cost import cost
from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, close, equal, headline, np, param, printed, slope
from headway.lab.tools.backpropagation import Risk
from headway.lab.tools.layers import drawn
from headway.lab.tools.layers64 import multiply_adds


class AutodiffCost(Experiment):
    """Reverse mode finds all derivatives of a number for the price of three evaluations; forward mode needs a pass for each of them.

    For a net with layers of n_ℓ inputs and m_ℓ units, a batch of s examples and P parameters, in multiply-adds,

        evaluation: s Σ_ℓ n_ℓ m_ℓ = c,     gradient by reverse mode: 3c - s n_1 m_1 <= 3c,     by forward mode: 3c P.

    On the way back each layer multiplies twice: for its weights and, except for the first one, for its inputs. The price is a constant
    number of evaluations, whatever P is; it is not independent of P, because an evaluation is not.

    Notes: D. Source: Baur and Strassen 1983, https://doi.org/10.1016/0304-3975(83)90110-X; Griewank and Walther 2008, ch. 4
    Assumes: one number is differentiated; only products of matrices count.
    Deviates: operations are counted by torch, not timed, so that the load of the machine does not matter.
    Also: cheap gradient principle; reverse mode; forward mode automatic differentiation; cost of backpropagation.
    """

    cost = "M"  # torch needs seconds to load its forward mode
    widths = param((32, 64, 128, 256, 512), "of the hidden layers", least=32, most=2048, count=4, small=(32, 64, 96, 128))
    depth = param(3, "hidden layers", least=2, most=10)
    inputs = param(10, "n₁, input variables", least=1, most=12)
    batch = param(8, "s, examples", least=1, most=64)
    outputs = param(10, "of the net that gives more than one number", least=4, most=30)

    def conditions(self) -> list[tuple[bool, str]]:
        return [(max(self.widths) >= 3 * min(self.widths), "the largest of `widths` must be three times the least or more")]

    def measure(self, rng: Generator) -> Checks:
        shape, counts = (self.batch, self.inputs), []
        for width in self.widths:
            risk = Risk(self.inputs, width, self.depth)
            size = sum(p.numel() for p in risk.parameters())
            one = multiply_adds(risk.along, shape, (size,))
            counts.append([size, multiply_adds(risk, shape), multiply_adds(risk.reverse, shape), one * size])
        self.size, self.once, self.back, self.forward = np.array(counts).T
        w = np.array(self.widths)
        c = self.batch * (self.inputs * w + (self.depth - 1) * w**2 + w)
        yield equal("evaluation, s Σ n m", self.once, c)
        yield equal("gradient by reverse mode, 3c - s n₁m₁", self.back, 3 * c - self.batch * self.inputs * w)
        yield headline(at_most("gradient / evaluation", self.back / self.once, 3.0))
        yield slope("reverse mode: cost in P", self.size, self.back, 1, 0.05)
        yield slope("forward mode: cost of all derivatives in P", self.size, self.forward, 2, 0.05)
        package = cost(risk.net, torch.zeros(shape), per=1)
        yield equal("`cost` of the package: FLOPs of an evaluation", package.forward, float(2 * c[-1]))
        small = drawn(Risk(3, 4, 2), rng)
        x, n = torch.from_numpy(rng.normal(size=(5, 3))), sum(p.numel() for p in small.parameters())
        found = [float(small.along(x, e)) for e in torch.eye(n, dtype=torch.float64)]
        yield close(f"a net of {n} parameters: forward, reverse mode", found, small.reverse(x).numpy(), 1e-12)

    def control(self, rng: Generator) -> Checks:
        yield printed(slope("reverse mode: independent of P", self.size, self.back, 0, 0.05), "D2")
        risk, x = Risk(self.inputs, self.widths[0], self.depth, self.outputs), (1, self.inputs)

        def jacobian(x: Tensor) -> None:
            for f in risk.net.logits(risk.net(x))[0]:
                torch.autograd.grad(f, list(risk.parameters()), retain_graph=True)

        ratio = multiply_adds(jacobian, x) / multiply_adds(risk, x)
        yield because(f"{self.outputs} numbers are differentiated", at_most("reverse mode / evaluation", ratio, 3.0))

    def plots(self) -> list[Panel]:
        panel = Panel("Only forward mode grows like P²", "parameters P", "multiply-adds", "xy")
        panel.series(self.size, {"evaluation": self.once, "reverse mode": self.back, "forward mode": self.forward})
        return [panel.bound(self.size, 3 * self.once, "3 evaluations")]
