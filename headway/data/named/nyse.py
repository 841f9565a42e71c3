from collections.abc import Iterator, Mapping

from headway.data.named.sources import Dataset, Package


def nyse() -> Dataset:
    """NYSE: 6,051 trading days of the New York Stock Exchange, 1962 to 1986: volume, return and volatility of each.

    Also called NYSE volume, New York Stock Exchange. LeBaron & Weigend 1998; the example of the book "An Introduction to
    Statistical Learning", chapter 10.
    """
    return Dataset(
        name="nyse",
        summary="6,051 trading days with their volume, return and volatility, 1962 to 1986",
        licence="BSD 3-clause (the package)",
        packages=(
            Package("pip", "ISLP", "0.6.0", "ca772cecca1747a2f84ee799a5503ddddbdf0e98f90c235494790c1d036c694b", 16.6),
        ),
        files=("NYSE.csv",),
        make=table,
        next_step="train forecasting --table {folder}/NYSE.csv --target log_volume --lags 5 --out runs/nyse",
        checked={},
    )


def table(members: Iterator[tuple[str, bytes]]) -> Mapping[str, bytes]:
    return {name.rpartition("/")[2]: content for name, content in members if name == "ISLP/data/NYSE.csv"}
