from headway.lab.certified import certified_sup
from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, headline, math, np, param, printed
from headway.lab.tools.curves import Turning
from headway.lab.tools.staircase import Staircase, staircase, units_for


def unit(C: float, norm: float, b: float) -> Turning:
    """h(y) = (C/‖w‖) (cos(b + ‖w‖y) - cos b) as a function of u = (y + 1)/2 in [0, 1]; it turns where the sine is 0."""
    k = np.arange(math.ceil((b - norm) / math.pi), math.floor((b + norm) / math.pi) + 1)
    turns = ((k * math.pi - b) / norm + 1) / 2
    return Turning(f"‖w‖ = {norm:g}", lambda u: C / norm * (np.cos(b + norm * (2 * u - 1)) - math.cos(b)), turns)


def sigmoids(stairs: Staircase, kappa: float, u: np.ndarray) -> np.ndarray:
    """Every 1{u >= b_i} becomes a sigmoid of steepness κ; the first one, 1 on [0, 1], moves a step to the left."""
    from scipy.special import expit

    b = stairs.b.copy()
    b[0] = -1 / b.size
    return expit(kappa * (u[:, None] - b)) @ stairs.a


def sup_error(curve: Turning, m: int) -> float:
    """sup |h - staircase of m steps with values from their middles|, exact."""
    return staircase(curve, int(m), 0.5).sup_error(curve)


def smooth_error(C: float, epsilon: float, m: int, curve: Turning) -> float:
    """A certified sup |h - Σ a_i σ(κ(u - b_i))| / 2ε, with κ such that all tails, 3C σ(-κ/2m), weigh at most ε.

    Slope of the sum: at most max |a_i| (κ/4 + m) inside, because κσ' is a bump of height κ/4 and area 1 seen at spacing
    1/m.
    """
    stairs, kappa = staircase(curve, m, 0.5), 2 * m * math.log(3 * C / epsilon)
    inside = float(np.max(np.abs(stairs.a[1:]), initial=0.0)) * (kappa / 4 + m)
    lip = 2 * C + inside + abs(float(stairs.a[0])) * kappa * math.exp(-kappa / m)
    return certified_sup(lambda u: curve(u) - sigmoids(stairs, kappa, u), lip, 0.0, 1.0, 0.05).high / (2 * epsilon)


class BarronCosSigmoid(Experiment):
    """One cosine unit of Barron's net is ⌈C/ε⌉ threshold units up to ε, for every frequency.

    On [-1, 1] the unit

        h_w(y) = (C/‖w‖) (cos(b + ‖w‖y) - cos b)

    is C-Lipschitz and at most C, so a staircase with values from the middles of ⌈C/ε⌉ steps errs by at most ε, and
    sigmoids in place of the steps by at most 2ε. The number of units depends on C and ε, not on ‖w‖. Near a step the
    sigmoid mixes two levels that are both within ε of h, so only the tails, Σ|a_i| σ(-κΔ/2) with steps of length Δ, are
    added: κ = (2/Δ) log(3C/ε) makes them at most ε.

    Notes: A. Source: Barron 1993, https://doi.org/10.1109/18.256500; Telgarsky, Deep Learning Theory lecture notes, ch.
    3, https://mjt.cs.illinois.edu/dlt/
    Assumes: ‖x‖ <= 1, so that y = <w,x>/‖w‖ is in [-1, 1]; the unit is divided by ‖w‖.
    Also: Barron's theorem, step 3; cosine as sigmoids.
    """

    norms = param((0.1, 1.0, 10.0, 100.0), "the lengths ‖w‖ of the frequency", least=0.01, most=1000.0)
    constants = param((0.5, 2.0, 8.0), "the Barron constants C", least=0.1, most=20.0)
    epsilons = param((0.1, 0.01), "the errors ε to reach", least=0.002, most=0.4, small=(0.1,))
    phases = param(4, "phases b: π/2, where the cosine is steepest at 0, and random ones", least=1, most=50, small=2)

    def conditions(self) -> list[tuple[bool, str]]:
        return [(max(self.constants) / min(self.epsilons) <= 2000, "the largest C / ε must be at most 2000")]

    def measure(self, rng: Generator) -> Checks:
        self.b = np.append(math.pi / 2, rng.uniform(0, 2 * math.pi, self.phases - 1))
        curves = {C: [unit(C, w, b) for w in self.norms for b in self.b] for C in self.constants}
        u = np.linspace(0, 1, 4001)
        pairs = [(C, h) for C, every in curves.items() for h in every]
        sizes = [np.max(np.abs(h(np.clip(np.append(h.turns, [0, 1]), 0, 1)))) / C for C, h in pairs]
        yield at_most("|h_w| / C on [-1, 1]", sizes, 1.0)
        chords = [np.max(np.abs(np.diff(h(u)))) / (2 * u[1] * C) for C, h in pairs]
        yield at_most("slopes of 4000 chords of h_w / C", chords, 1.0, rounding=1e-9, kind="EXACT")
        cases = [(C, e, int(units_for(C, np.array(e)))) for C in self.constants for e in self.epsilons]
        errors = {f"C = {C:g}, ε = {e:g}": [sup_error(h, m) / e for h in curves[C]] for C, e, m in cases}
        yield headline(at_most("sup error of ⌈C/ε⌉ thresholds / ε, every ‖w‖ and b", errors, 1.0, rounding=1e-12))
        few = [(C, e, m, w) for C, e, m in cases if e == max(self.epsilons) for w in self.norms]
        few.append((*max(cases, key=lambda case: case[2]), max(self.norms)))  # and the one of most units
        smooth = {
            f"C = {C:g}, ε = {e:g}, ‖w‖ = {w:g}": smooth_error(C, e, m, unit(C, w, self.b[0])) for C, e, m, w in few
        }
        yield at_most("sigmoids: certified sup error / 2ε", smooth, 1.0)
        self.m = np.unique(np.logspace(0.7, 3, 14).astype(int))
        self.errors = {h.name: [sup_error(h, m) for m in self.m] for h in (unit(2.0, w, self.b[0]) for w in self.norms)}
        yield at_most("C = 2: sup error of m thresholds, C/m, m = 5 … 1000", self.errors, 2 / self.m, rounding=1e-12)

    def control(self, rng: Generator) -> Checks:
        C, e = max(*self.constants, 8.0), min(self.epsilons)
        h, m = unit(C, 1.0, math.pi / 2), int(units_for(1.0, np.array(e)))
        yield printed(at_most(f"C = {C:g}: sup error of ⌈1/ε⌉ = {m} units", sup_error(h, m), e), "A8")
        fast, m = unit(100 * C, 100.0, math.pi / 2), int(units_for(C, np.array(e)))
        row = at_most(f"C cos(100y + π/2): sup error of {m} units", sup_error(fast, m), e)
        yield because("the unit is not divided by ‖w‖", row)

    def plots(self) -> list[Panel]:
        u, h = np.linspace(0, 1, 500), unit(2.0, 10.0, self.b[0])
        stairs = staircase(h, 20, 0.5)
        left = Panel("One cosine unit, C = 2, ‖w‖ = 10", "y = ⟨w,x⟩/‖w‖", "value").target(2 * u - 1, h(u), "h(y)")
        left.curve(2 * u - 1, {"20 thresholds": stairs(u), "20 sigmoids": sigmoids(stairs, 40 * math.log(60), u)})
        right = Panel("The frequency does not matter (C = 2)", "threshold units m", "sup error", log="xy")
        right.series(self.m, self.errors).bound(self.m, 2 / self.m, "C/m")
        raw = [sup_error(unit(200.0, 100.0, math.pi / 2), m) for m in self.m]
        return [left, right.control(self.m, raw, "not divided by ‖w‖ = 100")]
