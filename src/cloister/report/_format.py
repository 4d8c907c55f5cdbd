# SPDX-License-Identifier: Apache-2.0
"""Numbers and names as people read them, for the files of the report."""

from cloister.text import count_of, number, plain_text, span_of, with_error

__all__ = ["chance_text", "count_of", "number", "plain_text", "share_text", "span_of", "with_error"]


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
