"""What every layer and every model owes, as functions: `headway check NAME` and the tests here run the same ones."""
