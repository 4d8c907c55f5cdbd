# SPDX-License-Identifier: Apache-2.0
"""A page of tables and figures: as Markdown, as a single HTML file that needs nothing else, and its tables as CSV."""

import base64
import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cloister.files import write_whole
from cloister.report import render_page

from ._stats import Estimate

__all__ = ["Block", "Check", "Figure", "Section", "Table", "say", "say_ratio", "table_markdown", "write_page"]

FIGURES, TABLES = "figures", "tables"
TEMPLATES = Path(__file__).parent / "templates"
WIDEST_WORD = 60  # letters, from which on a cell may break into lines


@dataclass(frozen=True)
class Table:
    """Words and numbers in rows. `words` are the columns that hold words, `best` marks cells to be set in bold."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: Sequence[int] = (0,)
    note: str = ""
    best: frozenset[tuple[int, int]] = frozenset()


@dataclass(frozen=True)
class Figure:
    """A picture that lies in the folder of figures, as SVG and as PNG."""

    name: str
    caption: str


@dataclass(frozen=True)
class Check:
    """A figure and its bar."""

    what: str
    value: str
    bar: str
    ok: bool


Block = str | Table | Figure


@dataclass(frozen=True)
class Section:
    """A suite's part of the page."""

    title: str
    blocks: Sequence[Block]
    checks: Sequence[Check] = field(default_factory=tuple)


def say(figure: Estimate | None, digits: int = 4) -> str:
    """Write a figure with half its 95 % interval, if there is one."""
    if figure is None:
        return "-"
    half = figure.half_width
    return f"{figure.value:.{digits}g}" + ("" if half != half else f" ± {half:.2g}")


def say_ratio(ratio: Estimate | None) -> str:
    """Write a ratio with its 95 % interval, if there is one."""
    if ratio is None or ratio.value != ratio.value:
        return "-"
    if ratio.half_width != ratio.half_width:
        return f"{ratio.value:.3f}"
    return f"{ratio.value:.3f} ({max(ratio.low, 0.0):.3f} to {ratio.high:.3f})"


def write_page(folder: Path, title: str, lead: Sequence[str], sections: Sequence[Section]) -> tuple[Path, Path]:
    """Write page.md, page.html and each table as CSV; the figures must be there already."""
    markdown, html = folder / "page.md", folder / "page.html"
    _write_tables(folder / TABLES, sections)
    write_whole("bench", markdown, _markdown(title, lead, sections), overwrite=True)
    write_whole("bench", html, _html(folder, title, lead, sections), overwrite=True)
    return markdown, html


def _write_tables(folder: Path, sections: Sequence[Section]) -> None:
    folder.mkdir(exist_ok=True)
    for section in sections:
        for table in (block for block in section.blocks if isinstance(block, Table)):
            name = re.sub(r"[^a-z0-9]+", "-", f"{section.title.split(':')[0]} {table.title}".lower()).strip("-")
            with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
                csv.writer(file).writerows([table.columns, *table.rows])


def _all_blocks(section: Section) -> list[Block]:
    return [*([_check_table(section.checks)] if section.checks else []), *section.blocks]


def _check_table(checks: Sequence[Check]) -> Table:
    rows = [[check.what, check.value, check.bar, "ok" if check.ok else "MISSED"] for check in checks]
    return Table("Checks", ["what", "found", "bar", ""], rows, words=(0, 3))


def _markdown(title: str, lead: Sequence[str], sections: Sequence[Section]) -> str:
    parts = [f"# {title}", *lead]
    for section in sections:
        parts += [f"## {section.title}", *(_block_markdown(block) for block in _all_blocks(section))]
    return "\n\n".join(parts) + "\n"


def _block_markdown(block: Block) -> str:
    if isinstance(block, str):
        return block
    if isinstance(block, Figure):
        return f"![{block.caption}]({FIGURES}/{block.name}.png)\n\n{block.caption}"
    return table_markdown(block)


def table_markdown(table: Table) -> str:
    """Return a table as Markdown."""
    lines = [f"**{table.title}**", "", _line(table.columns)]
    lines.append(_line([":---" if index in table.words else "---:" for index in range(len(table.columns))]))
    for number, row in enumerate(table.rows):
        lines.append(_line([f"**{cell}**" if (number, index) in table.best else cell for index, cell in enumerate(row)]))
    return "\n".join([*lines, *(["", table.note] if table.note else [])])


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _html(folder: Path, title: str, lead: Sequence[str], sections: Sequence[Section]) -> str:
    return render_page(
        "page.html",
        folder=TEMPLATES,
        title=title,
        lead=lead,
        sections=[{"title": section.title, "blocks": _all_blocks(section)} for section in sections],
        picture=lambda name: base64.b64encode((folder / FIGURES / f"{name}.svg").read_bytes()).decode(),
        classes=_classes,
    )


def _classes(text: str, index: int, table: Table) -> str:
    kinds = {"t": index in table.words, "w": len(text) > WIDEST_WORD, "miss": text == "MISSED"}
    return " ".join(kind for kind, fits in kinds.items() if fits)
