from headway.lab.kit import Checks, Experiment, Generator, Panel, at_least, at_most, because, equal, headline, np, param
from headway.lab.tools.perceptron import XOR, inseparable, reachable, walk
from headway.lab.tools.programs import separable

AND = XOR * [[-1], [1], [1], [1]]


class PerceptronNonseparable(Experiment):
    """On XOR the perceptron never stops, but its weights stay bounded and, on whole-numbered data, come back.

    Perceptron cycling theorem: for every finite set there is M with

        ||w_t|| <= ||w_0|| + M     for all t and every order of updates,     w <- w + y x where y wᵀx <= 0,

    separable or not. With whole numbers only finitely many states remain, so a cyclic run is periodic. Here all states that any order can
    reach are enumerated: their largest norm bounds every run, and each has a mistake left. The pocket variant, which keeps the best weights
    seen, reaches the optimum of 1 mistake in 4 when the points are drawn independently (Gallant); in cyclic passes over XOR it stays at 2.

    Notes: C. Source: Block and Levin 1970, Proceedings of the AMS 26, pp. 229-235; Gallant 1990, https://doi.org/10.1109/72.80230
    Assumes: finitely many points; no hyperplane separates them; updates only at mistakes; periodicity: whole numbers, a cyclic order.
    Deviates: 500 epochs and more, as drawn points have not reached the optimum by then with probability 3·10⁻⁵ (of 162 states and 4 draws).
    Also: perceptron cycling theorem; perceptron on XOR; pocket algorithm.
    """

    epochs = param(5000, "passes over the four points", least=500, most=100_000, small=500)
    sets = param(5, "random sets of whole-numbered points that are not separable", least=1, most=20, small=2)
    reach = param(50_000, "states after which a search is given up", least=10_000, most=200_000)

    def measure(self, rng: Generator) -> Checks:
        every = np.tile(np.arange(4), (self.epochs, 1))
        self.runs = {"cyclic": walk(XOR, every), "shuffled": walk(XOR, rng.permuted(every, axis=1))}
        self.runs["drawn"] = walk(XOR, rng.integers(0, 4, (self.epochs, 4)))
        sets = {"XOR": XOR} | {f"set {k + 1}": inseparable(rng) for k in range(self.sets)}
        states = {name: reachable(z, self.reach) for name, z in sets.items()}
        counts = {name: len(found) for name, found in states.items()}
        yield at_most("states that some order reaches, all found", counts, self.reach)
        bounds = {name: np.linalg.norm(list(found), axis=1).max() for name, found in states.items()}
        walks = [("XOR", run) for run in self.runs.values()]
        walks += [(name, walk(z, np.tile(np.arange(6), (200, 1)))) for name, z in sets.items() if name != "XOR"]
        norms, limits = [run.norms.max() for _, run in walks], [bounds[name] for name, _ in walks]
        yield headline(at_most("‖(w, b)‖ at all times, against all states", norms, limits))
        least = {name: min(found.values()) for name, found in states.items()}
        yield at_least("mistakes left in every state", least, 1, kind="EXACT")
        new = [len(set(run.states) - set(states["XOR"])) for run in self.runs.values()]
        yield equal("states of the runs that were not enumerated", new, 0)
        updates = {name: self.runs[name].updates for name in ("cyclic", "shuffled")}
        yield at_least(f"updates in each of {self.epochs} epochs", updates, 1, kind="EXACT")
        start, period = self.runs["cyclic"].cycle()
        ends = np.array(self.runs["cyclic"].ends[start:])
        yield at_least("cyclic: period of the weights, in epochs", period, 1, kind="EXACT")
        yield equal("cyclic: the weights one period later", ends[period:], ends[: len(ends) - period])
        without = [separable(np.delete(XOR, i, axis=0).astype(float)) for i in range(4)]
        yield equal("three of the four points are separable: 1 mistake is the optimum", sum(without), 4)
        pockets = np.array([self.runs[name].pocket[-1] for name in ("drawn", "cyclic")])
        yield equal("mistakes of the pocket: 1 for points drawn independently, 2 for cyclic ones", pockets, [1, 2])
        self.bound, self.count = bounds["XOR"], counts["XOR"]

    def control(self, rng: Generator) -> Checks:
        left = min(reachable(AND, self.reach).values())
        yield because("AND is separable", at_least("mistakes left in every state", left, 1, kind="EXACT"))
        always = np.cumsum(np.tile(XOR[1:], (self.epochs, 1)), axis=0)  # three of the points
        yield because("w is changed without a mistake", at_most("‖(w, b)‖", np.linalg.norm(always, axis=1), self.bound))
        odd = XOR * np.array([[1.0], [1.0], [1.0], [2**0.5]])
        period = at_least("period in 500 epochs", walk(odd, np.tile(np.arange(4), (500, 1))).cycle()[1], 1, kind="EXACT")
        yield because("a point is multiplied by √2, not a whole number", period)

    def plots(self) -> list[Panel]:
        left = Panel("Weights stay bounded", "update", "‖(w, b)‖").level(self.bound, f"largest of {self.count} states")
        left.curve(np.arange(81), {name: run.norms[:81] for name, run in self.runs.items()})
        whole = {float(k): str(k) for k in range(5)}
        middle = Panel("Mistakes never end", "epoch", "updates in 4 points").limits(y=(0, 4.3)).ticks(y=whole)
        middle.series(np.arange(1, 31), {name: self.runs[name].updates[:30] for name in ("cyclic", "shuffled")})
        right = Panel("The pocket", "epoch", "fewest mistakes so far", log="x").limits(y=(0, 4.3)).ticks(y=whole)
        right.curve(np.arange(1, self.epochs + 1), {name: self.runs[name].pocket for name in ("cyclic", "drawn")})
        return [left, middle, right]
