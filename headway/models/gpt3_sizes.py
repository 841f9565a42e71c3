"""What Brown et al. 2020 print of GPT-3: table 2.1, https://arxiv.org/abs/2005.14165. `gpt.presets()` has the same names."""

VOCABULARY = 50_257  # tokens of GPT-2 and GPT-3
TOKENS = 300e9  # that each size was trained on
WARMUP = 375e6  # tokens until the highest learning rate (appendix B)
MILLIONS = {  # of parameters, as printed
    "gpt3-small": 125,
    "gpt3-medium": 350,
    "gpt3-large": 760,
    "gpt3-xl": 1_300,
    "gpt3-2.7b": 2_700,
    "gpt3-6.7b": 6_700,
    "gpt3-13b": 13_000,
    "gpt3-175b": 175_000,
}
HEADS = {  # (d_model, heads, width of a head), as printed
    "gpt3-small": (768, 12, 64),
    "gpt3-medium": (1024, 16, 64),
    "gpt3-large": (1536, 16, 96),
    "gpt3-xl": (2048, 24, 128),
    "gpt3-2.7b": (2560, 32, 80),
    "gpt3-6.7b": (4096, 32, 128),
    "gpt3-13b": (5140, 40, 128),
    "gpt3-175b": (12288, 96, 128),
}
BATCH = {  # tokens, as printed
    "gpt3-small": 0.5e6,
    "gpt3-medium": 0.5e6,
    "gpt3-large": 0.5e6,
    "gpt3-xl": 1e6,
    "gpt3-2.7b": 1e6,
    "gpt3-6.7b": 2e6,
    "gpt3-13b": 2e6,
    "gpt3-175b": 3.2e6,
}
RATE = {  # the highest learning rate, as printed
    "gpt3-small": 6.0e-4,
    "gpt3-medium": 3.0e-4,
    "gpt3-large": 2.5e-4,
    "gpt3-xl": 2.0e-4,
    "gpt3-2.7b": 1.6e-4,
    "gpt3-6.7b": 1.2e-4,
    "gpt3-13b": 1.0e-4,
    "gpt3-175b": 0.6e-4,
}
