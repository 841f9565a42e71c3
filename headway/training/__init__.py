"""Find: the training loop, optimizers, schedules, checkpoints, the plan, and the precision of the arithmetic."""
