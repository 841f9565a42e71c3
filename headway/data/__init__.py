"""Collect: read pairs, tokenize, batch, examine."""
