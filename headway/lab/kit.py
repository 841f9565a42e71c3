"""The vocabulary of an experiment: one import for everything that most of them need."""

import math

import numpy as np
from numpy.random import Generator

from headway.lab.checks import (
    Checks,
    at_least,
    at_most,
    because,
    close,
    counts,
    equal,
    headline,
    linear_slope,
    mean_is,
    monotone,
    printed,
    published,
    share_is,
    slope,
    table,
    vacuous,
    within,
)
from headway.lab.experiment import DataMissing, Experiment
from headway.lab.panel import Panel
from headway.lab.parameters import param

__all__ = [
    "Checks", "DataMissing", "Experiment", "Generator", "Panel", "at_least", "at_most", "because", "close", "counts", "equal", "headline",
    "linear_slope", "math", "mean_is", "monotone", "np", "param", "printed", "published", "share_is", "slope", "table", "vacuous", "within",
]  # fmt: skip
