import copy
from itertools import permutations, product

import torch
from torch import nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from headway.lab.kit import Checks, Experiment, Generator, Panel, because, close, equal, headline, math, np, param, printed
from headway.lab.tools.flat_network import gradient, moved, scores
from headway.lab.tools.layers import applied, drawn, shallow_net


class NetSymmetries(Experiment):
    """Parameters are not unique: hidden units may change places, signs (tanh) or scales (ReLU), and the function stays the same.

    For f(x) = Wφ(Vx + a) + b, a risk R, and a matrix S with φ(Sz) = Sφ(z),

        (V, a, W, b)  ->  (SV, Sa, WS^{-1}, b)   leaves f as it is,       ∂R/∂V -> S^{-T} ∂R/∂V,   ∂R/∂W -> ∂R/∂W S^T.

    Every φ commutes with the m! permutations, an odd one with m! 2^m signed ones, ReLU with positive diagonals. So a minimum never comes
    alone, and the mean of two is none. Without φ every S would do: linear layers are one matrix, whose rank is at most the least width.

    Notes: C. Source: Sussmann 1992, https://doi.org/10.1016/S0893-6080(05)80037-1; Neyshabur et al. 2015, https://arxiv.org/abs/1506.02617
    Assumes: S commutes with φ; S is invertible.
    Also: permutation symmetry; rescaling symmetry of ReLU; identifiability of networks.
    """

    units = param(3, "m, hidden units", least=2, most=4)
    inputs = param(2, "input variables", least=1, most=10)
    points = param(40, "inputs at which two nets are compared", least=5, most=1000)

    def measure(self, rng: Generator) -> Checks:
        self.x, m = rng.normal(size=(self.points, self.inputs)) * 2, self.units
        turns = [np.eye(m)[list(order)] for order in permutations(range(m))]
        signed = [np.diag(s) @ S for S in turns for s in product((1.0, -1.0), repeat=m)]
        scaled = [S @ np.diag(10 ** rng.uniform(-1, 1, m)) for S in turns]
        self.nets = {name: shallow_net(self.inputs, 2, m, name, rng) for name in ("tanh", "relu")}
        copies = [moved(self.nets["tanh"], S) for S in signed]
        self.theta = np.stack([parameters_to_vector(c.parameters()).detach().numpy() for c in copies])
        yield equal("tanh: different parameters, m! 2^m", len(np.unique(self.theta, axis=0)), math.factorial(m) * 2**m)
        for name, group, text in (("tanh", signed, "all of them"), ("relu", scaled, "m! permuted, rescaled copies")):
            net, x = self.nets[name], self.x
            found = np.stack([scores(moved(net, S), x) for S in group])
            check = close(f"{name}: f of {text}", found, np.broadcast_to(scores(net, x), found.shape), 1e-12)
            yield headline(check) if name == "tanh" else check
            slopes = np.stack([gradient(moved(net, S), x, S) for S in group])
            yield close(f"{name}: their gradients", slopes, np.broadcast_to(gradient(net, x, np.eye(m)), slopes.shape), 1e-12)
        linear = drawn(nn.Sequential(nn.Linear(8, 6), nn.Linear(6, m), nn.Linear(m, 7)), rng)
        found = applied(linear, np.concatenate([np.zeros((1, 8)), np.eye(8)]))
        yield equal("linear layers, the least m wide: rank", int(np.linalg.matrix_rank(found[1:] - found[0])), m)

    def control(self, rng: Generator) -> Checks:
        x, m, odd, bent = self.x, self.units, self.nets["tanh"], self.nets["relu"]
        yield because("ReLU is not odd", close("relu: all signs changed", scores(moved(bent, np.diag([-1.0] * m)), x), scores(bent, x)))
        yield because("tanh is not homogeneous", close("tanh: all units doubled", scores(moved(odd, 2 * np.eye(m)), x), scores(odd, x)))
        merge = np.eye(m)[[0, 0, *range(2, m)]].T  # each column has the sum 1, the second row has none
        yield printed(close("entries with column sums 1", scores(moved(odd, merge), x), scores(odd, x)), "C8")

    def plots(self) -> list[Panel]:
        t, f, twin = np.linspace(0, 1, 31), scores(self.nets["tanh"], self.x), copy.deepcopy(self.nets["tanh"])

        def away(theta: np.ndarray) -> float:
            vector_to_parameters(torch.from_numpy(theta), twin.parameters())
            return float(np.mean((scores(twin, self.x) - f) ** 2))

        curves = [[away((1 - s) * self.theta[0] + s * end) for end in self.theta[1:]] for s in t]
        title = f"From a net to its {len(self.theta) - 1} copies: equal at both ends, not between"
        return [Panel(title, "way from the net to a copy", "mean squared difference of f").thin(t, np.transpose(curves))]
