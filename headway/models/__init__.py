"""Decide: one file per architecture. A model maps tokens or pictures to hidden states and logits; it knows no loss."""
