from math import comb

from headway.lab import style
from headway.lab.kit import Checks, Experiment, Generator, Panel, at_most, because, close, equal, headline, np, param, printed
from headway.lab.tools.layers import Net, applied, one_filter
from headway.layers.convolutions.average_pooling import AveragePooling
from headway.layers.convolutions.boundaries import Circular, Valid
from headway.layers.convolutions.convolution_2d import pad_grid
from headway.layers.convolutions.max_pooling import MaxPooling

EXAMPLE = np.array([[1.0, 2, 5, 3], [3, 0, 1, 2], [2, 1, 3, 4], [1, 1, 2, 0]])
ANSWER = np.array([[3.0, 5], [2, 4]])


def move(x: np.ndarray, step: int) -> np.ndarray:
    return np.roll(x, step, (2, 3))


class Pooling(Experiment):
    """Max pooling keeps the largest of each p x p window: blind to what happens inside of a window, not to shifts.

        Y[k, l] = max X[i, j]   over i = kp, ..., (k + 1)p - 1 and j = lp, ..., (l + 1)p - 1

    Permuting a window changes nothing, a shift by p moves the output by 1, and a shift by 1 moves things into other windows. A blur
    before every p-th value is kept makes that change smaller. Average pooling is linear: a convolution with a stride.

    Notes: D. Source: Zhang 2019, Making convolutional networks shift-invariant again, https://arxiv.org/abs/1904.11486
    Assumes: windows of p values side by side; for invariance, a permutation inside the windows or one window for all.
    Also: max pooling; average pooling; blur pooling; shift invariance of pooling.
    """

    p = param(2, "rows and columns of a window", least=2, most=4)
    windows = param(8, "along each side of a picture", least=3, most=32)
    trials = param(20, "random pictures", least=5, most=200)

    def measure(self, rng: Generator) -> Checks:
        p, n, t = self.p, self.p * self.windows, self.trials
        self.x, pool, mean = rng.normal(size=(t, 1, n, n)), MaxPooling(p), AveragePooling(p)
        self.y = applied(pool, self.x)
        yield equal("the example of the notes", applied(MaxPooling(2), EXAMPLE[None, None])[0, 0], ANSWER)
        cut = self.x.reshape(t, self.windows, p, self.windows, p).swapaxes(2, 3).reshape(t, -1, p * p)
        mixed = rng.permuted(cut, axis=2).reshape(t, self.windows, self.windows, p, p).swapaxes(2, 3).reshape(self.x.shape)
        yield headline(equal("values permuted inside each window", applied(pool, mixed), self.y))
        moved = np.stack([applied(pool, move(self.x, p * k)) for k in range(self.windows)])
        yield equal("a shift by p moves the output by 1", moved, np.stack([move(self.y, k) for k in range(self.windows)]))
        whole = [applied(MaxPooling(n), move(self.x, k)) for k in range(n)]
        yield equal("one window for all: every shift", np.stack(whole), np.stack(whole[:1] * n))
        scaled = np.stack([applied(pool, a * self.x) for a in (0, 0.3, 7)])
        yield equal("max(αx) = α max(x), α >= 0", scaled, np.stack([a * self.y for a in (0, 0.3, 7)]))
        found = applied(one_filter(np.full((p, p), p**-2.0), Valid(), p), self.x)
        yield close("the average is a convolution with stride p", applied(mean, self.x), found)
        row = np.array([comb(p, k) for k in range(p + 1)]) / 2**p
        blur, dense = one_filter(np.outer(row, row), Circular(), p), MaxPooling(p, 1)
        kinds: dict[str, Net] = {"max": pool, "average": mean, "max, blurred": lambda x: blur(dense(pad_grid(x, p, Circular())))}
        self.changes = {name: np.array([self.change(f, k) for k in range(2 * p + 1)]) for name, f in kinds.items()}
        yield at_most("change under a shift by 1, blurred against not", self.changes["max, blurred"][1], self.changes["max"][1])

    def change(self, pool: Net, step: int) -> float:
        """How far the output is from that of the shifted pictures, in standard deviations of the output."""
        before, after = applied(pool, self.x), applied(pool, move(self.x, step))
        return float(np.sqrt(np.mean((after - before) ** 2)) / before.std())

    def control(self, rng: Generator) -> Checks:
        p, shifted = self.p, applied(MaxPooling(self.p), move(self.x, 1))
        near = min((move(self.y, k) for k in (0, 1)), key=lambda y: int(np.sum(y != shifted)))
        yield because("1 is no multiple of p", equal("a shift by 1 moves the output by 0 or 1", shifted, near))
        yield because("α < 0", equal("max(-x) = -max(x)", applied(MaxPooling(p), -self.x), -self.y))
        wide = np.pad(EXAMPLE, (0, 1), constant_values=-np.inf)[None, None]  # p + 1 values, beginning every p
        yield printed(equal("windows i = kp, ..., (k + 1)p", applied(MaxPooling(3, 2), wide)[0, 0], ANSWER), "D4")
        yield printed(equal("a shift by 1 changes nothing", shifted, self.y), "D8")

    def plots(self) -> list[Panel]:
        left = Panel("The largest value of each window", "column", "row")
        left.cells(EXAMPLE.astype(int), np.kron(ANSWER, np.ones((2, 2))) == EXAMPLE)
        left.custom(lambda axes: axes.axhline(1.5, color=style.INK)).custom(lambda axes: axes.axvline(1.5, color=style.INK))
        right = Panel("Pooling is not invariant to shifts", "shift, pixels", "change of the output, in deviations")
        return [left, right.series(np.arange(2 * self.p + 1), self.changes)]
