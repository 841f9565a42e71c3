from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, close, equal, headline, np, param
from headway.lab.tools.bits import cube
from headway.lab.tools.hopfield import descend, energy, pictures, sgn, symmetric
from headway.models.classical.hopfield_network import HopfieldNetwork

SIDE = 12  # of the pictures, in pixels


class HopfieldEnergy(Experiment):
    """Asynchronous updates of a Hopfield network never raise its energy, so every run ends in a fixed point.

    With w_ij = w_ji and w_ii = 0, states x ∈ {-1, +1}^n and the field H_i,

        H(x) = -½ xᵀWx + bᵀx,     H_i = Σ_j w_ij x_j - b_i,     flipping x_i changes H by ΔH = 2 x_i H_i  (x_i, H_i before the flip)

    so x_i <- sgn(H_i), with sgn(0) = +1, only takes steps with ΔH <= 0. Synchronous updates can go to and fro between two states.

    Notes: C. Source: Hopfield 1982, https://doi.org/10.1073/pnas.79.8.2554
    Assumes: w_ij = w_ji; w_ii = 0 (or >= 0); one unit at a time. Also: Hopfield network energy descent; asynchronous Hopfield dynamics.
    """

    n = param(50, "units", least=10, most=150, small=20)
    starts = param(200, "random starts, each with its own order of updates", least=4, most=400, small=20)
    sweeps = param(100, "after which a run counts as unsettled", least=60, most=1000)
    corrupted = param(0.2, "share of the pixels of a picture that are flipped", least=0.0, most=0.25)

    def measure(self, rng: Generator) -> Checks:
        n, starts = self.n, self.starts
        W, b, x = symmetric(n, rng), rng.normal(0, 0.3, n), rng.choice([-1.0, 1.0], (starts, n))
        self.run = run = descend(x, W, b, self.sweeps, rng)
        yield headline(at_most("ΔH of every flip, recomputed", np.diff(run.energies, axis=0)[run.predicted != 0], 0))
        flipped = np.where(np.eye(n, dtype=bool), -x[:, None], x[:, None])  # each state with each unit flipped
        direct = energy(flipped.reshape(-1, n), W, b).reshape(starts, n) - energy(x, W, b)[:, None]
        yield close(f"ΔH = 2 x_i H_i for all {n} units of {starts} states", 2 * x * (x @ W - b), direct, 1e-12)
        yield equal("the ends are fixed points x = sgn(Wx - b)", run.x, sgn(run.x @ W - b))
        whole = np.rint(3 * symmetric(n, rng) * n**0.5)  # with b = ½, |H_i| >= ½: a flip lowers H by at least 1
        counted = descend(x, whole, np.full(n, 0.5), self.sweeps, rng)
        yield at_most("flips, W of whole numbers, against the fall of H", counted.flips, np.ptp(counted.energies, axis=0))
        small, bias = np.rint(2 * symmetric(8, rng) * 8**0.5), np.rint(rng.normal(0, 1, 8))
        small[0, 1:] = small[1:, 0] = bias[0] = 0  # the first unit is always undecided
        states, unit = 2.0 * cube(8) - 1, np.eye(8, dtype=bool)[:, None]
        up, down = (np.stack([energy(np.where(i, v, states), small, bias) for i in unit], axis=1) for v in (1, -1))
        ties = f"rule by energies, rule by fields, {np.sum(up == down)} ties to +1"
        yield equal(ties, sgn(down - up), sgn(states @ small - bias))
        settled = [r.settled.mean() for r in (run, counted, descend(states, small, bias, self.sweeps, rng))]
        yield equal("shares of runs that settle, also with ties from all 256 starts", np.array(settled), [1, 1, 1])
        self.stored, self.noisy = pictures(SIDE), pictures(SIDE)
        for picture in self.noisy:
            picture[rng.choice(SIDE**2, round(self.corrupted * SIDE**2), replace=False)] *= -1
        self.recalled = HopfieldNetwork().fit(self.stored).transform(self.noisy)
        yield equal(f"`hopfield-network` recalls pictures, {self.corrupted:.0%} flipped", self.recalled, self.stored)

    def control(self, rng: Generator) -> Checks:
        n, one, none = self.n, np.eye(self.n), np.zeros(self.n)
        after = sgn(np.ones((1, n)) @ (one - 1))
        yield because("all units change at once", equal("W = I - 11ᵀ: x is fixed then", after, sgn(after @ (one - 1))))
        starts, upper = rng.choice([-1.0, 1.0], (min(self.starts, 50), n)), np.triu(symmetric(n, rng))
        settled = descend(starts, upper - upper.T, none, 10, rng).settled
        yield because("W is antisymmetric", equal("runs that settle", settled, True))
        steps = np.diff(descend(starts, rng.normal(0, n**-0.5, (n, n)) * (1 - one), none, 10, rng).energies, axis=0)
        yield because("W is not symmetric", at_most("ΔH of a step", steps, 1e-12))
        self.negative = descend(starts, symmetric(n, rng) - 2 * one, none, 10, rng).energies
        yield because("the diagonal is -2", at_most("ΔH of some step", np.diff(self.negative, axis=0), 1e-12))

    def plots(self) -> list[Panel]:
        left = Panel("Energy falls until nothing changes", "sweeps over all units", "energy H")
        shown, raised = self.run.energies[: 6 * self.n, :8], self.negative[: 6 * self.n, 0] - self.n  # less xᵀDx/2
        left.thin(np.arange(len(shown)) / self.n, shown.T)
        left.curve(np.arange(len(shown)) / self.n, shown[:, 0], "symmetric W")
        left.control(np.arange(len(raised)) / self.n, raised, "diagonal -2")
        columns = [np.pad(p.reshape(3, SIDE, SIDE), 1)[1:-1] for p in (self.stored, self.noisy, self.recalled)]
        names = ("stored", f"{self.corrupted:.0%} flipped", "recalled"), ("ring", "cross", "stripes")
        at = [(k + 0.5) * (SIDE + 2) - 0.5 for k in range(3)]
        right = Panel("Pictures are recalled", "state of the network", "pattern")
        right.image(np.hstack([column.reshape(-1, SIDE + 2) for column in columns]), colours="Greys", stretch=False)
        return [left, right.ticks(*(dict(zip(at, row, strict=True)) for row in names))]
