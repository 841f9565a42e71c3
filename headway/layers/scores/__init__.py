"""Attention scores: how well a query fits a key."""
