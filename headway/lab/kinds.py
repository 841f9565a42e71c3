"""What the words of the lab mean: the kinds of assertion, and which function of `checks.py` makes which of them."""

MEANINGS = {
    "EXACT": "an identity or a count: equal, up to rounding",
    "BOUND": "an inequality without tolerance; the slack says how many times the bound exceeds the measurement",
    "STAT": "an expectation or a probability: within four standard errors, tried with three seeds",
    "RATE": "an exponent or an order: the slope of a straight line through at least four points",
    "TABLE": "a published number, within the tolerance given",
    "REFUTE": "the claim as it was printed, which must fail",
}
FUNCTIONS = {
    "equal": "EXACT",
    "close": "EXACT",
    "monotone": "EXACT",
    "counts": "EXACT",
    "at_most": "BOUND",
    "at_least": "BOUND",
    "within": "STAT",
    "mean_is": "STAT",
    "share_is": "STAT",
    "slope": "RATE",
    "linear_slope": "RATE",
    "published": "TABLE",
    "table": "TABLE",
    "printed": "REFUTE",
}
