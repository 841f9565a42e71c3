"""The doctor of tables finds what was planted, in its line; and columns become the matrix that was meant."""

import numpy as np
import pytest
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from headway.core.errors import DataError
from headway.data.cells import read_column
from headway.data.doctor_columns import Examined, TargetKind, examine_columns, examine_given
from headway.data.features import Features, NumberColumn
from headway.data.findings import Finding
from headway.data.rows import Problem
from headway.data.table import Table
from headway.tasks.estimates import Scale

Columns = dict[str, list[str]]


def good(count: int = 200) -> Columns:
    random = np.random.default_rng(1)
    x, town = random.normal(50, 10, count).round(3), random.choice(["bonn", "kiel", "ulm"], count)
    y = (x + random.normal(0, 5, count)).round(3)
    return {"x": [str(v) for v in x], "town": [str(t) for t in town], "y": [str(v) for v in y]}


def table_of(columns: Columns) -> Table:
    count = len(next(iter(columns.values())))
    return Table({name: tuple(cells) for name, cells in columns.items()}, tuple(range(2, count + 2)), "houses.csv")


def examine(
    columns: Columns, target: str = "y", kind: TargetKind | None = None, chosen: list[str] | None = None
) -> Examined:
    return examine_columns(table_of(columns), target, chosen, kind)


def the(found: Examined, kind: str) -> Finding:
    assert [finding.kind for finding in found.report.findings] == [kind], found.report.text()
    return found.report.findings[0]


def test_a_good_table_has_no_findings() -> None:
    found = examine(good())
    assert found.report.findings == () and found.kind == "numbers" and found.features == ("x", "town")
    assert len(found.table) == 200 and list(found.table.columns) == ["x", "town", "y"]
    assert "different values: regression; `--kind classification` for classes" in found.report.text()


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["0", "1", "2"] * 60, "classes"),
        ([str(i) for i in range(180)], "numbers"),
        (["0.5", "1", "2"] * 60, "numbers"),
        (["yes", "no", "no"] * 60, "classes"),
    ],
)
def test_the_kind_is_found_from_the_target(cells: list[str], kind: str) -> None:
    columns = good(180) | {"y": cells}
    found = examine(columns)
    assert found.kind == kind
    if len(set(cells)) == 3 and kind == "classes" and cells[0] == "0":
        assert "`y` has 3 different values: classification; `--kind regression` for numbers" in found.report.text()
        assert examine(columns, kind="numbers").kind == "numbers"


def test_columns_that_teach_nothing_are_left_out() -> None:
    columns = good()
    found = examine({"same": ["7"] * 200, "void": ["NA"] * 200, "name": [f"house {i}" for i in range(200)], **columns})
    assert found.features == ("x", "town")
    kinds = {finding.kind: finding for finding in found.report.findings}
    assert {k: f.action for k, f in kinds.items()} == {"constant": "dropped", "identifier": "dropped"}
    assert (
        "the column `same` holds only `7`" in found.report.text()
        and "the column `void` holds nothing" in found.report.text()
    )
    asked = examine({"name": [f"house {i}" for i in range(200)], **columns}, chosen=["name", "x"])
    assert asked.features == ("name", "x") and the(asked, "identifier").action == "kept"


def test_a_leak_is_an_error_or_a_warning() -> None:
    columns = good()
    assert the(examine(columns | {"copy": columns["y"]}), "equals-target").severity == "error"
    nearly = [f"{2 * float(v) + 1 + i % 2 * 0.01:.4f}" for i, v in enumerate(columns["y"])]
    finding = the(examine(columns | {"double": nearly}), "leak")
    assert finding.severity == "warning" and "`double` and the target `y`" in finding.message
    grade = ["high" if float(v) > 50 else "low" for v in columns["y"]]
    classes = {"x": columns["x"], "code": ["A" if g == "high" else "B" for g in grade], "grade": grade}
    assert "`code`" in the(examine(classes, "grade"), "leak").message


def test_gaps_odd_cells_and_outliers_are_told_with_their_lines() -> None:
    columns = good()
    columns["x"][3], columns["x"][4], columns["x"][10], columns["y"][6] = "", "n/a", "about 50", "?"
    columns["x"][20] = "5000"
    found = {finding.kind: finding for finding in examine(columns).report.findings}
    assert found["gap"].lines == (5, 6) and found["no-number"].lines == (12,) and found["outlier"].lines == (22,)
    assert found["empty-target"].lines == (8,) and found["empty-target"].action == "dropped"
    assert "x=about 50" in found["no-number"].examples


def test_copies_and_contradictions() -> None:
    columns = good()
    for name in ("x", "town"):
        columns[name][31] = columns[name][30] = columns[name][0]
    columns["y"][30] = columns["y"][0]
    found = {finding.kind: finding for finding in examine(columns).report.findings}
    assert found["duplicate"].lines == (32,) and found["contradiction"].lines == (2, 32, 33)


def test_one_value_little_data_and_one_class() -> None:
    columns = good()
    assert the(examine(columns | {"y": ["3.5"] * 200}), "one-value").severity == "error"
    assert the(examine(columns | {"y": ["yes"] * 200}), "one-class").severity == "error"
    assert the(examine({n: c[:50] for n, c in columns.items()}), "little-data").severity == "warning"


def test_held_out_rows_are_not_learned_from() -> None:
    columns = good()
    table = table_of(columns)
    found = examine_columns(table, "y", None, None, {(columns["x"][5], columns["town"][5])})
    assert (
        found.report.findings[0].kind == "held-out"
        and found.report.findings[0].lines == (7,)
        and len(found.table) == 199
    )


def test_dates_are_refused_with_what_to_type() -> None:
    columns = good() | {"day": ["2024-05-31"] * 100 + ["2024-06-01"] * 100}
    with pytest.raises(DataError, match="holds dates in `day`") as raised:
        examine(columns)
    assert "`--features x,town`" in raised.value.hint and "headway train forecasting" in raised.value.hint
    with pytest.raises(DataError, match="no column of `houses.csv` is left"):
        examine({"y": columns["y"], "same": ["1"] * 200})


def test_a_given_table_keeps_its_constant_columns() -> None:
    """A column that is constant in the test may have taught something in training."""
    columns = good(30) | {"town": ["ulm"] * 30}
    columns["y"][4] = ""
    table, report = examine_given(table_of(columns), "y", ["x", "town"], "numbers")
    assert list(table.columns) == ["x", "town", "y"] and len(table) == 29 and report.findings[0].lines == (6,)
    table, report = examine_given(
        Table(table.columns, table.lines, "t", (Problem(9, "is empty"),)), "y", ["x"], "regression"
    )
    assert report.total == 30 and report.findings[0].kind == "unreadable"


def test_features_are_those_of_scikit_learn() -> None:
    columns = good()
    columns["x"][3], columns["town"][9] = "", ""
    table = table_of(columns)
    features = Features.of(table, ["town", "x"])
    found = features.encode(table)
    x = np.array([float(v) if v else np.nan for v in columns["x"]])[:, None]
    scaler = StandardScaler().fit(x)  # ignores gaps
    expected = scaler.transform(SimpleImputer(strategy="median").fit_transform(x))
    np.testing.assert_allclose(found[:, :1], expected, atol=1e-5)
    assert found[3, 1] == 1 and found[:, 1].sum() == 1, "one column says where the gaps were"
    onehot = OneHotEncoder(categories=[list(features.words[0].words)], sparse_output=False).fit_transform(
        np.array(columns["town"])[:, None]
    )
    np.testing.assert_array_equal(found[:, 2:], onehot)
    assert features.columns == {"x": range(2), "town": range(2, 6)} and features.width == found.shape[1]


def test_what_training_has_not_seen() -> None:
    features = Features.of(table_of(good()), ["x", "town"])
    other = table_of({"x": ["1e6", ""], "town": ["ulm", "paris"]})
    found = features.encode(other)
    assert found[1, 0] == pytest.approx(
        (features.numbers[0].median - features.numbers[0].mean) / features.numbers[0].deviation
    )
    np.testing.assert_allclose(found[1, 1:], features.words[0].shares, rtol=1e-6)
    assert found[1, 1:].sum() == pytest.approx(1), "an unseen word counts as the average of all"
    told = " ".join(features.warnings(other))
    assert "1 gap, which training had not" in told and "1 value beyond those of training" in told and "`paris`" in told
    many = Features.of(table_of({"w": [f"word {i % 60}" for i in range(600)]}), ["w"])
    assert many.width == 51 and many.encode(table_of({"w": ["never"]})).argmax() == 50


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1", "2.5", "-3e4", "NA"], "numbers"),
        (["2024-05-31", "31.05.2024", "2024/05/31", "2024-05"], "dates"),
        (["1", "x", "2"], "words"),
        (["", "nan", "?"], "nothing"),
        (["1_000", "inf"], "words"),
        (["1"] * 99 + ["oops"], "numbers"),
    ],
)
def test_kinds_of_columns(cells: list[str], kind: str) -> None:
    column = read_column("c", cells)
    assert column.kind == kind
    assert column.odd.tolist() == [cell == "oops" for cell in cells]


def test_a_target_that_is_the_sum_of_columns() -> None:
    random = np.random.default_rng(2)
    a, b, c = random.integers(1, 90, 120), random.integers(1, 90, 120), random.integers(1, 90, 120)
    columns = {name: tuple(map(str, values)) for name, values in {"a": a, "b": b, "c": c, "y": a + b}.items()}
    found = examine_columns(Table(columns, tuple(range(2, 122)), "t.csv"), "y").report.findings
    assert [f.message for f in found if f.kind == "leak"] == [
        "`y` is exactly a weighted sum of `a`, `b`, which may not be known before it"
    ]
    noisy = columns | {"y": tuple(map(str, a + b + random.integers(0, 2, 120)))}
    assert not [f for f in examine_columns(Table(noisy, tuple(range(2, 122)), "t.csv"), "y").report.findings if f.kind == "leak"]


def test_one_odd_cell_of_a_small_table_is_one_gap() -> None:
    """That a column holds numbers was found in training; of few cells one is more than the 5 % that may be odd."""
    features = Features.of(table_of(good()), ["x"])
    whole, odd = ["50", "51", "52"], ["50", "about 51", "52"]
    found = features.encode(table_of({"x": odd}))
    np.testing.assert_array_equal(found[[0, 2]], features.encode(table_of({"x": whole}))[[0, 2]])
    median = features.encode(table_of({"x": [str(features.numbers[0].median)]}))
    np.testing.assert_array_equal(found[[1]], median)
    assert features.warnings(table_of({"x": odd})) == ("`x` has 1 cell that is no number (`about 51`): taken for a gap",)
    assert features.warnings(table_of({"x": whole})) == ()
    table, report = examine_given(table_of({"x": whole, "y": ["1.5", "2.5", "many"]}), "y", ["x"], "numbers")
    assert table.column("y") == ("1.5", "2.5") and report.left_out == ("left out: 1 row whose `y` is no number",)
    dates = table_of({"x": whole, "y": ["2024-05-31"] * 3})
    with pytest.raises(DataError, match="3 rows whose `y` is no number"):
        examine_given(dates, "y", ["x"], "numbers")
    half = examine(good() | {"y": ["1.5", "2.5", "many", "4.5"] * 50}, kind="numbers")
    assert len(half.table) == 150, "numbers were asked for"


def test_a_class_may_be_called_minus_or_none() -> None:
    """`+` and `-` of UCI Credit Approval; but among numbers `-` is a gap."""
    signs = good() | {"y": ["+", "-", "none", "?", ""] * 40}
    found = examine(signs)
    assert found.kind == "classes" and set(found.table.column("y")) == {"+", "-", "none"} and len(found.table) == 120
    assert found.report.statistics["classes"] == {"+": 40, "-": 40, "none": 40}
    table, _ = examine_given(table_of({"x": ["1", "2"], "y": ["-", "-"]}), "y", ["x"], "classes")
    assert table.column("y") == ("-", "-")
    digits = examine(good() | {"y": ["0", "1", "1", "-"] * 50})
    assert digits.kind == "classes" and set(digits.table.column("y")) == {"0", "1"}
    numbers = examine(good() | {"y": [*good()["y"][:199], "-"]})
    assert numbers.kind == "numbers" and len(numbers.table) == 199


@pytest.mark.parametrize("value", [0.1, 0.7, 1e-300, 123456.789])
def test_equal_numbers_have_no_spread(value: float) -> None:
    """The computed deviation of 1,000 times 0.1 is 1e-17, not 0: divided by it, rounding becomes the feature."""
    assert NumberColumn.of(read_column("x", [str(value)] * 1000)).deviation == 1.0
    scale = Scale.of(np.full(1000, value))
    assert scale.deviation == 1.0 and abs(scale.apply(np.array([value]))[0]) < 1e-9
    assert Scale.of(np.array([0.0, 2.0])).deviation == 1.0 and Scale.of(np.array([1e-9, 3e-9])).deviation == pytest.approx(1e-9)
