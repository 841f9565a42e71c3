"""Normalisations: what keeps activations at one scale."""
