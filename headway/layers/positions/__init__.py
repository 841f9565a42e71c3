"""Positions: what tells one place in a sequence from another."""
