"""What several experiments use: targets, linear programs, networks, counting."""
