"""One optimizer per file: its update rule as an equation, and below it the code. `training.optimizer` takes their names.

AdamW trains with torch's fused kernel, which computes the same (tests/reference/test_optimizers_are_torch.py).
"""
