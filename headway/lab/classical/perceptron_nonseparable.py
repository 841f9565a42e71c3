from headway.lab.kit import Checks, Experiment, Generator, Panel, at_least, at_most, because, equal, headline, np, param
from headway.lab.tools.perceptron import reachable, walk
from headway.lab.tools.programs import separable

XOR = np.array([[0, 0, 1], [1, 1, 1], [0, -1, -1], [-1, 0, -1]])  # rows y (x₁, x₂, 1), labels of notes C
AND = np.array([[0, 0, -1], [1, 1, 1], [0, -1, -1], [-1, 0, -1]])


def inseparable(rng: Generator) -> np.ndarray:
    """Six points with coordinates -2 … 2 and random labels that no line separates, as rows y (x, 1)."""
    while True:
        x, y = rng.integers(-2, 3, (6, 2)), rng.choice([-1, 1], 6)
        z = y[:, None] * np.column_stack([x, np.ones(6, dtype=int)])
        if not separable(z.astype(float)):
            return z


class PerceptronNonseparable(Experiment):
    """On XOR the perceptron never stops, but its weights stay bounded and, on whole-numbered data, come back.

    Perceptron cycling theorem: for every finite set there is M with

        ||w_t|| <= ||w_0|| + M     for all t and every order of updates,     w <- w + y x where y wᵀx <= 0,

    separable or not. With whole numbers only finitely many states remain, so a cyclic run is periodic. For XOR all states that any order
    can reach are enumerated: their largest norm bounds every run, and each of them has a mistake left, so no order ever stops. The pocket
    variant, which keeps the best weights seen, reaches the optimum of 1 mistake in 4 when the points are drawn independently, as Gallant
    requires; in cyclic passes over XOR it stays at 2.

    Notes: C. Source: Block and Levin 1970, Proceedings of the AMS 26, pp. 229-235; Gallant 1990, https://doi.org/10.1109/72.80230
    Assumes: finitely many points; no hyperplane separates them; updates only at mistakes; periodicity: whole numbers, a cyclic order.
    Also: perceptron cycling theorem; perceptron on XOR; pocket algorithm.
    """

    epochs = param(5000, "passes over the four points", least=200, most=100_000, small=500)
    sets = param(5, "random sets of whole-numbered points that are not separable", least=1, most=20, small=2)
    reach = param(50_000, "states after which a search is given up", least=10_000, most=200_000)

    def measure(self, rng: Generator) -> Checks:
        yield equal("XOR is separable", separable(XOR.astype(float)), False)
        self.states = reachable(XOR, self.reach)
        self.bound = float(np.linalg.norm(np.array(list(self.states)), axis=1).max())
        every = np.tile(np.arange(4), (self.epochs, 1))
        self.runs = {"cyclic": walk(XOR, every), "shuffled": walk(XOR, rng.permuted(every, axis=1))}
        self.runs["drawn"] = walk(XOR, rng.integers(0, 4, (self.epochs, 4)))
        norms = {name: float(run.norms.max()) for name, run in self.runs.items()}
        yield headline(at_most(f"‖(w, b)‖ at all times, against all {len(self.states)} states", norms, self.bound))
        yield at_least("mistakes left in every state", list(self.states.values()), 1, kind="EXACT")
        new = [len(set(run.states) - set(self.states)) for run in self.runs.values()]
        yield equal("states of the runs that were not enumerated", np.array(new), [0, 0, 0])
        updates = {name: self.runs[name].updates for name in ("cyclic", "shuffled")}
        yield at_least(f"updates in each of {self.epochs} epochs", updates, 1, kind="EXACT")
        start, period = self.runs["cyclic"].cycle()
        yield at_least("cyclic: period of the weights, in epochs", period, 1, kind="EXACT")
        ends = np.array(self.runs["cyclic"].ends[start:])
        yield equal("cyclic: the weights one period later", ends[period:], ends[: len(ends) - period])
        without = [separable(np.delete(XOR, i, axis=0).astype(float)) for i in range(4)]
        yield equal("three of the four points are separable: 1 mistake is the optimum", sum(without), 4)
        pockets = np.array([self.runs[name].pocket[-1] for name in ("drawn", "cyclic")])
        yield equal("mistakes of the pocket, points drawn independently", int(pockets[0]), 1)
        yield equal("mistakes of the pocket, cyclic", int(pockets[1]), 2)
        found = [(z, reachable(z, self.reach)) for z in (inseparable(rng) for _ in range(self.sets))]
        largest = [walk(z, np.tile(np.arange(6), (200, 1))).norms.max() for z, _ in found]
        bounds = [np.linalg.norm(list(states), axis=1).max() for _, states in found]
        yield at_most(f"{self.sets} random sets: largest norm of a run, against all states", largest, bounds)
        left = [min(s.values()) if len(s) <= self.reach else 0 for _, s in found]
        yield at_least(f"{self.sets} random sets: mistakes left in every state", left, 1, kind="EXACT")

    def control(self, rng: Generator) -> Checks:
        done = walk(AND, np.tile(np.arange(4), (50, 1)))
        yield because("AND is separable", at_least("updates in each of 50 epochs", done.updates, 1, kind="EXACT"))
        left = list(reachable(AND, self.reach).values())
        yield because("AND is separable", at_least("mistakes left in every state", left, 1, kind="EXACT"))
        always = np.cumsum(np.tile(XOR[1:], (self.epochs, 1)), axis=0)  # three of the points
        yield because("w is changed without a mistake", at_most("‖(w, b)‖", np.linalg.norm(always, axis=1), self.bound))
        odd = XOR * np.array([[1.0], [1.0], [1.0], [2**0.5]])
        period = walk(odd, np.tile(np.arange(4), (500, 1))).cycle()[1]
        row = at_least("period in 500 epochs (0: none)", period, 1, kind="EXACT")
        yield because("a point is multiplied by √2, not a whole number", row)

    def plots(self) -> list[Panel]:
        left = Panel("Weights stay bounded", "update", "‖(w, b)‖")
        left.level(self.bound, f"largest of {len(self.states)} states")
        for name, run in self.runs.items():
            left.curve(np.arange(81), run.norms[:81], name)
        epoch = np.arange(1, 41)
        middle = Panel("Mistakes never end", "epoch", "updates in 4 points")
        middle.series(epoch, {name: self.runs[name].updates[:40] for name in ("cyclic", "shuffled")})
        right = Panel("The pocket", "epoch", "fewest mistakes so far", log="x")
        right.curve(np.arange(1, self.epochs + 1), {name: self.runs[name].pocket for name in ("cyclic", "drawn")})
        return [left, middle.limits(y=(0, 4.3)), right.limits(y=(0, 4.3))]
