"""What holds for every test: the axes in annotations are checked, one core is used, and random tests have no deadline.

The import hook wraps each annotated function of these rooms in jaxtyping's checks. It works only on modules that are not imported
yet, so it stands here, above every `import headway...` of a test.
"""

import os

os.environ["OMP_NUM_THREADS"] = "1"  # two workers on two cores: threads on top of that would only wait for each other

from jaxtyping import install_import_hook

CHECKED = ["headway.layers", "headway.models", "headway.decode"]

install_import_hook(CHECKED, "beartype.beartype")

import hypothesis  # noqa: E402
import pytest  # noqa: E402
import torch  # noqa: E402

torch.set_num_threads(1)
hypothesis.settings.register_profile("headway", deadline=None, derandomize=True, print_blob=True)
hypothesis.settings.load_profile("headway")


@pytest.fixture(autouse=True)
def _seeded() -> None:
    """A test that draws numbers draws the same ones wherever it stands in the run."""
    torch.manual_seed(20170612)


@pytest.fixture(autouse=True)
def _denormals():
    """A run flushes the smallest numbers to zero (core/machine.py); the next test has them again."""
    yield
    torch.set_flush_denormal(False)


@pytest.fixture
def doubles():
    """Everything made inside the test is float64, so that equal means equal to ten digits."""
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)
