from headway.core.errors import ConfigError, raise_all


def demand_sizes(sizes: dict[str, int]) -> None:
    """Sizes that are at least 1; all that are not are reported at once."""
    wrong = [f"`{name}` is {size}, but must be at least 1" for name, size in sizes.items() if size < 1]
    raise_all(wrong, ConfigError, "sizes that cannot be", "write whole numbers from 1 on")
