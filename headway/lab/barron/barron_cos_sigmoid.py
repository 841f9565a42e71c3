from itertools import product

from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, headline, math, np, param, printed
from headway.lab.tools.cosine_units import cosine_unit, sigmoid_error, sigmoids, step_error
from headway.lab.tools.staircase import staircase, units_for

M = np.unique(np.logspace(0.7, 3, 14).astype(int))  # threshold units, for the rate


class BarronCosSigmoid(Experiment):
    """One cosine unit of Barron's net is ⌈C/ε⌉ threshold units up to ε, for every frequency.

    On [-1, 1] the unit

        h_w(y) = (C/‖w‖) (cos(b + ‖w‖y) - cos b)

    is C-Lipschitz and at most C, so a staircase through the middles of ⌈C/ε⌉ steps errs by at most ε, whatever ‖w‖ is, and sigmoids by 2ε:
    near a step they mix two levels within ε of h, and the tails Σ|a_i| σ(-κΔ/2) are at most ε for κ = (2/Δ) log(3C/ε), steps of length Δ.

    Notes: A. Source: Barron 1993, https://doi.org/10.1109/18.256500; Telgarsky, Deep Learning Theory, ch. 3, https://mjt.cs.illinois.edu/dlt/
    Assumes: ‖x‖ <= 1, so that y = <w,x>/‖w‖ is in [-1, 1]; it is divided by ‖w‖. Also: Barron's theorem, step 3; cosine as sigmoids.
    """

    norms = param((0.1, 1.0, 10.0, 100.0), "the lengths ‖w‖ of the frequency", least=0.01, most=1000.0)
    constants = param((0.5, 2.0, 8.0), "the Barron constants C", least=0.1, most=20.0)
    epsilons = param((0.1, 0.01), "the errors ε to reach", least=0.002, most=0.4, small=(0.1,))
    phases = param(4, "phases b: π/2, where the cosine is steepest at 0, and random ones", least=1, most=50, small=2)

    def conditions(self) -> list[tuple[bool, str]]:
        return [(max(self.constants) / min(self.epsilons) <= 2000, "the largest C / ε must be at most 2000")]

    def measure(self, rng: Generator) -> Checks:
        b = np.append(math.pi / 2, rng.uniform(0, 2 * math.pi, self.phases - 1))
        curves = {C: [cosine_unit(C, w, phase) for w in self.norms for phase in b] for C in self.constants}
        pairs, u = [(C, h) for C, every in curves.items() for h in every], np.linspace(0, 1, 4001)
        sizes = [np.max(np.abs(h(np.clip([*h.turns, 0, 1], 0, 1)))) / C for C, h in pairs]
        yield at_most("|h_w| / C on [-1, 1]", sizes, 1.0)
        chords = [np.max(np.abs(np.diff(h(u)))) / (2 * u[1] * C) for C, h in pairs]
        yield at_most("slopes of 4000 chords of h_w / C", chords, 1.0, rounding=1e-9, kind="EXACT")
        cases = [(C, e, int(units_for(C, np.array(e)))) for C, e in product(self.constants, self.epsilons)]
        errors = {f"C = {C:g}, ε = {e:g}": [step_error(h, m) / e for h in curves[C]] for C, e, m in cases}
        yield headline(at_most("sup error of ⌈C/ε⌉ thresholds / ε, every ‖w‖ and b", errors, 1.0, rounding=1e-12))
        few = [(*case, w) for case in cases if case[1] == max(self.epsilons) for w in self.norms]
        few.append((*max(cases, key=lambda case: case[2]), max(self.norms)))  # and the one of most units
        names = [f"C = {C:g}, ε = {e:g}, ‖w‖ = {w:g}" for C, e, _, w in few]
        smooth = [sigmoid_error(C, e, m, cosine_unit(C, w, math.pi / 2)) for C, e, m, w in few]
        yield at_most("sigmoids: certified sup error / 2ε", dict(zip(names, smooth, strict=True)), 1.0)
        each = [cosine_unit(2.0, w, math.pi / 2) for w in self.norms]
        self.errors = {h.name: [step_error(h, m) for m in M] for h in each}
        yield at_most("C = 2: sup error of m thresholds, C/m, m = 5 … 1000", self.errors, 2 / M, rounding=1e-12)

    def control(self, rng: Generator) -> Checks:
        C, e = max(*self.constants, 8.0), min(self.epsilons)
        m, enough = (int(units_for(c, np.array(e))) for c in (1.0, C))
        row = at_most(f"C = {C:g}: sup error of ⌈1/ε⌉ = {m} units", step_error(cosine_unit(C, 1.0, math.pi / 2), m), e)
        yield printed(row, "A8")
        error = step_error(cosine_unit(100 * C, 100.0, math.pi / 2), enough)
        yield because("it is not divided by ‖w‖", at_most(f"C cos(100y + π/2): sup error of {enough} units", error, e))

    def plots(self) -> list[Panel]:
        u, h = np.linspace(0, 1, 500), cosine_unit(2.0, 10.0, math.pi / 2)
        stairs = staircase(h, 20, 0.5)
        left = Panel("One cosine unit, C = 2, ‖w‖ = 10", "y = ⟨w,x⟩/‖w‖", "value").target(2 * u - 1, h(u), "h(y)")
        left.curve(2 * u - 1, {"20 thresholds": stairs(u), "20 sigmoids": sigmoids(stairs, 40 * math.log(60), u)})
        right = Panel("The frequency does not matter (C = 2)", "threshold units m", "sup error", log="xy")
        raw = [step_error(cosine_unit(200.0, 100.0, math.pi / 2), m) for m in M]
        right.series(M, self.errors).bound(M, 2 / M, "C/m").control(M, raw, "not divided by ‖w‖ = 100")
        return [left, right]
