"""Everything random is a pure function of (seed, purpose, step): data order, dropout, initial weights.

So resuming is arithmetic: step 4711 draws the same numbers whether the process ran from step 0 or was started at step 4711.
"""

import hashlib


def derive(seed: int, *purpose: str | int) -> int:
    """An independent 63-bit seed for one purpose: derive(7, "dropout", 4711)."""
    text = "/".join(str(part) for part in (seed, *purpose))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1
