# SPDX-License-Identifier: Apache-2.0
"""Numbers and names as people read them, for the files of the report."""

from cloister.text import count_of, number, plain_text, span_of, with_error

__all__ = ["count_of", "number", "plain_text", "share_text", "span_of", "with_error"]


def share_text(share: float, decimals: int = 0) -> str:
    """Return a share in per cent.

    Examples
    --------
    >>> share_text(0.5469, 1), share_text(0.5)
    ('54.7 %', '50 %')
    """
    return f"{100 * share:.{decimals}f} %"
