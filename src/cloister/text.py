# SPDX-License-Identifier: Apache-2.0
"""Numbers and names as people read them: as many digits as the error leaves meaning to. Anyone may import this module."""

import math

__all__ = [
    "chance_text",
    "count_of",
    "cut_text",
    "number",
    "plain_text",
    "rounded",
    "sentence",
    "share_text",
    "span_of",
    "with_error",
]

LARGEST_PLAIN = 1e9
SMALLEST_PLAIN = 1e-6


def with_error(value: float, error: float) -> tuple[str, str]:
    """Return a value and its standard error, both cut to two significant digits of the error.

    Examples
    --------
    >>> with_error(54.2178, 0.8341)
    ('54.22', '0.83')
    >>> with_error(12345.6, 122.7)
    ('12,346', '123')
    >>> with_error(-0.0001, 0.5), with_error(-12.5, 35.0), with_error(1e12, 1e10), with_error(3.0, 0.0)
    (('0.00', '0.50'), ('-12', '35'), ('1e+12', '1e+10'), ('3', '0'))
    """
    if not (error > 0 and math.isfinite(error)):
        return number(value), number(error)
    if max(abs(value), error) >= LARGEST_PLAIN or error < SMALLEST_PLAIN:
        digits = max(2, math.floor(math.log10(max(abs(value), error))) - math.floor(math.log10(error)) + 2)
        return f"{value:.{min(digits, 15)}g}", f"{error:.2g}"
    decimals = max(0, 1 - math.floor(math.log10(error)))
    text = f"{value:,.{decimals}f}"
    return text if text.strip("-0.,") else text.lstrip("-"), f"{error:,.{decimals}f}"


def number(value: float) -> str:
    """Return a number that has no error, with up to five significant digits.

    Examples
    --------
    >>> number(120.0), number(0.1 + 0.2), number(1234567.0)
    ('120', '0.3', '1,234,567')
    """
    if not math.isfinite(value):
        return str(value)
    if value == round(value) and abs(value) < LARGEST_PLAIN:
        return f"{int(value):,}"
    return f"{value:.5g}"


def rounded(value: float) -> str:
    """Return a number that comes from noise, to four digits."""
    return number(float(f"{value:.4g}"))


def sentence(words: str) -> str:
    """Return words with a capital letter in front."""
    return words[:1].upper() + words[1:]


def plain_text(text: object) -> str:
    """Return text without line breaks and control characters: a column may be called anything."""
    return "".join(letter if letter.isprintable() else " " for letter in str(text)).strip() or "(no name)"


def cut_text(text: object, longest: int, mark: str = "\u2026") -> str:
    """Return plain text of at most so many letters; `mark` stands for what is left out."""
    plain = plain_text(text)
    return plain if len(plain) <= longest else f"{plain[: longest - len(mark)]}{mark}"


def count_of(amount: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{amount:,} {noun}{'' if amount == 1 else 's'}"


def span_of(low: str, high: str) -> str:
    """Return two numbers as a range, or as one where they read the same."""
    return low if low == high else f"{low} to {high}"


def share_text(share: float, decimals: int = 0) -> str:
    """Return a share in per cent.

    Examples
    --------
    >>> share_text(0.5469, 1), share_text(0.5)
    ('54.7 %', '50 %')
    """
    return f"{100 * share:.{decimals}f} %"


def chance_text(chance: float) -> str:
    """Return a probability in per cent, with one decimal; with more where it would read as certainty.

    Examples
    --------
    >>> chance_text(0.5469), chance_text(0.999994), chance_text(1.0)
    ('54.7 %', '99.999 %', '100.0 %')
    """
    decimals = next((places for places in range(1, 9) if f"{100 * chance:.{places}f}" != f"{100:.{places}f}"), 1)
    return share_text(chance, decimals)
