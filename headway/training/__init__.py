"""Find: one loop, the optimizers, schedules and checkpoints, the plan, and the session that turns a recipe into a run."""
