"""Collect: read text, pairs, tables and pictures; tokenize; batch; examine."""
