"""Show: pages, curves and pictures, in one style. A report asks the run and its task; it knows no task by name."""
