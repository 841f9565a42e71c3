"""Keep: the run directory as a value, and what can be asked of it."""
