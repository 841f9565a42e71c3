"""Use: one stepper for every model."""
