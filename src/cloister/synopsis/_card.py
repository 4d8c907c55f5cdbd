# SPDX-License-Identifier: Apache-2.0
"""What a terminal and a notebook show of a synopsis: its grid, its noise, and the guarantee in words."""

from typing import TYPE_CHECKING

import numpy as np

from cloister.card import Card
from cloister.release import coordinates_of, guarantee_words
from cloister.text import count_of, with_error

if TYPE_CHECKING:
    from cloister.synopsis._synopsis import Synopsis
    from cloister.synopsis._weighted import WeightedPoints

__all__ = ["grid_words", "noise_words", "place_words", "points_card", "synopsis_card"]

MOST_COLUMNS = 6  # of a card of points


def place_words(synopsis: "Synopsis", axis: int, value: float) -> str:
    """Return a value of a column as people write it."""
    return coordinates_of(synopsis.table, synopsis.columns)[axis].text(value)


def synopsis_card(synopsis: "Synopsis") -> Card:
    """Return the columns with the cells that cut them."""
    low, high = np.atleast_1d(synopsis.domain.low), np.atleast_1d(synopsis.domain.high)
    ends = zip(synopsis.columns, low.tolist(), high.tolist(), synopsis.cells, strict=True)
    rows = [
        (name, place_words(synopsis, axis, first), place_words(synopsis, axis, last), str(count))
        for axis, (name, first, last, count) in enumerate(ends)
    ]
    return Card(
        title=f"Synopsis: {grid_words(synopsis)} in {count_of(synopsis.n_features, 'column')}",
        heads=("column", "from", "to", "cells" if synopsis.split is None else "finest cells"),
        rows=rows,
        sentences=[
            f"{_rows_words(synopsis)}. Noise of standard deviation {noise_words(synopsis)} in each cell.",
            *guarantee_words(synopsis.receipt),
        ],
        nouns=("column", "property"),
        alert=synopsis.receipt.alert,
    )


def grid_words(synopsis: "Synopsis") -> str:
    """Say what grid it is, and of how many cells."""
    kind = "a grid" if synopsis.split is None else "an adaptive grid"
    return f"{kind} of {count_of(synopsis.n_cells, 'cell')}"


def noise_words(synopsis: "Synopsis") -> str:
    """Return the noise of a cell; of an adaptive grid, from the least noisy leaf to the most."""
    if synopsis.split is None:
        return f"{synopsis.sigma:.3g}"
    errors = synopsis.noise.of_leaves
    return " to ".join(dict.fromkeys(f"{one:.3g}" for one in (errors.min(), errors.max())))


def points_card(synopsis: "WeightedPoints") -> Card:
    """Return the points, the heaviest first, with the spread of their rows in the first columns."""
    columns = range(min(synopsis.n_features, MOST_COLUMNS))
    points, spreads, weights = synopsis.points, synopsis.spreads, synopsis.weights

    def words(one: int, column: int) -> str:
        return " ± ".join(with_error(float(points[one, column]), float(spreads[one, column])))

    noise = f"Noise of standard deviation {synopsis.sigma:.3g} in each count. Behind ±: the spread of the rows."
    return Card(
        title=f"Synopsis: {count_of(synopsis.n_points, 'point')} in {count_of(len(synopsis.columns), 'column')}",
        heads=(synopsis.receipt.counted, *(synopsis.columns[column] for column in columns)),
        rows=[
            (f"{weights[one]:,.0f}", *(words(int(one), column) for column in columns))
            for one in np.argsort(-weights, kind="stable")
        ],
        sentences=[
            f"{_rows_words(synopsis)}. {noise}",
            *guarantee_words(synopsis.receipt),
        ],
        nouns=("point", "property"),
        alert=synopsis.receipt.alert,
    )


def _rows_words(synopsis: "Synopsis | WeightedPoints") -> str:
    value, error = with_error(synopsis.n_rows, synopsis.n_rows_error)
    counted = f"{value} (public)" if synopsis.n_rows_error == 0 else f"{value} ± {error}"
    return f"{synopsis.receipt.counted.capitalize()}: {counted}"
