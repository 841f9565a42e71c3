"""Recurrences: a state carried from one position to the next."""
