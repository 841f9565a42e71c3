"""What a forecast has learned of its series besides the weights: the scale of each channel, the words of each category."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from headway.core.config import require
from headway.data.cells import read_column
from headway.data.features import WordColumn
from headway.data.messages import list_names
from headway.data.series import Series, Windows
from headway.tasks.estimates import Scale


@dataclass(frozen=True)
class SeriesState:
    """Kept in the run as series.json."""

    channels: tuple[str, ...]  # the first is the one that is predicted
    scales: tuple[Scale, ...]  # of each channel
    words: tuple[WordColumn, ...]  # of each column of categories
    time: str | None  # the column of times

    def __post_init__(self) -> None:
        require((len(self.channels) == len(self.scales) > 0, "every channel needs one scale"))

    @classmethod
    def of(cls, series: Series, last: int, time: str | None) -> "SeriesState":
        """From the first `last` rows: those of training."""
        scales = tuple(Scale.of(channel) for channel in series.values[:last].T)
        words = tuple(WordColumn.of(read_column(name, cells[:last])) for name, cells in series.categories.items())
        return cls(series.names, scales, words, time)

    def width(self, horizon: int) -> int:
        """Columns of the categories of all predicted rows."""
        return horizon * sum(column.width for column in self.words)

    def scaled(self, past: Float[np.ndarray, "n t c"]) -> Float[np.ndarray, "n t c"]:
        return (past - [s.mean for s in self.scales]) / [s.deviation for s in self.scales]

    def encode(
        self, series: Series, part: Windows, horizon: int
    ) -> tuple[Float[np.ndarray, "n t c"], Float[np.ndarray, "n k"]]:
        """What a model reads: the scaled past, and the categories of each predicted row, one-hot.

        A row that is still to come and has no category is encoded as the average of all words.
        """
        parts = [np.empty((len(part), 0))]
        for column in self.words:
            cells = (*series.categories[column.name], *("" for _ in range(horizon)))
            parts += [column.encode([cells[row + h] for row in part.rows]) for h in range(horizon)]
        return self.scaled(part.series), np.concatenate(parts, 1)

    def warnings(self, series: Series, horizon: int, future: int) -> tuple[str, ...]:
        """What is not known of the rows to come, or was not known in training."""
        found = []
        if self.words and future < horizon:
            names = list_names(column.name for column in self.words)
            found.append(
                f"{names} of the next row is not known: add a row for it in which `{self.channels[0]}` is empty"
            )
        for column in self.words:
            unseen = [word for word in dict.fromkeys(series.categories[column.name]) if word not in column.words]
            if unseen:
                found.append(f"`{column.name}` has words that training had not: {list_names(unseen[:5])}")
        return tuple(found)


def flat(x: Float[np.ndarray, "n t c"], z: Float[np.ndarray, "n k"]) -> Float[np.ndarray, "n f"]:
    """Both inputs in one row: what a linear model reads."""
    return np.concatenate([x.reshape(len(x), -1), z], 1)
