"""One alphabet of axes, used in annotations, einops patterns, docstrings and plots.

    b batch          t query position      s key position     d width        h head        e head width
    f feed-forward   v vocabulary          c channel, class   p patch        n state       r rank        l layer

`Float[Tensor, "b t d"]` is checked in tests (see tests/conftest.py) and costs nothing in production.
"""
