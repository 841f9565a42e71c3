"""Take away: a run in the format of another program."""
