"""Published tables, each as a command that measures its figures again: `headway reproduce --list`. One file for each table."""
