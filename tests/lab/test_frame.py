"""The frame of the lab: an experiment that lies, a control that passes and a number that is none are all noticed."""

import json
import math
import re
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
import scipy.stats

from headway.cli import main
from headway.core.errors import ConfigError, UnknownName
from headway.lab import catalog, commands, experiment, page, runner, style
from headway.lab.checks import Check, loglog_slope
from headway.lab.kit import (
    Checks,
    DataMissing,
    Experiment,
    Generator,
    Panel,
    at_least,
    at_most,
    because,
    close,
    counts,
    equal,
    headline,
    linear_slope,
    mean_is,
    monotone,
    param,
    printed,
    published,
    share_is,
    slope,
    table,
    vacuous,
    within,
)
from headway.lab.panel import apart
from headway.lab.relu_net import ReluNet
from headway.lab.result import Result, shown
from headway.lab.statement import Statement
from headway.report.equations import named, to_html, to_unicode

NAN = math.nan


class Honest(Experiment):
    """Two is less than three."""

    n = param(3, "the larger number", least=1, most=100)

    def measure(self, rng: Generator) -> Checks:
        self.draw = rng.random()
        yield headline(at_most("two", 2, self.n))
        yield at_most("one", 1, self.n)

    def control(self, rng: Generator) -> Checks:
        yield because("four is more", at_most("four", 4, self.n))

    def plots(self) -> list[Panel]:
        return [Panel("t", "x", "y", log="x").series([1, 10, 100], [1, 1 + self.draw, 2], "measured").bound([1, 100], [2, 2], "bound")]


def verdict(**methods: object) -> tuple[str, tuple[str, ...]]:
    lists = {name: (lambda self, rng, rows=rows: iter(rows)) for name, rows in methods.items()}
    result = runner.conduct(type("Made", (Honest,), lists)())
    return result.verdict, result.reasons


def test_the_vocabulary_of_verdicts() -> None:
    assert runner.conduct(Honest()).verdict == "BOUND HOLDS (slack 1.5)"  # of the headline, not of the closest row
    assert verdict(measure=[headline(equal("a", 1, 1)), at_most("b", 1, 2)])[0] == "CONFIRMED"
    both = [because("w", at_most("a", 4, 3)), printed(at_most("p", 4, 3), "C2")]
    assert verdict(control=both)[0] == "REFUTED AS PRINTED, CONFIRMED AS CORRECTED"
    assert verdict(control=[vacuous(at_most("p", 4, 3), "A10")])[0].startswith("BOUND HOLDS")
    assert (experiment.NOT_REPRODUCED, experiment.SKIPPED) == ("NOT REPRODUCED", "SKIPPED (data missing)")


@pytest.mark.parametrize(
    ("methods", "reason"),
    [
        ({"measure": [headline(at_most("lie", 4, 3))]}, "lie: measured 4, expected ≤ 3"),
        ({"measure": [headline(at_most("lie", NAN, 3)), at_most("b", 1, 2)]}, "lie: measured nan"),
        ({"measure": [headline(at_least("lie", math.inf, 3))]}, "lie: measured inf"),
        ({"measure": [at_most("b", 1, 2)]}, "no check is the headline"),
        ({"control": [at_most("four", 4, 3), at_most("weak", 2, 3)]}, "the control `weak` passed: 2 ≤ 3"),
        ({"control": [at_most("none", NAN, 3)]}, "the control `none` is not a finite number"),
        ({"control": [printed(at_least("p", 5, 3), "B1")]}, "the control `p` passed"),
        ({"control": []}, "there is no control that breaks an assumption"),
        ({"control": [printed(at_most("p", 5, 3), "B1")]}, "there is no control that breaks an assumption"),
        ({"resolution": [at_most("coarse", 2, 3)]}, "the resolution `coarse` passed"),
        ({"measure": []}, "nothing was measured"),
        ({"sample": [at_most("chance", 4, 3)]}, "chance: measured 4"),
    ],
)
def test_what_is_not_reproduced_says_why(methods: dict[str, object], reason: str) -> None:
    said, reasons = verdict(**methods)
    assert said == "NOT REPRODUCED" and any(r.startswith(reason) for r in reasons), reasons


@pytest.mark.parametrize(
    "check",
    [
        equal("e", NAN, NAN), equal("a", np.array([1.0, NAN]), np.array([1.0, NAN])), close("c", NAN, 1.0), close("c", [1, NAN], [1, 1]),
        linear_slope("s", [1, 1, 1, 1], [1, 2, 3, 4], 1, 9), monotone("m", [1.0, NAN, 0.5], "falls"), monotone("m", [1.0], "falls"),
        at_most("m", NAN, 1.0), at_most("m", [0.5, NAN], 1.0), at_most("m", 1.0, NAN), at_least("l", NAN, 1.0), at_most("m", [], 1.0),
        within("w", NAN, 1.0, 0.1), within("w", 1.0, 1.0, NAN), mean_is("m", [1.0, NAN], 1.0), slope("s", range(4), [1, 2, NAN, 8], 1, 9),
        slope("s", [1, 2, 4, 8], [1, 0, 4, 8], 1, 9), published("p", NAN, 1.0, 9.0),
    ],
    ids=lambda c: c.name,
)  # fmt: skip
def test_what_is_not_a_number_never_holds(check: Check) -> None:
    assert not check.holds


def test_rows_compare_as_they_say() -> None:
    assert equal("f", Fraction(2, 4), Fraction(1, 2)).holds and equal("f", Fraction(1, 2), Fraction(1, 2)).measured == "1/2"
    assert equal("i", np.int64(8), 8).measured == 8 and not equal("i", 8, 9).holds and equal("b", np.bool_(True), True).holds
    assert equal("a", np.arange(3), np.arange(3)).holds and equal("a", np.array([1, 2]), np.array([1, 3])).measured == 1
    assert not equal("shape", np.arange(3), np.arange(4)).holds
    assert equal("list", [1, 1], 1).holds and equal("list", [1, 2], 1).measured == 1 and not equal("list", [1, 2], np.arange(3)).holds
    assert equal("lists", [1, 2], [1, 2]).measured == "[1, 2]" and not equal("lists", [1, 2], [1, 3]).holds
    assert close("c", 1 + 9e-11, 1.0).holds and not close("c", 1 + 2e-10, 1.0).holds
    assert close("scale", 1e6 + 5e-5, 1e6).holds and not close("scale", 1e6 + 2e-4, 1e6).holds
    worst = at_most("arrays", [1.0, 2.0, 3.0], [2.0, 2.5, 9.0])
    assert (worst.measured, worst.reference, worst.note) == (2.0, 2.5, "worst of 3") and worst.slack == pytest.approx(1.25)
    assert not at_most("arrays", [1.0, 3.0], [2.0, 2.0]).holds and at_least("arrays", [3.0, 4.0], 2.0).slack == 1.5
    assert not at_most("rounding", 1 + 1e-13, 1.0).holds and at_most("rounding", 1 + 1e-13, 1.0, rounding=1e-12).holds
    assert at_most("big", 10**400, 10**401).holds and at_least("fraction", Fraction(15, 256), Fraction(1, 32)).slack == 1.875
    assert within("w", 1.39, 1.0, 0.1).holds and not within("w", 1.41, 1.0, 0.1).holds and within("w", 1.0, 1.0, 0.0).holds
    assert share_is("s", 60, 100, 0.5).tolerance == pytest.approx(4 * 0.05)
    draws = np.random.default_rng(0).normal(3, 2, 400)
    assert mean_is("m", draws, 3).tolerance == pytest.approx(4 * scipy.stats.sem(draws))
    assert published("p", 12, 13, 1).holds and not published("p", 12, 14, 1).holds


def test_a_slope_is_that_of_scipy_and_needs_a_straight_line() -> None:
    rng = np.random.default_rng(1)
    x = np.array([1.0, 3, 10, 30, 100])
    y = x**-1.5 * np.exp(rng.normal(0, 0.1, 5))
    line = scipy.stats.linregress(np.log(x), np.log(y))
    assert loglog_slope(x, y) == pytest.approx((line.slope, line.rvalue**2), abs=1e-12)
    assert slope("s", x, x**-1.5, -1.5, 1e-9).holds and not slope("s", x, x**-1.5, -1.4, 0.05).holds
    assert not slope("three points", x[:3], x[:3] ** -1.5, -1.5, 0.1).holds
    bent = np.array([1.0, 1e-1, 1e-1, 1e-1, 1e-2])
    assert loglog_slope(x, bent)[1] < 0.98 and not slope("bent", x, bent, loglog_slope(x, bent)[0], 0.1).holds


def test_rows_over_sweeps() -> None:
    worst = at_most("by name", {"a": [1.0, 2.0], "b": [2.9, 1.0]}, [3.0, 3.0])
    assert worst.holds and (worst.measured, worst.note) == (2.9, "worst of 4: b")
    assert not at_most("by name", {"a": [1.0, 4.0]}, [3.0, 3.0]).holds
    rows = list(table({0.5: 1.0, 0.1: 2.0, 9: 9.0}, {0.5: 1.05, 0.1: 2.2}, 0.1, "ε = {:g}"))
    assert [(row.name, row.holds) for row in rows] == [("ε = 0.5", True), ("ε = 0.1", False)]
    assert monotone("m", [3, 2, 1], "falls").holds and not monotone("m", [3, 2, 2], "falls").holds and monotone("m", [1, 2], "rises").holds
    x, y = [0, 1, 2, 3], [1, 3, 5, 7]
    assert linear_slope("l", x, y, 2, 1e-9).holds and not linear_slope("l", x, y, 2.2, 0.1).holds
    net = ReluNet.of([([[1.0], [1.0]], [0.0, -1.0]), ([[1.0, 1.0]], [0.0])])
    assert [row.holds for row in counts("net", net, nodes=2, depth=2, weights=6)] == [True, True, False]
    with pytest.raises(ValueError, match="compares"):
        close("shapes", [[1.0], [1.0]], [1.0, 1.0])


def test_a_statement_in_parts() -> None:
    doc = "The claim.\n\nWords,\n\n    x_1 <= 2\n      y\n\nmore.\n\n"
    doc += "Notes: A, C. Source: Who 2016,\nhttps://a.b/\nAssumes: one; two. Also: this; that."
    text = Statement.of(doc)
    assert text.claim == "The claim." and text.blocks == [(False, "Words,"), (True, "x_1 <= 2\n  y"), (False, "more.")]
    assert (text.notes, text.source) == (("A", "C"), "Who 2016, https://a.b/")
    assert text.assumptions == ("one", "two") and text.aliases == ("this", "that") and text.deviates == ""


@pytest.mark.parametrize(
    ("text", "unicode", "html"),
    [
        ("x_{k+1} <= C^{-d/n} <w, x>", "xₖ₊₁ ≤ C^(-d/n) ⟨w, x⟩", "x<sub>k+1</sub> ≤ C<sup>-d/n</sup> ⟨w, x⟩"),
        ("w_ij and a_name, 2^n", "wᵢⱼ and a_name, 2ⁿ", "w<sub>ij</sub> and a_name, 2<sup>n</sup>"),
        ("σ_w² and θ^T", "σ_w² and θᵀ", "σ<sub>w</sub>² and θ<sup>T</sup>"),
        ("b_{w_i} < c", "b_{w_i} < c", "b<sub>w<sub>i</sub></sub> &lt; c"),
        ("2^(2^n)", "2^(2ⁿ)", "2<sup>2<sup>n</sup></sup>"),
    ],
)  # fmt: skip
def test_equations_are_typeset(text: str, unicode: str, html: str) -> None:
    assert (to_unicode(text), to_html(text)) == (unicode, html)


def test_letters_that_are_written_out() -> None:
    text = "sum_i phi_i(lambda x) / sqrt(d), Delta sumo, x^T Sigma^-1; a beta-lasso, a multiple"
    assert named(text) == "Σ_i φ_i(λ x) / √(d), Δ sumo, x^T Σ^-1; a beta-lasso, a multiple"


@pytest.mark.parametrize("places", [[0.5, 0.5, 0.5], [0.0, 0.01, 0.99, 1.0], [0.2, 0.21, 0.25, 0.26, 0.9], [0.95, 0.96, 0.97, 1.0]])
def test_labels_do_not_meet(places: list[float]) -> None:
    sizes = [0.06] * len(places)
    moved = apart(places, sizes)
    assert np.all(np.diff(moved) >= 0.06 - 1e-9) and moved[0] >= 0.03 - 1e-9 and moved[-1] <= 0.97 + 1e-9
    assert apart([0.1, 0.9], [0.06, 0.06]) == [0.1, 0.9], "what does not meet stays"


def test_chance_is_tried_with_three_seeds_and_the_worst_is_shown() -> None:
    class Random(Honest):
        def measure(self, rng: Generator) -> Checks:
            self.seen = []
            yield headline(equal("first", float(rng.random()), float(np.random.default_rng(5).random())))

        def sample(self, rng: Generator) -> Checks:
            self.seen.append(rng.random())
            yield within("draw", self.seen[-1], 0.5, 1.0)

    made = Random()
    result = runner.conduct(made, 5)
    assert made.seen == [np.random.default_rng([s, 1]).random() for s in (5, 6, 7)], "not the numbers that `measure` had"
    assert result.seeds == (5, 6, 7) and [c.seed for c in result.checks] == [None, 5, 6, 7] and result.verdict == "CONFIRMED"
    rows = [check for check, kind in result.rows() if check.name == "draw"]
    assert len(rows) == 1 and abs(rows[0].measured - 0.5) == max(abs(x - 0.5) for x in made.seen)


def test_missing_data_is_skipped_not_failed() -> None:
    class Needs(Honest):
        def measure(self, rng: Generator) -> Checks:
            raise DataMissing("no MNIST here", "put the files into data/mnist.")

    result = runner.conduct(Needs())
    assert result.verdict == "SKIPPED (data missing)" and result.ok and result.svg == "" and "no MNIST" in result.text()


def test_the_terminal_shows_the_claim_and_the_headline_in_100_columns() -> None:
    brief, full = (runner.conduct(Honest()).text("A claim x_1 <= 2.", verbose) for verbose in (False, True))
    assert "A claim x₁ ≤ 2." in brief and "two" in brief and "\none" not in brief and "because" not in brief
    assert "and 1 more check holds, 1 control fails as it must (`--verbose` shows them)." in brief
    assert "\none" in full and "control: four" in full and "because four is more" in full
    failed = runner.conduct(type("Lies", (Honest,), {"control": lambda self, rng: iter([at_most("w" * 130, 1, 2)])})()).text()
    assert "PASSES" in failed and max(map(len, failed.splitlines())) <= 100


def test_figures_are_the_same_bytes_and_leave_matplotlib_alone() -> None:
    import matplotlib

    before = dict(matplotlib.rcParams)
    first, again = runner.conduct(Honest(), 1), runner.conduct(Honest(), 1)
    assert first.svg == again.svg and first.image("png") == again.image("png") and first.image("png")[:4] == b"\x89PNG"
    assert first.svg != runner.conduct(Honest(), 2).svg
    assert dict(matplotlib.rcParams) == before and "Matplotlib" not in first.svg
    settled = runner.run("cover-count", parameters=catalog.values(catalog.find("cover-count"), "small"))
    assert settled.svg == style.image(settled.figure, "svg", settled.id).decode(), "drawing once more moved the layout"
    html = style.inline(first.svg)
    assert html.startswith("<svg ") and "var(--ink" in html and not re.search(r'<svg [^>]*(width|height)="', html)


def test_json_keeps_what_json_does_not_know() -> None:
    result = runner.conduct(
        type("Odd", (Honest,), {"measure": lambda s, r: [at_most("inf", 1.0, math.inf), at_most("nan", NAN, 1.0)]})()
    )
    text = json.dumps(result.to_json(), allow_nan=False)
    back = Result.from_json(json.loads(text))
    assert back.checks[0].reference == math.inf and math.isnan(back.checks[1].measured) and back.verdict == result.verdict
    assert back.to_json() == json.loads(text) and back.text() == result.text()


def test_numbers_are_shown_with_the_digits_one_reads() -> None:
    assert [shown(v) for v in (8, 0.123456, True, "1/2", 10**20, 2**2000)] == ["8", "0.1235", "True", "1/2", "1e+20", "about 2^2000"]


def test_parameters_are_checked_by_name_type_and_range() -> None:
    import headway

    with pytest.raises(ConfigError, match="unknown parameter `epsilon`\nHint: did you mean `epsilons`"):
        headway.lab.run("threshold-1d", epsilon=3)
    with pytest.raises(ConfigError, match="`rho` should be a number, not 'x'"):
        headway.lab.run("threshold-1d", rho="x")
    with pytest.raises(ConfigError, match="`rho` is -1.0, it must be from 2.1 to 1,000.0"):
        headway.lab.run("threshold-1d", rho=-1.0)
    with pytest.raises(ConfigError, match="`epsilons` has a value twice"):
        headway.lab.run("threshold-1d", epsilons=(0.5, 0.5))
    with pytest.raises(ConfigError, match="the seed is -1"):
        headway.lab.run("threshold-1d", seed=-1)
    with pytest.raises(UnknownName, match="unknown experiment `treshold-1d`\nHint: did you mean `threshold-1d`?"):
        headway.lab.run("treshold-1d")
    result = headway.lab.run("Threshold_1D", epsilons=np.array([0.25, 0.5]), knots=np.int64(5))
    assert result.config == {"epsilons": (0.5, 0.25), "rho": 7.0, "knots": 5} and result.ok
    assert "<table" in result._repr_html_() and "<svg" in result._repr_html_() and "threshold-1d" in str(result)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run", "telgarsky-23"], "unknown experiment `telgarsky-23`\nHint: did you mean `telgarsky-32`?"),
        (["show", "cover"], "unknown experiment `cover`"),
        (["run"], "which experiments?"),
        (["run", "cover-count", "--all"], "which experiments?"),
        (["run", "threshold-1d", "--set", "roh=5"], "unknown parameter of `threshold-1d`: `roh`\nHint: did you mean `rho`?"),
        (["run", "threshold-1d", "--set", "epsilons=0.5,x"], "`--set epsilons` should be a number, not `x`"),
        (["run", "threshold-1d", "--set", "rho"], "does not say which value"),
        (["run", "approximation", "--set", "rho=5"], "are for one experiment"),
        (["run", "threshold-1d", "--network", "x.safetensors"], "has no place for a network"),
        (["run", "threshold-1d", "--seed", "-3"], "should not be negative"),
        (["list", "depht"], "unknown module `depht`\nHint: did you mean `depth`?"),
        (["lsit"], "unknown action `lsit`\nHint: did you mean `list`?"),
        (["run", "threshold-1d", "--sed", "1"], "unknown option `--sed`\nHint: did you mean `--seed`?"),
    ],
    ids=lambda v: " ".join(v) if isinstance(v, list) else "",
)
def test_a_mistake_on_the_command_line(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab", *words]) == 2
    assert message in capsys.readouterr().err


def test_listing_showing_and_misspelling_load_nothing_heavy() -> None:
    code = "import sys\nfrom headway.cli import main\n"
    code += "codes = [main(['lab', *w]) for w in (['list'], ['show', 'telgarsky-32'], ['errata'], ['run', 'telgarsky-31'])]\n"
    code += "print('\\n', codes, [n for n in ('numpy', 'torch', 'matplotlib', 'scipy') if n in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert out.stdout.splitlines()[-1].strip() == "[0, 0, 0, 2] []", out.stderr
    assert "∫₀¹ |f - g| dx ≥ 1/32." in out.stdout and "erratum A10" in out.stdout and "--set L=2" in out.stdout


def test_run_writes_figure_and_numbers(tmp_path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["lab", "run", "threshold-1d", "--set", "epsilons=0.5,0.25", "--seed", "2", "--out", str(tmp_path / "new"), "--json"]
    assert main([*words, str(tmp_path / "all.json")]) == 0
    assert "BOUND HOLDS" in capsys.readouterr().out
    record = json.loads((tmp_path / "new" / "threshold-1d.json").read_text())
    assert (
        record["seed"] == 2 and record["config"]["epsilons"] == [0.5, 0.25] and [record] == json.loads((tmp_path / "all.json").read_text())
    )
    assert (tmp_path / "new" / "threshold-1d.svg").read_text().count("<svg") == 1
    assert (tmp_path / "new" / "threshold-1d.png").stat().st_size > 5000


def test_an_experiment_that_raises_or_fails_gives_exit_code_1(monkeypatch, tmp_path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = runner.failure("threshold-1d", "approximation", 0, ValueError("a bug"))
    good = runner.conduct(Honest(), 0, "pwl-relu-sum", "approximation")
    monkeypatch.setattr(runner, "run_many", lambda *_: iter([bad, good]))
    assert main(["lab", "run", "approximation", "--json", str(tmp_path / "r.json"), "--out", str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert "ValueError: a bug" in out and "not reproduced: threshold-1d" in out and len(json.loads((tmp_path / "r.json").read_text())) == 2
    assert main(["lab", "report", "--out", str(tmp_path / "r.html")]) == 1


def test_many_run_in_processes_and_make_one_page(tmp_path) -> None:
    chosen = [catalog.find("threshold-1d"), catalog.find("pwl-relu-sum")]
    results = list(runner.run_many(chosen, seed=1, jobs=2))
    assert {r.id for r in results} == {"threshold-1d", "pwl-relu-sum"} and all(r.ok and r.seed == 1 and r.svg for r in results)
    alone = runner.run("pwl-relu-sum", 1)
    other = next(r for r in results if r.id == "pwl-relu-sum")
    assert other.svg == alone.svg and {**other.to_json(), "seconds": 0} == {**alone.to_json(), "seconds": 0}
    html = page.report_page(results)
    assert html.count("<article") == 2 and html.count('class="figure"') == 2 and "headway lab run pwl-relu-sum" in html
    outside = re.findall(r'(?:src|href|url)\s*[=(]\s*["\']?(https?:[^"\' )>]*)', html)
    assert all(f'<a href="{address}"' in html for address in outside), "the page must work offline"
    text = page.markdown("approximation", results)
    assert "![" in text and "(pwl-relu-sum.svg)" in text and "**CONFIRMED**" in text
    assert "2 experiments" in commands.summary(results)
