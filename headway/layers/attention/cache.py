"""Keys and values of the positions before, as a value that grows without being copied at each step.

    after = cache.append(k, v)        after.k, after.v: "b h s e", those of `cache` and the new position

There is room behind the last position, and caches that came from one another share it. The first `append` to a cache
writes there; a second one from the same cache finds the place taken and gets a copy, so both results are right. While
gradients are computed, nothing is written in place. In memory the positions come first: so what is written is in one
piece, and so is what reordering the rows copies.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor

ROOM = 16  # positions that a cache has room for at first; then always twice as many as it holds


class Cache:
    """What causal attention keeps of the positions it has seen.

    keys, values   "r b h e" with room for r positions
    first, stop    those from `first` up to `stop` are kept; the others are no longer seen, or not written yet
    past           how many positions there were, kept or not
    written        how many are written, in a list that all caches that share the room share
    """

    __slots__ = ("first", "keys", "past", "stop", "values", "written")

    def __init__(
        self,
        keys: Float[Tensor, "r b h e"],
        values: Float[Tensor, "r b h e"],
        first: int = 0,
        stop: int = 0,
        past: int = 0,
        written: list[int] | None = None,
    ) -> None:
        self.keys, self.values, self.first, self.stop, self.past = keys, values, first, stop, past
        self.written = [stop] if written is None else written

    @property
    def k(self) -> Float[Tensor, "b h s e"]:
        return self.keys[self.first : self.stop].permute(1, 2, 0, 3)

    @property
    def v(self) -> Float[Tensor, "b h s e"]:
        return self.values[self.first : self.stop].permute(1, 2, 0, 3)

    def append(self, k: Float[Tensor, "b h 1 e"], v: Float[Tensor, "b h 1 e"], reach: int | None = None) -> "Cache":
        """One position more. Of all, the last `reach` are kept (None: all)."""
        k, v = k.permute(2, 0, 1, 3), v.permute(2, 0, 1, 3)
        if torch.is_grad_enabled():
            first = self.first if reach is None else max(self.first, self.stop + 1 - reach)
            keys, values = (torch.cat((y[first : self.stop], new)) for y, new in ((self.keys, k), (self.values, v)))
            return Cache(keys, values, 0, len(keys), self.past + 1)
        after = self.with_room(reach)
        after.keys[after.stop - 1 : after.stop].copy_(k)
        after.values[after.stop - 1 : after.stop].copy_(v)
        return after

    def with_room(self, reach: int | None = None) -> "Cache":
        """One position more, which is still to be written."""
        keys, values, stop, written = self.keys, self.values, self.stop + 1, self.written
        first = self.first if reach is None else max(self.first, stop - reach)
        if written[0] != self.stop or stop > keys.shape[0]:  # the place is taken, or there is none
            keys, values = (_with_room(y[first : stop - 1]) for y in (keys, values))
            first, stop, written = 0, stop - first, [0]
        written[0] = stop
        return Cache(keys, values, first, stop, self.past + 1, written)

    def pick(self, rows: Int[Tensor, "n"]) -> "Cache":
        """The cache of some rows, in that order."""
        kept = (self.keys[self.first : self.stop], self.values[self.first : self.stop])
        if torch.is_grad_enabled():
            keys, values = (y.index_select(1, rows) for y in kept)
        else:
            keys, values = (_with_room(y, rows) for y in kept)
        return Cache(keys, values, 0, len(kept[0]), self.past)


def _with_room(kept: Float[Tensor, "s b h e"], rows: Int[Tensor, "n"] | None = None) -> Float[Tensor, "r n h e"]:
    """A copy of the positions (of some rows) at the beginning of a room for twice as many."""
    s, b, *shape = kept.shape
    room = kept.new_empty(max(ROOM, 2 * s), b if rows is None else len(rows), *shape)
    if rows is None:
        room[:s].copy_(kept)
    else:
        torch.index_select(kept, 1, rows, out=room[:s])
    return room
