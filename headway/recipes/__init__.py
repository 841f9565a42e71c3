"""Runs as values: each file is one recipe that can be trained by name."""
