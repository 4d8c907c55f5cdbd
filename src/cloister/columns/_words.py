# SPDX-License-Identifier: Apache-2.0
"""How a published number of a column is written: with its error, in few letters, as plain data."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, ClassVar

from cloister.columns._values import iso_date
from cloister.text import plain_text, rounded, share_text, with_error

MORE = "..."
MINUS = "\u2212"
BY_A_FACTOR = "\u00d7/\u00f7"
LARGEST_FACTOR = 1e3  # that says anything


@dataclass(frozen=True)
class Coordinate:
    """One of the numbers that a column is told by: its name, where it lies, and how it is written."""

    name: str
    low: float
    high: float
    spread: float = math.nan  # of the column, where that was found

    is_share: ClassVar[bool] = False  # of a level, of yes, or of missing values
    is_date: ClassVar[bool] = False  # in days since 1970-01-01
    unit_name: ClassVar[str] = ""
    beside: ClassVar[tuple[str, str]] = ("lower", "higher")

    @property
    def unit(self) -> float:
        """The unit of differences: the spread of the column where that was found, else the width of the bounds."""
        return next((one for one in (self.spread, self.high - self.low) if math.isfinite(one) and one > 0), 1.0)

    def words(self, value: float, error: float) -> tuple[str, str]:
        """Return a value and its error, cut to the digits that mean something."""
        return with_error(value, error)

    def text(self, value: float) -> str:
        """Return a value that comes from noise, to four digits."""
        return rounded(value)

    def brief(self, value: float) -> str:
        """Return a value in few letters."""
        if value != 0 and not 1e-3 <= abs(value) < 1e5:
            return f"{value:.1e}"
        decimals = min(max(0, 2 - math.floor(math.log10(max(abs(value), 1e-3)))), 4)
        text = f"{value:,.{decimals}f}"
        return text.lstrip("-") if not text.strip("-0.,") else text.replace("-", MINUS)

    def plain(self, value: float) -> Any:
        """Return a value as JSON holds it; None where there is none."""
        return float(value) if math.isfinite(value) else None

    def cell(self, value: float) -> Any:
        """Return a value as a data frame holds it."""
        return float(value)


@dataclass(frozen=True)
class Share(Coordinate):
    """The share of a level, of yes, or of missing values."""

    low: float = 0.0
    high: float = 1.0
    is_share: ClassVar[bool] = True
    unit_name: ClassVar[str] = "share"

    def words(self, value: float, error: float) -> tuple[str, str]:
        share, spread = percent(value, error)
        return f"{share} %", f"{spread} %"

    def text(self, value: float) -> str:
        return share_text(value)

    brief = text


@dataclass(frozen=True)
class Moment(Coordinate):
    """A date, or a time where bounds are times, in days since 1970-01-01."""

    is_date: ClassVar[bool] = True
    unit_name: ClassVar[str] = "days"
    beside: ClassVar[tuple[str, str]] = ("earlier", "later")

    @property
    def in_whole_days(self) -> bool:
        """Whether both ends are days."""
        return float(self.low).is_integer() and float(self.high).is_integer()

    def words(self, value: float, error: float) -> tuple[str, str]:
        return self.text(value), days_words(error)

    def text(self, value: float) -> str:
        return iso_date(float(round(value)) if self.in_whole_days else value)

    def brief(self, value: float) -> str:
        return self.text(value)[:7]

    def plain(self, value: float) -> str | None:
        return self.text(value) if math.isfinite(value) else None

    def cell(self, value: float) -> date | datetime | None:
        if not math.isfinite(value):
            return None
        text = self.text(value)
        return date.fromisoformat(text) if self.in_whole_days else datetime.fromisoformat(text).replace(tzinfo=UTC)


def factor_words(value: float, factor: float) -> str:
    """Return a geometric mean and the factor by which it may be wrong, to two digits of what the factor exceeds 1 by.

    Examples
    --------
    >>> factor_words(406.4349, 1.00429), factor_words(3001.2, 1.62)
    ('406.4 ×/÷ 1.0043', '3,001 ×/÷ 1.62')
    """
    beyond = factor - 1
    decimals = min(max(1, 1 - math.floor(math.log10(beyond))), 6) if 0 < beyond < math.inf else 1
    return (
        f"{rounded(value)} {BY_A_FACTOR} {factor:.{decimals}f}" if beyond < LARGEST_FACTOR else f"{rounded(value)}, uncertain"
    )


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


def days_words(days: float) -> str:
    """Return an error of a date."""
    decimals = min(max(1, -math.floor(math.log10(days))), 6) if 0 < days < 10 else 0
    text = f"{days:,.{decimals}f}"
    return f"{text} day{'' if text == '1' else 's'}"


def level_words(levels: Sequence[tuple[str, float, float]], most: int, between: str) -> str:
    """Return the shares of levels with a common error; levels may stand on lines of their own."""
    levels = [(plain_text(name), share, error) for name, share, error in levels]
    error = max(error for _, _, error in levels)
    parts = [f"{name} {percent(share, error)[0]} %" for name, share, _ in largest_levels(levels, most)]
    parts += [MORE] if len(levels) > most else []
    spread = f"± {percent(0.0, error)[1]} %"
    return between.join([*parts, spread]) if len(parts) > 2 and "\n" in between else f"{', '.join(parts)} ({spread})"


def largest_levels(levels: Sequence[tuple[str, float, float]], most: int) -> list[tuple[str, float, float]]:
    """Return all of a few levels, in their own order; of more, those with the largest shares, the largest first."""
    return list(levels) if len(levels) <= most else sorted(levels, key=lambda level: -level[1])[:most]
