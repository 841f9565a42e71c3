"""Set side by side: models at equal size and budget, on any task; mixers on riddles. Nothing here knows a task by name."""
