"""Large numbers on the command line: `20k`, `1.5M`."""

from headway.core.errors import UsageError

POWERS = {"k": 1e3, "m": 1e6, "g": 1e9}


def parse_counts(words: str, option: str) -> list[int]:
    """`20k,1.5M` as whole numbers; each must be there once."""
    found = []
    for word in words.lower().split(","):
        number, power = (word[:-1], POWERS[word[-1]]) if word[-1:] in POWERS else (word, 1.0)
        try:
            count = float(number) * power
            found.append(round(count))
        except (ValueError, OverflowError) as problem:
            message = f"`{option} {words}` should be numbers with commas between, not `{word}`"
            raise UsageError(message, "for example `20k,300k,1M`.") from problem
    if min(found) < 1 or len(set(found)) < len(found):
        raise UsageError(f"`{option} {words}` should be different numbers of at least 1", "for example `20k,300k,1M`.")
    return found
