"""The parts: mixers (attention, recurrences, convolutions), positions, norms, feed-forward, embedding, connections.

One alphabet of axes, in annotations, einops patterns, docstrings and plots:

    b batch          t query position      s key position     d width        h head        e head width
    f feed-forward   v vocabulary          c channel, class   p patch        n state       r rank        l layer

`Float[Tensor, "b t d"]` is checked in tests (tests/conftest.py) and costs nothing in production.
"""
