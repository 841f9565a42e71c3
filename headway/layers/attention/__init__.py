"""Attention mixers: every position looks at others."""
