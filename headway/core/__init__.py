"""Names and values that every room shares. Nothing here imports torch at the top: the command line starts fast."""
