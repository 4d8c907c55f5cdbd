# SPDX-License-Identifier: Apache-2.0
"""Templates become pages here: one HTML file each that loads nothing. Every value from outside is escaped.

Pictures are the only markup that is made elsewhere: SVG of our own, wrapped in :class:`Picture`.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cloister.text import count_of, number, plain_text, share_text, with_error

if TYPE_CHECKING:
    from jinja2 import Environment

PER_CENT = re.compile(r"(\d) %")
TEMPLATES = Path(__file__).parent / "templates"


@dataclass(frozen=True)
class Table:
    """Words and numbers in rows; `numeric` are the columns that are set to the right."""

    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    numeric: Sequence[int] = ()
    kind: str = "plain"

    @classmethod
    def of(cls, columns: Mapping[str, Iterable[object]], *, numeric: Collection[str] = (), kind: str = "plain") -> "Table":
        """Return a table of columns by their heads."""
        rows = [list(map(str, row)) for row in zip(*columns.values(), strict=True)]
        return cls(list(columns), rows, [place for place, head in enumerate(columns) if head in numeric], kind)


@dataclass(frozen=True)
class Picture:
    """A drawing, or other markup, of our own. Templates write it as it is."""

    svg: str
    title: str = ""
    caption: str = ""

    def __html__(self) -> str:
        return self.svg


def render_page(template: str, *, folder: Path = TEMPLATES, **values: Any) -> str:
    """Return a page made from a template, which lies in `folder` and may extend ``base.html``."""
    return _environment(folder).get_template(template).render(values)


@cache
def _environment(folder: Path) -> "Environment":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    loader = FileSystemLoader([folder, TEMPLATES])
    environment = Environment(loader=loader, autoescape=True, finalize=_printable, undefined=StrictUndefined)
    environment.trim_blocks = environment.lstrip_blocks = environment.keep_trailing_newline = True
    environment.filters |= {
        "name": plain_text,
        "number": number,
        "with": format,
        "with_error": with_error,
        "percent": share_text,
    }
    environment.globals |= {"count_of": count_of}
    return environment


def _printable(value: object) -> object:
    """Replace control characters of a value, and keep numbers on one line with their per cent; markup stays as it is."""
    if hasattr(value, "__html__"):
        return value
    text = "".join(letter if letter.isprintable() else " " for letter in str(value))
    return PER_CENT.sub("\\1\u00a0%", text)
