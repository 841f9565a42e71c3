"""Weights from and for other programs."""
