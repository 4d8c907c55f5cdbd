# SPDX-License-Identifier: Apache-2.0
"""Numbers of a release in words: those of a centre, a column in one cluster, counts. For tables, cards and the report."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cloister.columns import Ball, Category, ColumnDomain, Date, Domain, Flag
from cloister.release._profile import date_of
from cloister.text import plain_text, rounded, share_text, with_error

__all__ = [
    "Coordinate",
    "axis_words",
    "column_words",
    "coordinates_of",
    "days_words",
    "error_words",
    "hidden_words",
    "largest_levels",
    "percent",
    "rows_words",
]

MORE = "..."
MINUS = "\u2212"
LEAST_SHARE = 0.005  # of the spread between centres, that an axis is named for
NONE = "none above the noise"  # the number of rows of a cluster that cannot be told from noise


@dataclass(frozen=True)
class Coordinate:
    """One of the numbers that a centre consists of: its name, where it lies, and how it is written."""

    name: str
    low: float
    high: float
    unit: float  # of differences: the width of the bounds, or the spread of the column where that was found
    is_share: bool  # of a level, of yes, or of missing values
    dated: Date | None  # of days since 1970-01-01, what they were declared to be

    def words(self, value: float, error: float) -> tuple[str, str]:
        """Return a value and its error, cut to the digits that mean something."""
        if self.dated is not None:
            return date_of(self.dated, value), days_words(error)
        if not self.is_share:
            return with_error(value, error)
        share, spread = percent(value, error)
        return f"{share} %", f"{spread} %"

    def text(self, value: float) -> str:
        """Return a value that comes from noise, to four digits."""
        return date_of(self.dated, value) if self.dated is not None else share_text(value) if self.is_share else rounded(value)

    def brief(self, value: float) -> str:
        """Return a value in few letters."""
        if self.dated is not None:
            return date_of(self.dated, value)[:7]
        if self.is_share:
            return share_text(value)
        if value != 0 and not 1e-3 <= abs(value) < 1e5:
            return f"{value:.1e}"
        decimals = min(max(0, 2 - math.floor(math.log10(max(abs(value), 1e-3)))), 4)
        text = f"{value:,.{decimals}f}"
        return text.lstrip("-") if not text.strip("-0.,") else text.replace("-", MINUS)


def coordinates_of(domain: Domain, names: Sequence[str]) -> list[Coordinate]:
    """Return what each number of a centre in this domain is; `names` are those of the numbers."""
    if not isinstance(domain, ColumnDomain):
        if isinstance(domain, Ball):
            ends = (domain.center - domain.radius, domain.center + domain.radius)
        else:
            ends = (domain.low, domain.high)
        lows, highs = (np.broadcast_to(end, len(names)).tolist() for end in ends)
        return [_coordinate(name, low, high) for name, low, high in zip(names, lows, highs, strict=True)]
    found = []
    for index, (declared, cut) in enumerate(zip(domain.columns, domain.slices(), strict=True)):
        shares = list(names[cut])
        if not isinstance(declared, Category | Flag):
            spread = math.nan if domain.spreads is None else float(domain.spreads[index])
            dated = declared if isinstance(declared, Date) else None
            found.append(_coordinate(shares.pop(0), *domain.interval(index), spread=spread, dated=dated))
        found += [_coordinate(name, 0.0, 1.0, is_share=True) for name in shares]
    return found


def _coordinate(
    name: str, low: float, high: float, *, spread: float = math.nan, is_share: bool = False, dated: Date | None = None
) -> Coordinate:
    unit = next((one for one in (spread, high - low) if math.isfinite(one) and one > 0), 1.0)
    return Coordinate(name, low, high, unit, is_share, dated)


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


def percent(share: float, error: float) -> tuple[str, str]:
    """Return a share and its standard error in per cent, both cut to the first digit of the error.

    Examples
    --------
    >>> percent(0.3412, 0.0108), percent(0.62, 0.0004)
    (('34', '1'), ('62.00', '0.04'))
    """
    value, spread = 100 * share, 100 * error
    decimals = 0 if not (spread > 0 and math.isfinite(spread)) else min(max(0, -math.floor(math.log10(spread))), 6)
    text = f"{value:.{decimals}f}"
    return (text.lstrip("-") if not text.strip("-0.") else text), f"{spread:.{decimals}f}"


def column_words(column: Mapping[str, Any], most_levels: int = 3, *, between: str = ", ") -> str:
    """Return what a column is in one cluster, as ``Release.profile`` tells it; levels may stand on lines of their own.

    Examples
    --------
    >>> column_words({"type": "flag", "share": 0.34, "error": 0.011})
    '34 % ± 1 %'
    >>> column_words({"type": "category", "shares": {"f": [0.38, 0.011], "m": [0.62, 0.011]}})
    'f 38 %, m 62 % (± 1 %)'
    """
    missing = ""
    if "missing" in column:
        share, error = percent(*column["missing"])
        missing = f", missing {share} % ± {error} %"
    if "shares" in column:
        return _level_words(column["shares"], most_levels, between) + missing
    if "share" in column:
        share, error = percent(column["share"], column["error"])
        return f"{share} % ± {error} %{missing}"
    if "error_days" in column:
        return f"{column['value']} ± {days_words(column['error_days'])}{missing}"
    value, error = with_error(column["value"], column["error"])
    return f"{value} ± {error}{missing}"


def days_words(days: float) -> str:
    """Return an error of a date."""
    decimals = min(max(1, -math.floor(math.log10(days))), 6) if 0 < days < 10 else 0
    text = f"{days:,.{decimals}f}"
    return f"{text} day{'' if text == '1' else 's'}"


def _level_words(shares: Mapping[str, Sequence[float]], most: int, between: str) -> str:
    levels = [(plain_text(name), share, error) for name, (share, error) in shares.items()]
    error = max(error for _, _, error in levels)
    parts = [f"{name} {percent(share, error)[0]} %" for name, share, _ in largest_levels(levels, most)]
    parts += [MORE] if len(levels) > most else []
    spread = f"± {percent(0.0, error)[1]} %"
    return between.join([*parts, spread]) if len(parts) > 2 and "\n" in between else f"{', '.join(parts)} ({spread})"


def largest_levels(levels: Sequence[tuple[str, float, float]], most: int) -> list[tuple[str, float, float]]:
    """Return all of a few levels, in their own order; of more, those with the largest shares, the largest first."""
    return list(levels) if len(levels) <= most else sorted(levels, key=lambda level: -level[1])[:most]
