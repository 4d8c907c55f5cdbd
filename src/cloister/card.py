# SPDX-License-Identifier: Apache-2.0
"""A card: what ``repr`` and a notebook show of a result. A few sentences and a small table, on one screen and escaped.

Whoever makes a card passes public words only. Anyone may import this module.
"""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import accumulate

from cloister.text import cut_text, plain_text

__all__ = ["HTML_COLUMNS", "HTML_ROWS", "Card"]

WIDTH = 100  # characters of a line
LONGEST_NAME, LONGEST_CELL = 20, 32  # characters of a head and of a cell
LONGEST_SENTENCE = 3 * WIDTH
TEXT_ROWS = 8
HTML_ROWS, HTML_COLUMNS = 20, 12  # that a notebook shows
LONGEST_HTML = 80  # characters of a head or a cell
GAP, CUT = "  ", "..."


@dataclass(frozen=True)
class Card:
    """A title, a table and sentences; of a large table what fits is shown, and what is left out is counted.

    `n_rows` and `n_columns` count all of them where the table holds the first ones only; the leading `n_fixed` columns, such as
    labels, are no part of `n_columns`. Columns further to the right are left out first.

    Examples
    --------
    >>> print(Card("Two of them", ("name", "value"), (("a", "1"), ("b", "22")), sentences=("All is well.",)).text())
    Two of them
    name  value
       a      1
       b     22
    All is well.
    """

    title: str
    heads: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    n_rows: int | None = None
    n_columns: int | None = None
    n_fixed: int = 0
    sentences: Sequence[str] = ()  # below the table
    nouns: tuple[str, str] = ("row", "column")  # what a row and a column are
    alert: str = ""  # below the title; a notebook shows it in red

    def text(self) -> str:
        """Return at most about 20 lines of 100 characters."""
        heads = [cut_text(head, LONGEST_NAME, CUT) for head in self.heads]
        rows = [[cut_text(cell, LONGEST_CELL, CUT) for cell in row] for row in self.rows[:TEXT_ROWS]]
        widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)] if rows else []
        shown = sum(end - len(GAP) <= WIDTH for end in accumulate(width + len(GAP) for width in widths))  # that fit on a line
        lines = [textwrap.shorten(plain_text(self.title), WIDTH, placeholder=" ..."), *textwrap.wrap(self.alert, WIDTH)]
        for row in [heads, *rows] if rows else []:
            lines.append(GAP.join(cell.rjust(width) for cell, width in zip(row[:shown], widths, strict=False)).rstrip())
        for sentence in (self._left_out(len(rows), shown), *self.sentences):
            lines += textwrap.wrap(textwrap.shorten(plain_text(sentence), LONGEST_SENTENCE), WIDTH) if sentence else []
        return "\n".join(lines)

    def html(self) -> str:
        """Return a fragment of HTML in which every word is escaped."""
        shown, rows = min(len(self.heads), self.n_fixed + HTML_COLUMNS), self.rows[:HTML_ROWS]

        def line(tag: str, words: Sequence[str]) -> str:
            cells = (f"<{tag}>{escape(cut_text(one, LONGEST_HTML, CUT))}</{tag}>" for one in words[:shown])
            return f"<tr>{''.join(cells)}</tr>"

        body = "\n".join(line("td", row) for row in rows)
        parts = [
            f"<p><strong>{escape(cut_text(self.title, WIDTH, CUT))}</strong></p>",
            f'<p style="color: #d32f2f"><strong>{escape(self.alert)}</strong></p>' if self.alert else "",
            f"<table>\n<thead>{line('th', self.heads)}</thead>\n<tbody>\n{body}\n</tbody>\n</table>" if rows else "",
            *(f"<p>{escape(plain_text(one))}</p>" for one in (self._left_out(len(rows), shown), *self.sentences) if one),
        ]
        return "\n".join(['<div class="cloister">', *filter(None, parts), "</div>"])

    def _left_out(self, rows: int, columns: int) -> str:
        """Say how many rows and columns are not shown."""
        if not rows:
            return ""
        n_rows = len(self.rows) if self.n_rows is None else self.n_rows
        n_columns = len(self.heads) - self.n_fixed if self.n_columns is None else self.n_columns
        more = zip((n_rows - rows, n_columns - (columns - self.n_fixed)), self.nouns, strict=True)
        words = [f"{count:,} more {noun}{'' if count == 1 else 's'}" for count, noun in more if count > 0]
        return f"... and {' and '.join(words)}." if words else ""
