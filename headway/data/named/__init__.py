"""Public data by name: one file for each. `headway data get NAME` brings them through a package manager of this machine."""
