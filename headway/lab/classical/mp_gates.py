from itertools import combinations

from headway.lab import style
from headway.lab.kit import Checks, Experiment, Generator, Panel, because, equal, headline, np, param
from headway.lab.tools.bits import cube, tables
from headway.lab.tools.logic_gates import at_least_k, circuit, clause, conjunction, literals, term, total, unit
from headway.models.classical.mcculloch_pitts import McCullochPitts

NOT, EXAMPLE = McCullochPitts.negation(), np.array([1, -1, 1])  # the example is x₁ ∨ ¬x₂ ∨ x₃
TRUTH = literals(cube(3), EXAMPLE).any(axis=1)
SIDE = np.array([[1.0, 0.0], [0.45, 0.38], [0.0, 1.0]])  # the cube seen from the side: where each axis goes on paper


class MpGates(Experiment):
    """A threshold unit with weights ±1 computes AND, OR, NOT, k-of-n and every clause and term; circuits of them compute everything.

        f(x) = 1{σᵀx >= θ},    σ ∈ {-1, +1}^n

    AND is θ = n, OR is θ = 1, k-of-n is θ = k (σ = 1); NOT is σ = -1, θ = 0. A clause with q negated literals has θ = 1 - q, since
    x_1 ∨ ¬x_2 ∨ x_3 means x_1 + (1 - x_2) + x_3 >= 1; a term with n literals has θ = n - q. In the strict form <w, x> > b take b = θ - ½.

    Notes: C, E. Source: McCulloch and Pitts 1943, https://doi.org/10.1007/BF02478259
    Assumes: inputs are 0 or 1; what is not mentioned is not connected. Also: McCulloch-Pitts neuron; logic gates from threshold units.
    """

    n = param(10, "inputs up to which truth tables are complete", least=3, most=12, small=6)
    clauses = param(200, "random clauses, and as many random terms", least=8, most=1000, small=40)
    bits = param(4, "of the two numbers that a circuit of units adds", least=1, most=6, small=3)

    def measure(self, rng: Generator) -> Checks:
        n, x, every = self.n, cube(self.n), list(range(self.n))
        signs = [s for s in rng.integers(-1, 2, (4 * self.clauses, n)) if s.any()][: self.clauses]
        units = [kind(s) for kind in (clause, term) for s in signs]
        truth = np.array([law(literals(x, s), axis=1) for law in (np.any, np.all) for s in signs])
        yield headline(equal(f"{len(signs)} random clauses and terms, on all {2**n} inputs", [u(x) for u in units], truth))
        yield equal("the same in the strict form", [x @ u.weights > u.threshold - 0.5 for u in units], truth)
        sizes = [(m, k) for m in range(1, n + 1) for k in range(1, m + 1)]
        found = np.concatenate([at_least_k(m, k)(cube(m)) for m, k in sizes])
        some = [np.any([cube(m)[:, s].all(axis=1) for s in combinations(range(m), k)], axis=0) for m, k in sizes]
        yield equal(f"k of m inputs, also AND (k = m) and OR (k = 1), m <= {n}", found, np.concatenate(some))
        yield equal("NOT", NOT(cube(1)), np.array([1, 0]))
        left = [circuit(x, [(at_least_k(n, k), every), (NOT, [n])])[:, -1] for k in (n, 1)]
        nots, after = [(NOT, [i]) for i in every], list(range(n, 2 * n))
        right = [circuit(x, [*nots, (at_least_k(n, k), after)])[:, -1] for k in (1, n)]
        yield equal("De Morgan: ¬AND = OR of ¬, ¬OR = AND of ¬", left, np.array(right))
        functions = tables(3)[:-1]  # the last one is 1 everywhere
        built = [circuit(cube(3), conjunction(cube(3)[f == 0]))[:, -1] for f in functions]
        yield equal("all functions of 3 inputs but 1, as an AND of clauses", built, functions)
        wanted = cube(2 * self.bits) @ np.tile(2 ** np.arange(self.bits), 2)
        yield equal(f"all sums of {self.bits} bits, from {2 * self.bits} units", total(self.bits), wanted)

    def control(self, rng: Generator) -> Checks:
        yield because("inputs are -1 and +1", equal("x₁ ∨ ¬x₂ ∨ x₃", clause(EXAMPLE)(2 * cube(3) - 1), TRUTH))
        joined = equal("x₁ ∨ ¬x₂ ∨ x₃ of four inputs", unit([1, -1, 1, 1], 0)(cube(4)), np.tile(TRUTH, 2))
        yield because("x₄, which it does not mention, is connected", joined)

    def resolution(self, rng: Generator) -> Checks:
        yield equal("x₁ ∨ ¬x₂ ∨ x₃ with θ = 1, the negation not counted", unit(EXAMPLE, 1)(cube(3)), TRUTH)
        yield equal("x₁ ∨ ¬x₂ ∨ x₃ in the strict form with b = θ", cube(3) @ EXAMPLE > 0, TRUTH)

    def plots(self) -> list[Panel]:
        x, names = cube(3), ["".join(map(str, corner)) for corner in cube(3)]
        rows = {"AND, θ = 3": at_least_k(3, 3), "2 of 3, θ = 2": at_least_k(3, 2), "OR, θ = 1": at_least_k(3, 1)}
        rows |= {"x₁ ∨ ¬x₂ ∨ x₃, θ = 0": clause(EXAMPLE), "x₁ ∧ ¬x₂ ∧ x₃, θ = 2": term(EXAMPLE)}
        left = Panel("Truth tables (dark: 1)", "inputs x₁x₂x₃", "unit")
        left.image([u(x) for u in rows.values()], colours="Blues", limits=(-0.2, 1.3))
        left.ticks(dict(enumerate(names)), dict(enumerate(rows)))
        left.custom(lambda axes: axes.tick_params(axis="x", labelsize=8))
        right = Panel("x₁ ∨ ¬x₂ ∨ x₃ cuts off one corner", "x₁ (x₂ goes to the back)", "x₃")
        for a, b in [pair for pair in combinations(x, 2) if np.abs(np.subtract(*pair)).sum() == 1]:
            right.target(*(np.array([a, b]) @ SIDE).T)
        cut = np.array([[0, 0.5, 0], [0.5, 1, 0], [0, 1, 0.5]]) @ SIDE  # where σᵀx = θ - ½ = -½ meets the edges
        right.custom(lambda axes: axes.fill(*cut.T, color=style.ORANGE, alpha=0.5, label="x₁ - x₂ + x₃ = -½"))
        for name, mask, colour in (("true", TRUTH, style.BLUE), ("false: only 010", ~TRUTH, style.VERMILION)):
            right.points((x @ SIDE)[mask, 0], (x @ SIDE)[mask, 1], name, colour, 70)
        for name, (a, b) in zip(names, x @ SIDE, strict=True):
            right.note(a + 0.05, b + 0.05, name)
        return [left, right.limits((-0.1, 1.75), (-0.1, 1.6)).ticks({0: "0", 1: "1"}, {0: "0", 1: "1"})]
