"""The lectures as pages: every concept with its equation and code, every experiment with its figure and verdict, every erratum."""
