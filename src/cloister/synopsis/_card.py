# SPDX-License-Identifier: Apache-2.0
"""What a terminal and a notebook show of a synopsis: its grid or points, its noise, and the guarantee in words."""

from typing import TYPE_CHECKING

import numpy as np

from cloister.card import Card
from cloister.columns import FloatArray
from cloister.release import card_words, coordinates_of
from cloister.text import count_of, with_error

if TYPE_CHECKING:
    from cloister.synopsis._points import Points
    from cloister.synopsis._synopsis import Synopsis

MOST_COLUMNS = 6  # of a table of points


def synopsis_card(synopsis: "Synopsis") -> Card:
    """Return the columns with the cells that cut them, or the points."""
    grid = synopsis.grid
    if grid is not None:
        title = f"{'a grid' if grid.split is None else 'an adaptive grid'} of {count_of(synopsis.n_points, 'cell')}"
        heads = ["column", "from", "to", "cells" if grid.split is None else "finest cells"]
        known = coordinates_of(synopsis.domain, synopsis.columns)
        rows = [
            [name, one.text(edges[0]), one.text(edges[-1]), str(len(edges) - 1)]
            for name, one, edges in zip(synopsis.columns, known, grid.edges, strict=True)
        ]
    else:
        title = count_of(synopsis.n_points, "point")
        heads, rows = point_table(synopsis, synopsis.receipt.counted, synopsis.weights)
    noun, of, after = ("column", "cell", "") if grid else ("point", "count", " Behind ±: the spread of the rows.")
    return Card(
        title=f"Synopsis: {title} in {count_of(synopsis.n_features, 'column')}",
        heads=heads,
        rows=rows,
        sentences=[
            *card_words(synopsis.warnings),
            f"{size_words(synopsis)}. Noise of standard deviation {noise_words(synopsis)} in each {of}.{after}",
            *synopsis.receipt.promise()[:-1],
        ],
        nouns=(noun, "property"),
        alert=synopsis.receipt.alert,
    )


def size_words(synopsis: "Synopsis") -> str:
    """Return how many rows there are, noisy or public."""
    value, error = with_error(synopsis.n_rows, synopsis.n_rows_error)
    return f"{synopsis.receipt.counted.capitalize()}: {value}{' (public)' if synopsis.n_rows_error == 0 else f' ± {error}'}"


def point_table(synopsis: "Synopsis", counted: str, counts: FloatArray) -> tuple[list[str], list[list[str]]]:
    """Return the points with these counts, the heaviest first, with the spread of their rows in the first columns."""
    places, spreads = synopsis.points[:, :MOST_COLUMNS].tolist(), synopsis.spreads.tolist()
    rows = [
        [f"{counts[one]:,.0f}", *(" ± ".join(with_error(*pair)) for pair in zip(places[one], spreads[one], strict=False))]
        for one in np.argsort(-synopsis.weights, kind="stable")
    ]
    return [counted, *synopsis.columns[:MOST_COLUMNS]], rows


def noise_words(points: "Points") -> str:
    """Return the noise of a count; of an adaptive grid, from the least noisy leaf to the most."""
    errors = points.noise.of_each
    return " to ".join(dict.fromkeys(f"{one:.3g}" for one in (errors.min(), errors.max())))
