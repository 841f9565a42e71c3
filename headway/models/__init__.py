"""Decide: one file per architecture. A model maps token ids to hidden states and logits; it knows no loss and no tokenizer."""
