from itertools import combinations

from headway.lab import style
from headway.lab.kit import Checks, Experiment, Generator, Panel, because, equal, headline, np, param
from headway.lab.tools.bits import cube
from headway.lab.tools.logic_gates import adder, at_least_k, circuit, clause, term, unit
from headway.models.classical.mcculloch_pitts import McCullochPitts

EXAMPLE = np.array([1, -1, 1])  # x₁ ∨ ¬x₂ ∨ x₃
SIDE = np.array([[1.0, 0.0], [0.45, 0.38], [0.0, 1.0]])  # the cube seen from the side: where each axis goes on paper


def literals(x: np.ndarray, sigma: np.ndarray) -> np.ndarray:
    """The truth values of the literals that are present, as Boolean logic says and without arithmetic."""
    return np.where(sigma > 0, x == 1, x == 0)[:, sigma != 0]


class MpGates(Experiment):
    """A threshold unit with weights ±1 computes AND, OR, NOT, k-of-n and every clause and term; circuits of them compute everything.

        f(x) = 1{σᵀx >= θ},    σ ∈ {-1, +1}^n

    AND is θ = n, OR is θ = 1, k-of-n is θ = k (σ = 1); NOT is σ = -1, θ = 0. A clause with q negated literals has θ = 1 - q, since
    x_1 ∨ ¬x_2 ∨ x_3 means x_1 + (1 - x_2) + x_3 >= 1; a term with n literals has θ = n - q. In the strict form <w, x> > b take b = θ - ½.

    Notes: C, E. Source: McCulloch and Pitts 1943, https://doi.org/10.1007/BF02478259
    Assumes: inputs are 0 or 1; a variable that a clause does not mention is not connected (weight 0).
    Also: McCulloch-Pitts neuron; logic gates from threshold units.
    """

    n = param(10, "inputs up to which truth tables are complete", least=3, most=12, small=6)
    clauses = param(200, "random clauses, and as many random terms", least=8, most=1000, small=40)
    bits = param(4, "of the two numbers that a circuit of units adds", least=1, most=6, small=3)

    def measure(self, rng: Generator) -> Checks:
        n, x = self.n, cube(self.n)
        self.signs = [s for s in rng.integers(-1, 2, (4 * self.clauses, n)) if s.any()][: self.clauses]
        units = {"clause": [clause(s) for s in self.signs], "term": [term(s) for s in self.signs]}
        truth = np.array([[f(literals(x, s), axis=1) for s in self.signs] for f in (np.any, np.all)])
        values = np.array([[u(x) for u in group] for group in units.values()])
        yield headline(equal(f"{len(self.signs)} random clauses and terms, on all {2**n} inputs", values, truth))
        strict = np.array([[x @ np.array(u.weights) > u.threshold - 0.5 for u in group] for group in units.values()])
        yield equal("the same in the strict form", strict, truth)
        sizes = range(1, n + 1)
        gates = [(at_least_k(m, k)(cube(m)), f(cube(m), axis=1)) for m in sizes for k, f in ((m, np.all), (1, np.any))]
        yield equal(f"AND and OR of 1 … {n} inputs", *(np.concatenate(part) for part in zip(*gates, strict=True)))
        yield equal("NOT", McCullochPitts.negation()(cube(1)), np.array([1, 0]))
        some = [np.any([x[:, list(s)].all(axis=1) for s in combinations(range(n), k)], axis=0) for k in sizes]
        yield equal(f"k of {n}: some k inputs are 1", np.array([at_least_k(n, k)(x) for k in sizes]), np.array(some))
        negate, every = McCullochPitts.negation(), list(range(n))
        nots, after = [(negate, [i]) for i in every], list(range(n, 2 * n))
        left = [circuit(x, [(at_least_k(n, k), every), (negate, [n])])[:, -1] for k in (n, 1)]
        right = [circuit(x, [*nots, (at_least_k(n, k), after)])[:, -1] for k in (1, n)]
        yield equal("De Morgan: ¬AND = OR of ¬, ¬OR = AND of ¬", np.array(left), np.array(right))
        cnf = [*((clause(s), every) for s in self.signs[:8]), (at_least_k(8, 8), list(range(n, n + 8)))]
        yield equal("a conjunction of 8 clauses", circuit(x, cnf)[:, -1], truth[0][:8].all(axis=0))
        both = [(at_least_k(2, 1), [0, 1]), (clause(np.array([-1, -1])), [0, 1]), (at_least_k(2, 2), [2, 3])]
        yield equal("XOR from three units", circuit(cube(2), both)[:, -1], np.array([0, 1, 1, 0]))
        ab, sums, powers = np.pad(cube(2 * self.bits), ((0, 0), (0, 1))), adder(self.bits), 2 ** np.arange(self.bits)
        wires = circuit(ab, sums)
        total = wires[:, 2 * self.bits + 2 :: 2] @ powers + wires[:, -2] * 2**self.bits
        wanted = ab[:, : 2 * self.bits] @ np.tile(powers, 2)
        yield equal(f"all sums of {self.bits} bits, from {len(sums)} units", total, wanted)

    def control(self, rng: Generator) -> Checks:
        x, truth = cube(3), literals(cube(3), EXAMPLE).any(axis=1)
        yield because("inputs are -1 and +1", equal("x₁ ∨ ¬x₂ ∨ x₃", clause(EXAMPLE)(2 * x - 1), truth))
        joined = equal("x₁ ∨ ¬x₂ ∨ x₃ of four inputs", unit([1, -1, 1, 1], 0)(cube(4)), np.tile(truth, 2))
        yield because("x₄, which it does not mention, is connected", joined)
        units = [unit(s, t) for s in ((1, 1), (1, -1), (-1, 1), (-1, -1)) for t in range(-2, 4)]
        right = max(int(np.sum(u(cube(2)) == [0, 1, 1, 0])) for u in units)
        yield because("XOR is neither a clause nor a term", equal("inputs that the best unit gets right", right, 4))

    def resolution(self, rng: Generator) -> Checks:
        x, truth = cube(3), literals(cube(3), EXAMPLE).any(axis=1)
        yield equal("x₁ ∨ ¬x₂ ∨ x₃ with θ = 1, the negation not counted", unit(EXAMPLE, 1)(x), truth)
        yield equal("x₁ ∨ ¬x₂ ∨ x₃ in the strict form with b = θ", x @ EXAMPLE > 0, truth)

    def plots(self) -> list[Panel]:
        x = cube(3)
        rows = {"AND, θ = 3": at_least_k(3, 3), "2 of 3, θ = 2": at_least_k(3, 2), "OR, θ = 1": at_least_k(3, 1)}
        rows |= {"x₁ ∨ ¬x₂ ∨ x₃, θ = 0": clause(EXAMPLE), "x₁ ∧ ¬x₂ ∧ x₃, θ = 2": term(EXAMPLE)}
        rows |= {"¬x₁ ∨ ¬x₂ ∨ ¬x₃, θ = -2": clause(-np.ones(3, dtype=int))}
        left = Panel("Truth tables (dark: 1)", "inputs x₁x₂x₃", "unit")
        left.image(np.array([u(x) for u in rows.values()]), colours="Blues", limits=(-0.2, 1.3))
        left.ticks(dict(enumerate("".join(map(str, row)) for row in x)), dict(enumerate(rows)))
        left.custom(lambda axes: axes.tick_params(axis="x", labelsize=8))
        right = Panel("x₁ ∨ ¬x₂ ∨ x₃ cuts off one corner", "x₁ (x₂ goes to the back)", "x₃")
        edges = [np.array(pair) @ SIDE for pair in combinations(x, 2) if np.abs(pair[0] - pair[1]).sum() == 1]
        for edge in edges:
            right.target(*edge.T)
        cut = np.array([[0, 0.5, 0], [0.5, 1, 0], [0, 1, 0.5]]) @ SIDE  # where σᵀx = θ - ½ = -½ meets the edges
        right.custom(lambda axes: axes.fill(*cut.T, color=style.ORANGE, alpha=0.5, label="x₁ - x₂ + x₃ = -½"))
        value = clause(EXAMPLE)(x)
        for wanted, name, colour in ((1, "true", style.BLUE), (0, "false: only 010", style.VERMILION)):
            a, b = (x[value == wanted] @ SIDE).T
            right.points(a, b, name, colour, 70)
        for corner, (a, b) in zip(x, x @ SIDE, strict=True):
            right.note(a + 0.05, b + 0.05, "".join(map(str, corner)))
        return [left, right.limits((-0.1, 1.75), (-0.1, 1.6)).ticks({0: "0", 1: "1"}, {0: "0", 1: "1"})]
