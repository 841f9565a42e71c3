"""Measure on a trained run what the theory names: regions, lengths, dimensions, attention, gradients, curvature, margins."""
