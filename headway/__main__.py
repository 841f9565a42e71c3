"""`python -m headway ...` is the command `headway ...`."""

from headway.cli import entry

if __name__ == "__main__":  # not in the children that a comparison starts
    entry()
