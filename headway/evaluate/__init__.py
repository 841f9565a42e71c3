"""Judge: scores with signatures and intervals."""
