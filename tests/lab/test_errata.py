"""The register of errata is the specification's, row by row, and points at experiments that say so too."""

from collections import Counter

from headway.lab.errata import NOTES, of, register
from headway.lab.page import box, emphasised


def test_there_are_72_with_every_number_once() -> None:
    ids = [e.id for e in register()]
    assert Counter(i[0] for i in ids) == {"A": 17, "B": 13, "C": 25, "D": 9, "E": 8} and len(set(ids)) == 72
    assert all([i for i in ids if i[0] == note] == [f"{note}{k + 1}" for k in range(sum(i[0] == note for i in ids))] for note in NOTES)
    assert all(e.printed and e.correct for e in register())


def test_rows_that_are_known_by_heart() -> None:
    a10, b3, c25 = (of((name,))[0] for name in ("A10", "B3", "C25"))
    assert a10.printed == 'Telgarsky "for every L∈ℕ"' and a10.exposed_by == ("telgarsky-32",)
    assert b3.exposed_by == ("zaslavsky", "central-arrangement") and "2Σ_{j<n0}C(n1−1,j)" in b3.correct
    assert c25.exposed_by == () and c25.source == ""
    assert "|C_{t,i}|<1" in of(("C6",))[0].printed and "E|uᵀw_i|" in of(("B5",))[0].printed  # the bars of a table cell are unescaped


def test_emphasis_is_not_a_convolution() -> None:
    assert emphasised("the *number* of <b>") == "the <em>number</em> of &lt;b&gt;"
    assert emphasised("(h̄*f), w*=(XᵀX), F(w*x)=F(w)F(x)") == "(h̄*f), w*=(XᵀX), F(w*x)=F(w)F(x)"
    assert "Erratum C2" in box(of(("C2",))[0])
