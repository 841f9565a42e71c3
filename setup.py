"""What torch is slow at, in C (`headway/layers/compiled.py`). Without a compiler it is left out. All else is in pyproject.toml."""

from setuptools import Extension, setup

FOLDER = "headway/layers/c"
ARITHMETIC = ["-fno-math-errno", "-fno-trapping-math", "-fno-signed-zeros", "-fassociative-math"]  # so that sums are vectorised

setup(
    ext_modules=[
        Extension(
            "headway.layers._compiled",
            [f"{FOLDER}/{name}.c" for name in ("threads", "one_row", "selective_scan")],
            depends=[f"{FOLDER}/threads.h"],
            libraries=["m"],
            extra_compile_args=["-O3", "-std=gnu11", *ARITHMETIC],
            optional=True,
        )
    ]
)
