"""Set side by side: models at equal size and budget, on any task; mixers on riddles. No task is known by name."""
