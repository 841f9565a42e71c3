"""Choose: one file per task: its data, plan, loss, figures and uses. `task.py` is the protocol, `recipe.py` what is asked for."""
