"""Scaling laws of a person's own runs."""
