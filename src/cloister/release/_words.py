# SPDX-License-Identifier: Apache-2.0
"""Numbers of a release in words: those of a centre, a column in one cluster, counts. For tables, cards and the report."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from cloister.columns import KINDS, Coordinate, Table, percent
from cloister.text import plain_text, share_text, with_error

LEAST_SHARE = 0.005  # of the spread between centres, that an axis is named for
NONE = "none above the noise"  # the number of rows of a cluster that cannot be told from noise


def coordinates_of(domain: Table, names: Sequence[str]) -> list[Coordinate]:
    """Return what each number of a centre in this domain is; `names` are those of the numbers."""
    spreads = [math.nan] * domain.n_columns if domain.spreads is None else domain.spreads.tolist()
    triples = zip(domain.columns, domain.slices(), spreads, strict=True)
    return [each for one, cut, spread in triples for each in one.coordinates(names[cut], spread)]


def axis_words(share: float, loadings: Sequence[Sequence[Any]], *, spread: str = "spread between centres") -> str:
    """Describe a principal axis by the columns that grow or fall along it, the largest first, and how much it shows."""
    if not loadings or share < LEAST_SHARE:
        return "no spread"
    parts = [f"{plain_text(name)} {'up' if weight > 0 else 'down'}" for name, weight in loadings]
    return f"{', '.join(parts)} ({share_text(share)} of the {spread})"


def rows_words(count: float, error: float, *, stands_out: bool = True) -> str:
    """Return a noisy number of rows with its standard error, or that it does not stand out of the noise.

    Examples
    --------
    >>> rows_words(12345.6, 122.7), rows_words(-3.0, 8.0), rows_words(9.0, 8.0, stands_out=False)
    ('12,346 ± 123', 'none above the noise', 'none above the noise')
    """
    return " ± ".join(with_error(count, error)) if count > 0 and stands_out else NONE


def error_words(*, total: bool) -> str:
    """Return what the errors of a release cover."""
    if total:
        return "Each number ± its standard error against k-means without noise: the noise and the choice among solutions."
    return "Each number ± its standard error from the noise alone; k-means may have several solutions."


def hidden_words(n_seen: int, n_clusters: int) -> str:
    """Return how many clusters cannot be told from noise, in a sentence; nothing where all can.

    Examples
    --------
    >>> hidden_words(0, 3)
    'Nothing stands out of the noise: too few rows for this budget, or none. The centres are guesses.'
    >>> hidden_words(1, 3), hidden_words(3, 3)
    ('2 of 3 clusters cannot be told from noise. Labels of them say nothing about a row.', '')
    """
    if n_seen == n_clusters:
        return ""
    if n_seen:
        return (
            f"{n_clusters - n_seen} of {n_clusters} clusters cannot be told from noise. Labels of them say nothing about a row."
        )
    guess = "The centre is a guess." if n_clusters == 1 else "The centres are guesses."
    return f"Nothing stands out of the noise: too few rows for this budget, or none. {guess}"


def column_words(column: Mapping[str, Any], most_levels: int = 3, *, between: str = ", ") -> str:
    """Return what a column is in one cluster, as ``Release.profile`` tells it; levels may stand on lines of their own.

    Examples
    --------
    >>> column_words({"type": "flag", "share": 0.34, "error": 0.011})
    '34 % ± 1 %'
    >>> column_words({"type": "category", "shares": {"f": [0.38, 0.011], "m": [0.62, 0.011]}})
    'f 38 %, m 62 % (± 1 %)'
    """
    words = KINDS[column["type"]].told_words(column, most_levels, between)
    if "missing" not in column:
        return words
    return "{}, missing {} % ± {} %".format(words, *percent(*column["missing"]))
