# SPDX-License-Identifier: Apache-2.0
"""What a terminal and a notebook show of a synopsis: its grid or points, its noise, and the guarantee in words."""

from typing import TYPE_CHECKING

import numpy as np

from cloister.card import Card
from cloister.release import coordinates_of, guarantee_words
from cloister.text import count_of, with_error

if TYPE_CHECKING:
    from cloister.synopsis._points import Points
    from cloister.synopsis._synopsis import Synopsis

MOST_COLUMNS = 6  # of a card of points


def place_words(synopsis: "Synopsis", axis: int, value: float) -> str:
    """Return a value of a column of a grid as people write it."""
    return coordinates_of(synopsis.domain, synopsis.columns)[axis].text(value)


def synopsis_card(synopsis: "Synopsis") -> Card:
    """Return the columns with the cells that cut them, or the points."""
    noise = noise_words(synopsis)
    if synopsis.grid is not None:
        kind = "a grid" if synopsis.grid.split is None else "an adaptive grid"
        title, of = f"{kind} of {count_of(synopsis.n_points, 'cell')}", "cell"
        heads, rows = _grid_table(synopsis)
    else:
        title, of = count_of(synopsis.n_points, "point"), "count"
        heads, rows = _point_table(synopsis)
    after = "" if synopsis.grid is not None else " Behind ±: the spread of the rows."
    return Card(
        title=f"Synopsis: {title} in {count_of(synopsis.n_features, 'column')}",
        heads=heads,
        rows=rows,
        sentences=[
            f"{size_words(synopsis)}. Noise of standard deviation {noise} in each {of}.{after}",
            *guarantee_words(synopsis.receipt),
        ],
        nouns=("column" if synopsis.grid is not None else "point", "property"),
        alert=synopsis.receipt.alert,
    )


def size_words(synopsis: "Synopsis") -> str:
    """Return how many rows there are, noisy or public."""
    value, error = with_error(synopsis.n_rows, synopsis.n_rows_error)
    return f"{synopsis.receipt.counted.capitalize()}: {value}{' (public)' if synopsis.n_rows_error == 0 else f' ± {error}'}"


def _grid_table(synopsis: "Synopsis") -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the columns with the cells that cut them."""
    grid = synopsis._index("card")
    rows: list[tuple[str, ...]] = [
        (name, place_words(synopsis, axis, edges[0]), place_words(synopsis, axis, edges[-1]), str(len(edges) - 1))
        for axis, (name, edges) in enumerate(zip(synopsis.columns, grid.edges, strict=True))
    ]
    return ("column", "from", "to", "cells" if grid.split is None else "finest cells"), rows


def _point_table(synopsis: "Synopsis") -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the points, the heaviest first, with the spread of their rows in the first columns."""
    columns = range(min(synopsis.n_features, MOST_COLUMNS))
    points, spreads, weights = synopsis.points, synopsis.spreads, synopsis.weights

    def words(one: int, column: int) -> str:
        return " ± ".join(with_error(float(points[one, column]), float(spreads[one, column])))

    order = np.argsort(-weights, kind="stable").tolist()
    rows = [(f"{weights[one]:,.0f}", *(words(one, column) for column in columns)) for one in order]
    return (synopsis.receipt.counted, *(synopsis.columns[column] for column in columns)), rows


def noise_words(points: "Points") -> str:
    """Return the noise of a count; of an adaptive grid, from the least noisy leaf to the most."""
    errors = points.noise.of_each
    return " to ".join(dict.fromkeys(f"{one:.3g}" for one in (errors.min(), errors.max())))
