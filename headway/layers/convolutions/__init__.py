"""Convolutions: the same small filter at every place."""
