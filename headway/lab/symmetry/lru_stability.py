import torch

from headway.lab.kit import (
    Checks, Experiment, Generator, Panel, at_least, at_most, because, close, headline, math, mean_is, np, param,
    printed, share_is, slope,
)
from headway.lab.tools.layers64 import built, normal, tensor
from headway.layers.recurrences.lru import LRU
from headway.layers.recurrences.scan import linear_scan


class LRUStability(Experiment):
    """A linear recurrence with λ = exp(-e^ν + iθ) is stable whatever training does to ν.

        |λ| = exp(-e^ν) ∈ (0, 1),      impulse response |λ|^t,      γ = √(1 - |λ|²)  ⇒  E|z|² = E|x|² for white noise

    A diagonal recurrence loses nothing: A = PΛP⁻¹ has the same outputs. |λ| > 1 diverges; |λ| = 1 neither grows nor decays, or grows like t
    where A is a Jordan block. A point is uniform on the disk if r² is uniform: then a quarter of all |λ| is below ½.

    Notes: C. Source: Orvieto et al. 2023, https://arxiv.org/abs/2303.06349
    Assumes: λ = exp(-e^ν + iθ); r² is uniform at the beginning; γ = √(1 - |λ|²).
    Also: linear recurrent unit; stable parametrisation.
    """

    states = param(16, "complex states", least=2, most=64)
    steps = param(400, "positions", least=100, most=4000)
    draws = param(20_000, "first values of λ", least=2000, most=100_000)

    def measure(self, rng: Generator) -> Checks:
        n, T = self.states, self.steps
        layer, x = built(lambda: LRU(3, 3, n), rng), normal(rng, T, 3)
        pole, gain = (z.numpy() for z in layer.poles())
        B, C = (np.ascontiguousarray(p.numpy()).view(complex)[..., 0] for p in (layer.B, layer.C))
        P = np.linalg.qr(rng.normal(size=(2 * n, 2 * n)))[0] + 0.1 * rng.normal(size=(2 * n, 2 * n)) / math.sqrt(n)
        turn = np.block([[np.diag(pole.real), -np.diag(pole.imag)], [np.diag(pole.imag), np.diag(pole.real)]])
        A = P @ turn @ np.linalg.inv(P)  # a dense real matrix with the eigenvalues λ and their conjugates
        B = gain[:, None] * B
        write, read = P @ np.concatenate([B.real, B.imag]), np.concatenate([C.real, -C.imag], axis=1) @ np.linalg.inv(P)
        state, dense = np.zeros(2 * n), []
        for row in x.numpy():
            state = A @ state + write @ row
            dense.append(read @ state + layer.D.weight.numpy() * row)
        yield close("outputs of the layer and of a dense real A = PΛP⁻¹", layer(x[None])[0].numpy(), np.stack(dense), 1e-8)
        self.nu, r, wild = np.linspace(-50, 50, 201), np.linspace(0.01, 0.999, 201), built(lambda: LRU(1, 1, 201), rng)
        wild.nu.copy_(tensor(self.nu))
        self.radius = wild.poles()[0].abs().numpy()
        yield headline(at_least("0 < |λ| < 1 for ν from -50 to 50, by 1e-40", {"|λ|": self.radius, "1 - |λ|": 1 - self.radius}, 1e-40))
        wild.nu.copy_(tensor(np.log(-np.log(r))))
        yield close("ν = log(-log r) gives the modulus r", wild.poles()[0].abs().numpy(), r, 1e-12)
        self.t, radii = np.arange(T), np.array([0.97, 1.0, 1.01])
        impulse = torch.eye(T, 1, dtype=torch.complex128).expand(1, T, 3)
        self.response = linear_scan(torch.from_numpy(radii * np.exp(1j)), impulse)[0].abs().numpy()
        yield close("impulse response |λ|^t for |λ| = 0.97, 1, 1.01", self.response, radii ** self.t[:, None])
        powers = [np.linalg.norm(np.linalg.matrix_power([[1, 1], [0, 1]], k), 2) for k in (25, 50, 100, 200)]
        yield slope("Jordan block with λ = 1: |A^t| in t", (25, 50, 100, 200), powers, 1, 0.01)

    def sample(self, rng: Generator) -> Checks:
        self.first = built(lambda: LRU(1, 1, self.draws, r_min=0.0, r_max=1.0), rng).poles()[0].numpy()
        yield share_is("share of |λ| below ½ at the beginning", int((np.abs(self.first) < 0.5).sum()), self.draws, 0.25)
        layer, trials = built(lambda: LRU(4, 4, 32, r_min=0.5, r_max=0.98), rng), 400
        pole, gain = layer.poles()
        states = linear_scan(pole, layer._write(normal(rng, trials, 300, 4), gain))[:, -1].abs().square()
        rows = torch.view_as_complex(layer.B).abs().square().sum(1)  # E|b·x|²
        yield mean_is("E|z|² / E|Bx|² for white noise", (states / rows).mean(1).numpy(), 1)

    def control(self, rng: Generator) -> Checks:
        yield because("|λ| is a free number, which training made 1.01", at_most("a state after all steps", self.response[-1, 2], 1))
        x = normal(rng, 400, 300)
        noise = linear_scan(torch.tensor(0.9 + 0j), x[..., None].to(torch.complex128))[:, -1, 0].abs().square().numpy()
        yield because("γ is left out", mean_is("|λ| = 0.9: E|z|² / E|x|²", noise, 1))
        hits = int((rng.random(self.draws) < 0.5).sum())
        yield printed(share_is("r uniform: share of |λ| below ½ if points are uniform on the disk", hits, self.draws, 0.25), "C19")

    def plots(self) -> list[Panel]:
        one = Panel("λ at the beginning", "Re λ", "Im λ").custom(lambda axes: axes.set_aspect("equal"))
        one.points(self.first[:1000].real, self.first[:1000].imag, size=5)
        two = Panel("Impulse responses", "t", "|$z_t$|", log="y")
        two.curve(self.t, dict(zip(("|λ| = 0.97", "|λ| = 1", "|λ| = 1.01"), self.response.T, strict=True)))
        inside = (self.nu > -8) & (self.nu < 2)
        three = Panel("ν sets the memory", "ν", "memory -1/log |λ| (positions)", log="y")
        return [one, two, three.curve(self.nu[inside], -1 / np.log(self.radius[inside]), "e^(-ν)")]
