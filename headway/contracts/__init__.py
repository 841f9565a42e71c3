"""What every layer and every model owes, as functions: `headway check NAME` and the tests of this package run the same ones."""
